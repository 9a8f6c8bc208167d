import { describe, expect, it } from 'vitest'
import { parseToolCall } from '../../../lib/models/responses/to-response.ts'
import { ADD } from '../support.ts'

const parse = (input: string, { toolName = 'add', tools = [ADD] } = {}) =>
  parseToolCall({ type: 'tool-call', toolCallId: 'call_1', toolName, input }, tools)

describe('parseToolCall', () => {
  it('parses the input', () => {
    const call = { id: 'call_1', name: 'add', input: { a: 1, b: 2 }, error: null }
    expect(parse('{"a": 1, "b": 2}')).toEqual(call)
  })

  it.each(['', ' \n'])('accepts %j as an empty input', (text) => {
    expect(parse(text)).toMatchObject({ input: {}, error: null })
  })

  it('quotes invalid JSON', () => {
    const { input, error } = parse('{"a": 1, ')
    expect(input).toBe('{"a": 1, ')
    expect(error).toMatch(/^The input of the tool add is not valid JSON: .+ Received: \{"a": 1, $/)
  })

  it.each(['{"a": 9007199254740993}', '{"a": 1e999}', '{"a": 1, "a": 2}'])('rejects %s', (text) => {
    expect(parse(text)).toMatchObject({ input: text, error: expect.stringContaining('contains') })
  })

  it.each([
    ['[1,2]', [1, 2]],
    ['"one"', 'one'],
    ['null', null],
    ['3', 3],
  ])('rejects %s, which is not an object', (text, value) => {
    const error = `The input of the tool add must be a JSON object. Received: ${text}`
    expect(parse(text)).toMatchObject({ input: value, error })
  })

  it('lists the available tools for an unknown tool', () => {
    expect(parse('{"a":1}', { toolName: 'toString' })).toMatchObject({
      input: { a: 1 },
      error: 'Unknown tool "toString". Available tools: add.',
    })
    expect(parse('{', { toolName: 'sub', tools: [] }).error).toBe(
      'Unknown tool "sub". Available tools: none.',
    )
  })
})
