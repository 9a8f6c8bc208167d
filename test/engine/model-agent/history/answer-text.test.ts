import { describe, expect, it } from 'vitest'
import { parseText } from '../../../../lib/engine/model-agent/history/answer-text.ts'

const JSON_TEXT = '{"answer":"Because."}'
const VALUE = { answer: 'Because.' }
const fenced = (text: string, language = 'json') => `\`\`\`${language}\n${text}\n\`\`\``
const WITH_FENCE = { answer: 'Run ```js\nf({})\n``` twice, {}.' }

const SALVAGED: [string, string, object][] = [
  ['reasoning before it', `<think>Is it {"answer":"No."}?</think>${JSON_TEXT}`, VALUE],
  ['reasoning without its opening tag', `Well.\n</think>\n\n${JSON_TEXT}`, VALUE],
  ['reasoning before a block', `<thinking>${fenced('{}')}</thinking>\n${fenced(JSON_TEXT)}`, VALUE],
  ['prose around a block', `Here it is:\n\n${fenced(JSON_TEXT)}\n\nAnything else?`, VALUE],
  ['prose around a block without a language', `Here:\n${fenced(JSON_TEXT, '')}`, VALUE],
  ['prose around a block on one line', `The result is \`\`\`json ${JSON_TEXT}\`\`\`.`, VALUE],
  ['a block that ends on the line of its value', `\`\`\`json\n${JSON_TEXT}\`\`\``, VALUE],
  ['a fence in its block', `So:\n${fenced(JSON.stringify(WITH_FENCE))}`, WITH_FENCE],
  ['another block', `${fenced('npm start', 'sh')}\n${fenced(JSON_TEXT)}`, VALUE],
  ['trailing commas', '{"answer":"Because.", "list": [1, 2, ],\n}', { ...VALUE, list: [1, 2] }],
  ['what looks like a trailing comma', '{"answer":"a,}\\",]"}', { answer: 'a,}",]' }],
]

describe('parseText', () => {
  it.each(SALVAGED)('finds the value of a text with %s', (_, text, value) => {
    expect(parseText(text)).toEqual({ value })
  })

  it.each([
    ['prose', 'Well, it depends.', 'is not valid JSON'],
    ['an object in prose', `I will call it with ${JSON_TEXT} now.`, 'is not valid JSON'],
    ['reasoning alone', `<think>Maybe ${fenced(JSON_TEXT)}</think>`, 'is not valid JSON'],
    ['two blocks', `${fenced('{"a":1}')}\nor\n${fenced('{"a":2}')}`, 'more than one block'],
    ['a block that was cut off', '```json\n{"answer":"Bec', 'is not valid JSON'],
    ['a duplicate key in a block', fenced('{"a":1,"a":2}'), 'contains the key "a" more than once'],
  ])('finds none in a text with %s', (_, text, problem) => {
    expect(parseText(text)).toEqual({ problem: expect.stringContaining(problem) })
  })
})
