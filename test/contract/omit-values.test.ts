import { describe, expect, it } from 'vitest'
import { omitLargeStepValues, omitLargeValues } from '../../lib/contract/omit-values.ts'
import { anExecutionRecord, aStepRecord } from '../browser/stub/records.ts'

const MAX = 1_000
const large = { text: 'x'.repeat(MAX) }
/** `{"text":"…"}` */
const BYTES = MAX + 11

describe('omitLargeValues', () => {
  it('leaves out the values that are larger, and says how large they are', () => {
    const run = anExecutionRecord(1, { input: large, output: { ok: true }, adaptedInput: large })
    const { adaptedInput, ...others } = run
    expect(omitLargeValues(run, MAX)).toEqual({
      ...others,
      input: {},
      omitted: { '/input': BYTES, '/adaptedInput': BYTES },
    })
    expect(omitLargeValues({ ...run, output: large }, MAX).output).toBeNull()
  })

  it('counts bytes, and keeps what has just as many', () => {
    const run = anExecutionRecord(1, { input: { a: 'é'.repeat(500) }, output: { a: 'x'.repeat(992) } })
    expect(omitLargeValues(run, MAX)).toMatchObject({
      input: {},
      output: run.output,
      omitted: { '/input': 1_008 },
    })
  })

  it('changes nothing without a limit, or if nothing is larger', () => {
    const run = anExecutionRecord(1, { input: large })
    expect(omitLargeValues(run, undefined)).toBe(run)
    expect(omitLargeValues(run, 10_000)).toEqual(run)
  })
})

describe('omitLargeStepValues', () => {
  it('leaves out texts, results, and the inputs and results of calls', () => {
    const call = { id: 'a', name: 'export', input: {}, durationMs: 3 }
    const step = aStepRecord(1, {
      text: 'x'.repeat(MAX),
      toolCalls: [call, { ...call, id: 'b', input: large, result: large }],
    })
    expect(omitLargeStepValues(step, MAX)).toEqual({
      ...step,
      text: '',
      toolCalls: [call, { ...call, id: 'b', input: null }],
      omitted: { '/text': MAX + 2, '/toolCalls/1/input': BYTES, '/toolCalls/1/result': BYTES },
    })
    const { text, toolCalls, ...code } = aStepRecord(2, { name: 'load', result: large })
    const { result, ...others } = code
    expect(omitLargeStepValues(code, MAX)).toEqual({ ...others, omitted: { '/result': BYTES } })
  })

  it('keeps results that are small, null or absent', () => {
    const code = { ...aStepRecord(2), name: 'load', result: null }
    expect(omitLargeStepValues(code, MAX)).toEqual(code)
    expect(omitLargeStepValues(aStepRecord(2), MAX)).toEqual(aStepRecord(2))
  })
})
