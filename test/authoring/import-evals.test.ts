import { describe, expect, it } from 'vitest'
import { casesOfEvals, type ImportOptions } from '../../authoring/cases/import-evals.ts'
import { parseLine } from '../../lib/http/lines-body.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'

const SCHEMAS = {
  input: toJsonSchema({ question: { type: 'string' }, hints: { type: 'array', required: false } }),
  output: toJsonSchema({ answer: { type: 'string' }, points: { type: 'integer', maximum: 5 } }),
}

async function importText(text: string, options: Partial<ImportOptions> = {}) {
  const lines = text.split('\n').map((line, index) => ({ line: index + 1, ...parseLine(line) }))
  const { cases, violations } = await casesOfEvals(lines, SCHEMAS, { input: {}, expect: {}, ...options })
  return violations.length > 0 ? violations.map(({ message }) => message) : cases
}

describe('casesOfEvals', () => {
  it('takes items of the Evals API by the names of fields, and keeps every digit', async () => {
    const item =
      '{"question": "Why?", "hints": [12345678901234567890], "answer": "Because.", "points": 3, "id": 7}'
    const [imported] = await importText(`{"item": ${item}, "sample": {"output_text": "x"}}`)
    expect(JSON.stringify(imported)).toBe(
      '{"input":{"question":"Why?","hints":[12345678901234567890]},"expect":{"matches":{"answer":"Because.","points":3}}}',
    )
  })

  it('takes values by paths, and does not find the same value again for the output', async () => {
    const text = '{"item": {"query": {"text": "Why?"}, "answer": "not this", "labels": ["Because."]}}'
    const options = { input: { question: 'item.query.text' }, expect: { answer: 'item.labels.0' } }
    expect(await importText(text, options)).toEqual([
      { input: { question: 'Why?' }, expect: { matches: { answer: 'Because.' } } },
    ])
    const taken = { input: { question: 'item.answer' } }
    expect(await importText('{"item": {"answer": "Why?", "points": 1}}', taken)).toEqual([
      { input: { question: 'Why?' }, expect: { matches: { points: 1 } } },
    ])
  })

  it('takes texts and messages of openai/evals, with one of several allowed answers', async () => {
    const messages = [
      { role: 'system', content: 'Answer.' },
      { role: 'user', content: 'Why?' },
    ]
    const options = { input: { question: 'input' }, expect: { answer: 'ideal' } }
    const expected = { matches: { answer: 'Because.' } }
    expect(await importText(JSON.stringify({ input: messages, ideal: 'Because.' }), options)).toEqual([
      { input: { question: 'Why?' }, expect: expected },
    ])
    expect(await importText('{"input": "Why?", "ideal": ["Because.", "So."]}', options)).toEqual([
      { input: { question: 'Why?' }, expect: { pointers: { '/answer': { enum: ['Because.', 'So.'] } } } },
    ])
    const talk = JSON.stringify({ input: [...messages, ...messages], ideal: 'x' })
    expect(await importText(talk, options)).toEqual([
      'Line 1: input has 2 texts of users instead of one: name one by its path, such as input.3.content.',
    ])
    expect(await importText(talk, { ...options, input: { question: 'input.3.content' } })).toMatchObject([
      { input: { question: 'Why?' } },
    ])
  })

  it('says per line what is missing, and which option finds it', async () => {
    expect(
      await importText('{"item": {"q": "Why?", "ideal": "x"}}\n{"item": {"question": "Why?", "ideal": "x"}}'),
    ).toEqual([
      'Line 1: It has no value for the required input field question: name its path, such as --input question=item.q. It has item.q, item.ideal. It has no value for any field of the output: name its path, such as --expect answer=item.ideal, or import inputs only with --no-expect. It has item.q, item.ideal.',
      'Line 2: It has no value for any field of the output: name its path, such as --expect answer=item.ideal, or import inputs only with --no-expect. It has item.question, item.ideal.',
    ])
    expect(await importText('{"item": {"question": "Why?"}}', { expect: { answer: 'item.gone' } })).toEqual([
      expect.stringMatching(/^Line 1: It has no item\.gone \(--expect answer=item\.gone\)\./),
    ])
    expect(await importText('{"item": {"question": "Why?"}}', { expect: false })).toEqual([
      { input: { question: 'Why?' }, expect: {} },
    ])
  })

  it.each([
    ['{"item": ', /^Line 1: The line .*JSON/],
    ['[]', 'Line 1: The line must be {"item": {…}} or {"input": …, "ideal": …}.'],
    ['{"item": []}', 'Line 1: The line must be {"item": {…}} or {"input": …, "ideal": …}.'],
    ['null', 'Line 1: The line must be {"item": {…}} or {"input": …, "ideal": …}.'],
    [
      '{"item": {"__proto__": {"question": "x"}, "answer": "x"}}',
      /^Line 1: It has no value for the required input/,
    ],
    [
      '{"item": {"question": {"a": 1}, "answer": "x"}}',
      /^Line 1: The input does not match the schema: .*question/,
    ],
    [
      '{"item": {"question": "x", "points": 9}}',
      /^Line 1: The expected output does not match the schema: .*points/,
    ],
    [
      '{"input": [], "ideal": "x", "question": "x", "answer": 1}',
      /^Line 1: The expected output does not match/,
    ],
  ])('refuses %s', async (text, message) => {
    const [found] = await importText(text)
    expect(found).toMatch(message)
  })
})
