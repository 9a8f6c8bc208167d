import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { appendCases } from '../../authoring/cases/add-case.ts'
import { parseCases } from '../../authoring/cases/case-file.ts'
import { findDifferences, isCondition, isMet } from '../../authoring/cases/differences.ts'
import { findFailures } from '../../authoring/cases/find-failures.ts'
import { casesOfEvals, type ImportOptions } from '../../authoring/cases/import-evals.ts'
import { ExactNumber } from '../../lib/core/json/exact-number.ts'
import type { Json } from '../../lib/core/json/json.ts'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import { parseLine } from '../../lib/http/lines-body.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'
import { greeter, inFolder, newCli } from '../cli/cli.ts'

const problemsOf = (text: string) =>
  parseCases(text, 'cases.yaml').problems.map(
    ({ line, column, field, message }) => `${line}:${column}: ${field ? `${field}: ` : ''}${message}`,
  )

describe('parseCases', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['cases: []\n', ['1:1: must be a list of cases: - name: …']],
    [
      '- a: [\n',
      ['2:1: invalid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ],
    ['- input: {}\n', ['1:3: case 1.name: is required and must be a string']],
    [
      '- name: a\n  input: {}\n  expect:\n    error: X\n    equals: {}\n',
      ['5:5: "a".expect.equals: must be omitted: a run that ends with the expected error has no output'],
    ],
    [
      '- name: a\n  input: {}\n  expect: { pointers: { x: 1, /y: { typ: string } } }\n',
      [
        '3:25: "a".expect.pointers.x: must be a JSON Pointer (RFC 6901) into the output, such as /items/0/name',
        '3:37: "a".expect.pointers./y.typ: invalid JSON Schema (2020-12): unknown keyword: "typ"',
      ],
    ],
    [
      '- { name: a, input: { x: 1e999 } }\n',
      ['1:26: invalid YAML: the number 1e999 is beyond the range of a double'],
    ],
    [
      '- { name: a, input: {}, expect: { maxSteps: 0, maxCostUsd: -1 } }\n',
      ['1:35: "a".expect.maxSteps: must be at least 1', '1:48: "a".expect.maxCostUsd: must be at least 0'],
    ],
    [
      '- { name: a, input: {}, expect: { scores: { x: "0.8", y: ">= 1.1", z: "=> 1", ok: "<0.5" } } }\n',
      ['x', 'y', 'z'].map(
        (name, index) =>
          `1:${[45, 55, 68][index]}: "a".expect.scores.${name}: must be >=, >, <= or < and a number from 0 to 1 in quotes, such as ">= 0.8"`,
      ),
    ],
    [
      '- { name: a, input: {}, expect: { error: X, scores: { x: "> 0" } } }\n',
      ['1:45: "a".expect.scores: must be omitted: a run that ends with the expected error has no output'],
    ],
  ])('names the place of every problem: %#', (text, expected) => {
    expect(problemsOf(text)).toEqual(expected)
  })

  it('keeps every digit', () => {
    const { cases } = parseCases(
      '- { name: a, input: { a: 12345678901234567890, b: 0.1, c: 1.10 } }',
      'cases.yaml',
    )
    expect(JSON.stringify(cases[0]?.input)).toBe('{"a":12345678901234567890,"b":0.1,"c":1.1}')
    expect(cases[0]?.input.a).toBeInstanceOf(ExactNumber)
  })
})

describe('appendCases', () => {
  const TEXT = `# Cases of the agent

- name: first   # the most important one
  input: { a: 1,   b: "x" }
  expect:
      equals: {a: 1}


# The end
`

  it('leaves the text before it as it is', () => {
    const added = appendCases(TEXT, [
      { name: 'second', input: { big: parseJson('12345678901234567890') }, expect: { error: 'E' } },
    ])
    expect(added).toBe(
      `${TEXT.trimEnd()}\n\n- name: second\n  input:\n    big: 12345678901234567890\n  expect:\n    error: E\n`,
    )
  })

  it('follows the indentation of the list, and extends a list in brackets', () => {
    const testCase = { name: 'b', input: {}, expect: {} }
    expect(appendCases('  - name: a\n    input: {}\n', [testCase])).toBe(
      '  - name: a\n    input: {}\n\n  - name: b\n    input: {}\n    expect: {}\n',
    )
    const { cases, problems } = parseCases(
      appendCases('[{ name: a, input: {} }] # list', [testCase]),
      'cases.yaml',
    )
    expect([problems, cases.map(({ name }) => name)]).toEqual([[], ['a', 'b']])
    expect(appendCases('', [testCase])).toBe('- name: b\n  input: {}\n  expect: {}\n')
  })

  it('keeps any input', () => {
    const inputs = fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<Json>)
    fc.assert(
      fc.property(inputs, inputs, (first, second) => {
        const one = appendCases('', [{ name: 'a', input: first, expect: { equals: second } }])
        const two = appendCases(one, [{ name: 'b', input: second, expect: {} }])
        const { cases, problems } = parseCases(two, 'cases.yaml')
        expect(problems).toEqual([])
        expect(JSON.stringify(cases.map(({ input }) => input))).toBe(JSON.stringify([first, second]))
      }),
    )
  })
})

