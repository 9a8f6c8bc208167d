import { describe, expect, it } from 'vitest'
import { readToolCall } from '../../lib/models/tool-call.ts'
import { ADD } from './support.ts'

const read = (input: string, { toolName = 'add', tools = [ADD] } = {}) =>
  readToolCall({ type: 'tool-call', toolCallId: 'call_1', toolName, input }, tools)

describe('readToolCall', () => {
  it('reads the input', () => {
    const call = { id: 'call_1', name: 'add', input: { a: 1, b: 2 }, error: null }
    expect(read('{"a": 1, "b": 2}')).toEqual(call)
  })

  it.each(['', ' \n'])('takes %j for a call without input', (text) => {
    expect(read(text)).toMatchObject({ input: {}, error: null })
  })

  it('quotes what is not JSON', () => {
    const { input, error } = read('{"a": 1, ')
    expect(input).toBe('{"a": 1, ')
    expect(error).toMatch(/^The input of the tool add is not JSON: .+ It was: \{"a": 1, $/)
  })

  it.each([
    ['[1,2]', [1, 2]],
    ['"one"', 'one'],
    ['null', null],
    ['3', 3],
  ])('refuses %s, which is no object', (text, value) => {
    const error = `The input of the tool add is no JSON object. It was: ${text}`
    expect(read(text)).toMatchObject({ input: value, error })
  })

  it('names the tools that there are, for one that there is not', () => {
    expect(read('{"a":1}', { toolName: 'toString' })).toMatchObject({
      input: { a: 1 },
      error: 'There is no tool "toString". There are: add.',
    })
    expect(read('{', { toolName: 'sub', tools: [] }).error).toBe('There is no tool "sub". There are: none.')
  })
})
