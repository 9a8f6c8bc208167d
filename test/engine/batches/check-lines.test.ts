import { describe, expect, it } from 'vitest'
import type { ReceivedLine } from '../../../lib/core/batch.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { type CheckInput, checkLines } from '../../../lib/engine/batches/check-lines.ts'

const lineOf = (value: Json, line: number): ReceivedLine => ({ line, value })
const check = (values: Json[], checkInput?: CheckInput) =>
  checkLines(
    values.map((value, index) => lineOf(value, index + 1)),
    checkInput,
  )
const refused = async (values: Json[], checkInput?: CheckInput): Promise<ServiceError> => {
  const error = await check(values, checkInput).catch((caught: unknown) => caught)
  if (!(error instanceof ServiceError)) throw new Error('The lines were accepted.')
  return error
}
const messages = async (...values: Json[]) => (await refused(values)).errors?.map(({ message }) => message)

const MUST = 'must be a string of 1 to 100 characters without control characters'

describe('checkLines', () => {
  it('returns the inputs of valid lines, in order', async () => {
    const longest = '💡'.repeat(100)
    const lines = [
      { customId: longest, input: {} },
      { input: { a: [1] }, customId: 'b' },
    ]
    expect(await check(lines)).toEqual(lines)
  })

  it.each<[Json, string]>([
    [1, 'Line 1: The line must be an object {"customId": …, "input": …}, not a number.'],
    [null, 'Line 1: The line must be an object {"customId": …, "input": …}, not null.'],
    [[], 'Line 1: The line must be an object {"customId": …, "input": …}, not an array.'],
    [{}, `Line 1: /customId ${MUST}. /input must be a JSON object, not absent.`],
    [{ customId: 7, input: {} }, `Line 1: /customId ${MUST}, not a number.`],
    [{ customId: '', input: {} }, `Line 1: /customId ${MUST}.`],
    [{ customId: 'x'.repeat(101), input: {} }, `Line 1: /customId ${MUST}.`],
    [{ customId: 'a\nb', input: {} }, `Line 1: /customId ${MUST}.`],
    [{ customId: '\ud800', input: {} }, `Line 1: /customId ${MUST}.`],
    [{ customId: 'a', input: 'text' }, 'Line 1: /input must be a JSON object, not a string.'],
    [
      { customId: 'a', input: {}, 'm/e': 1 },
      'Line 1: /m~1e is not a member of a line: allowed are customId, input.',
    ],
    [
      { customId: 'a', input: {}, a: 1, b: 1, c: 1, d: 1, e: 1 },
      'Line 1: /a is not a member of a line: allowed are customId, input. /b is not a member of a line: allowed are customId, input. /c is not a member of a line: allowed are customId, input. And 2 more.',
    ],
  ])('refuses the line %j', async (value, message) => {
    expect(await messages(value)).toEqual([message])
  })

  it('names the line that had a customId first', async () => {
    const line = { customId: 'a', input: {} }
    const error = await refused([line, { ...line, customId: 'b' }, line])
    expect(error.message).toBe('1 of 3 lines is invalid. No line was started.')
    expect(error.errors).toEqual([
      {
        line: 3,
        path: '/customId',
        message: 'Line 3: /customId repeats that of line 1: each must be unique.',
      },
    ])
  })

  it('lists the violations of a schema by their path in the line', async () => {
    const violation = { path: '/text', message: '/text is required.' }
    const ofWhole = { path: '', message: 'The value is required.' }
    const { errors } = await refused([{ customId: 'a', input: {} }], async () => [violation, ofWhole])
    expect(errors).toEqual([
      { line: 1, path: '/input/text', message: 'Line 1: /input/text is required. The value is required.' },
    ])
  })

  it('lists the first hundred lines, and checks no more', async () => {
    let checks = 0
    const values = Array.from({ length: 1_000 }, (_, index) => ({ customId: `${index}`, input: {} }))
    const error = await refused(values, async () => {
      checks++
      return [{ path: '/a', message: '/a is required.' }]
    })
    expect(error.errors?.map(({ line }) => line)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    )
    expect(error.message).toBe(
      'At least 100 of 1000 lines are invalid; the first ones are listed. No line was started.',
    )
    expect(checks).toBe(100)
    const all = await refused(Array.from({ length: 100 }, () => 1))
    expect(all.message).toBe('100 of 100 lines are invalid. No line was started.')
  })

  it('refuses no lines at all, and too many', async () => {
    const none = await refused([])
    expect([none.code, none.message]).toEqual([
      'InputSchemaMismatch',
      'The batch has no lines. Send 1 to 10000 of them, each {"customId": …, "input": …}.',
    ])
    const many = await refused(Array.from({ length: 10_001 }, () => 1))
    expect([many.code, many.message]).toEqual([
      'PayloadTooLarge',
      'The batch has 10001 lines; at most 10000 are allowed. Split it into several batches.',
    ])
  })
})