describe('findDifferences', () => {
  it('finds no difference between a value and itself, and at least one after a change', () => {
    const values = fc.jsonValue() as fc.Arbitrary<Json>
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(findDifferences(a, structuredClone(a), { isPartial: false })).toEqual([])
        const isEqual = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
        expect(findDifferences(a, b, { isPartial: false }).length > 0).toBe(!isEqual)
      }),
    )
  })

  it('compares numbers by value, however they are written', () => {
    const compare = (a: string, b: Json) => findDifferences(parseJson(a), b, { isPartial: false }).length
    expect([compare('1.50', 1.5), compare('12345678901234567000', 12345678901234567000)]).toEqual([0, 0])
    expect([compare('12345678901234567890', 12345678901234567000), compare('1', 2)]).toEqual([1, 1])
  })

  it('compares a part: objects may have more fields, lists not more items', () => {
    const find = (expected: Json, actual: Json) => findDifferences(expected, actual, { isPartial: true })
    expect(find({ a: [{ b: 1 }] }, { a: [{ b: 1, c: 2 }], d: 3 })).toEqual([])
    expect(find({ a: [1] }, { a: [1, 2] })).toEqual([{ pointer: '/a/1', expected: undefined, actual: 2 }])
    expect(find({ 'a/b': { '~': 1 } }, { 'a/b': {} })).toEqual([
      { pointer: '/a~1b/~0', expected: 1, actual: undefined },
    ])
  })
})

/** With sorted keys. -0 is written as 0. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name] as Json)]),
  )
}

describe('findFailures', () => {
  const run = { output: { a: [{ b: 'x' }] }, error: null, failedCalls: [], steps: 3, costUsd: 0.02 }

  it.each([
    [{ maxSteps: 3, maxCostUsd: 0.02 }, []],
    [
      { maxSteps: 2, maxCostUsd: 0.01 },
      ['the run took 3 steps; maxSteps is 2', 'the run cost 0.02 US dollars; maxCostUsd is 0.01'],
    ],
    [{ pointers: { '/a/0/b': { type: 'string', maxLength: 1 } } }, []],
    [
      { pointers: { '/a/0/b': { type: 'integer' }, '/a/1': 1, '': { type: 'object' } } },
      ['/a/0/b must be an integer, not a string.', undefined],
    ],
  ])('checks limits and pointers: %#', (expectation, messages) => {
    expect(findFailures(expectation, run).map(({ message }) => message)).toEqual(messages)
  })

  it('fails a cost limit if the cost is unknown', () => {
    expect(findFailures({ maxCostUsd: 1 }, { ...run, costUsd: null })).toHaveLength(1)
  })
})

describe('run folder', () => {
  const cli = newCli()
  afterAll(cli.remove)

  describe('run with a folder', () => {
    it('runs without publishing, and leaves nothing behind', async () => {
      const other = newCli()
      other.write(inFolder('hello', greeter('Hi')))
      const before = readdirSync(join(other.folder, 'hello'))
      for (const [folder, cwd] of [
        ['./hello', other.folder],
        ['.', join(other.folder, 'hello')],
      ] as const)
        expect(await other.json(['run', folder, '--input', '-'], { cwd, stdin: '{"name":"Ada"}' })).toEqual({
          said: 'Hi Ada',
        })
      expect(readdirSync(join(other.folder, 'hello'))).toEqual(before)
      expect(existsSync(other.dataDir)).toBe(false)
      other.remove()
    })

    it('reports the problems of the folder, and options that need a published agent', async () => {
      cli.write({ 'broken/agent.md': '# Text\n' })
      const { stderr } = await cli.run(['run', './broken', '--input', '-'], { stdin: '{}' })
      expect(stderr).toMatch(/^broken\/agent\.md:1:1: front matter: .+\nRun failed: 1 problem\.\n$/)
      expect((await cli.run(['run', './broken', '--input', '-', '--cache'], { stdin: '{}' })).stderr).toBe(
        '--cache cannot be used with a folder: it runs without being published.\n',
      )
    })
  })
})

it.each([
  ['>= 0.8', 0.8, true],
  ['>= 0.8', 0.79, false],
  ['>0.8', 0.8, false],
  ['> 0.8', 0.81, true],
  ['<= 0', 0, true],
  ['<1.0', 1, false],
  ['< 1', 0.99, true],
])('%s of %d is %s', (condition, score, expected) => {
  expect(isMet(condition, score)).toBe(expected)
})

it.each([
  '',
  '0.8',
  '= 0.8',
  '>= .8',
  '>= 1.01',
  '>= -0',
  '>= 0.8 ',
  '>=  0.8',
  '>= 0.8\n',
  '>= 0,8',
  '>= 1e-1',
])('refuses %j', (text) => {
  expect(isCondition(text)).toBe(false)
})

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
