import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { trialBody } from '../../lib/contract/bodies/trials.ts'
import { omitLargeStepValues, omitLargeValues } from '../../lib/contract/omit-values.ts'
import { toUsageCsv, toUsageRecord } from '../../lib/contract/records/usage.ts'
import { toWaitingFor, type Wait } from '../../lib/core/wait.ts'
import { anExecutionRecord, aStepRecord } from '../browser/stub/records.ts'
import { aUsageRow } from '../support/usage/memory-usage.ts'

const start = Date.parse('2026-11-25T10:00:00Z')

const csvOf = (...tenants: (string | null)[]) =>
  toUsageCsv(
    tenants.map((tenantId) => toUsageRecord({ start, ...aUsageRow({ tenantId }) })),
    ['tenant'],
  )

/** The field of the tenant in each row. */
const fieldsOf = (...tenants: (string | null)[]) =>
  csvOf(...tenants)
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.slice('2026-11-25T10:00:00Z,'.length, line.indexOf(',1,0,0,"{}"')))

/** A reader of RFC 4180: rows of fields. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  let row: string[] = []
  while (field.lastIndex < text.length) {
    const at = field.lastIndex
    const [, quoted, plain = '', end] = field.exec(text) ?? []
    if (end === undefined) throw new Error(`Not a field: ${JSON.stringify(text.slice(at, at + 80))}`)
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

it('toUsageRecord has only the groups that were asked for, and costs in dollars', () => {
  const { agentId: _, versionId: __, model: ___, tokenId: ____, ...row } = aUsageRow({ tenantId: 'acme' })
  const errors = { AgentFailed: 2 }
  const record = toUsageRecord({ start, ...row, errors, costNanoUsd: 1_234_567_891, childCostNanoUsd: 1 })
  expect(JSON.stringify(record)).toBe(
    '{"start":"2026-11-25T10:00:00Z","tenantId":"acme","runs":1,"cacheHits":0,"errors":{"AgentFailed":2},"inputTokens":0,"outputTokens":0,"cachedInputTokens":0,"cacheWriteTokens":0,"reasoningTokens":0,"webSearches":0,"costUsd":1.234567891,"childCostUsd":1e-9,"unpricedRuns":0,"runTimeMs":0}',
  )
})

describe('toUsageCsv', () => {
  it('has a header and a line for each row', () => {
    const row = aUsageRow({ tenantId: 'acme', model: null, runs: 7, errors: { AgentFailed: 2, TimedOut: 1 } })
    const record = toUsageRecord({ start, ...row, costNanoUsd: 10_000_000, childCostNanoUsd: 1 })
    expect(toUsageCsv([record], ['tenant', 'model'])).toBe(
      'start,tenantId,model,runs,cacheHits,errors,errorCodes,inputTokens,outputTokens,cachedInputTokens,cacheWriteTokens,reasoningTokens,webSearches,costUsd,childCostUsd,unpricedRuns,runTimeMs\r\n' +
        '2026-11-25T10:00:00Z,acme,,7,0,3,"{""AgentFailed"":2,""TimedOut"":1}",0,0,0,0,0,0,0.01,0.000000001,0,0\r\n',
    )
    expect(toUsageCsv([], [])).toMatch(/^start,runs,[^\n]*,runTimeMs\r\n$/)
  })

  it.each([
    [null, ''],
    ['acme', 'acme'],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['"', '""""'],
    ['=1+1', `"'=1+1"`],
    ['=HYPERLINK("http://x.example","y")', `"'=HYPERLINK(""http://x.example"",""y"")"`],
    ['＝1', `"'＝1"`],
    ["'=1", `"''=1"`],
  ])('writes the tenant %j as %s', (tenant, field) => {
    expect(fieldsOf(tenant)).toEqual([field])
  })

  it('is read as what was written, and no value becomes another or a formula', () => {
    const tenant = fc.string({ unit: 'binary', minLength: 1, maxLength: 128 })
    fc.assert(
      fc.property(fc.array(tenant, { minLength: 1 }), (tenants) => {
        const [, ...rows] = parseCsv(csvOf(...tenants))
        const read = rows.map(([, value = '']) => value)
        expect(read.map((value) => value.replace(/^'/, ''))).toEqual(tenants)
        expect(read.filter((value) => /^[=+\-@＝＋－＠\t\r\n]/.test(value))).toEqual([])
      }),
    )
  })

  it('writes costs without exponents, exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e15 }), (costNanoUsd) => {
        const record = toUsageRecord({ start, ...aUsageRow({ costNanoUsd }) })
        const [, row = []] = parseCsv(toUsageCsv([record], []))
        const [whole = '', decimals = ''] = (row[11] ?? '').split('.')
        expect(BigInt(whole + decimals.padEnd(9, '0'))).toBe(BigInt(costNanoUsd))
      }),
    )
  })
})

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `signal-${index}`)

const since = '2026-11-24T12:00:00.000Z'
const aWait = (count: number): Wait => ({
  ...{ kind: 'signal', name: 'any', since, until: null, step: 1 },
  signals: namesOf(count),
})

it('a record shows at most 1 kB of what a run waits for, and never nothing', () => {
  const [small, large] = [aWait(2), aWait(100)]
  expect(toWaitingFor([large, small])).toEqual([small])
  const [shown, ...others] = toWaitingFor([large, large])
  expect(others).toEqual([])
  expect(shown).toMatchObject({ name: 'any', step: 1, signals: namesOf(shown?.signals?.length ?? 0) })
  const bytes = Buffer.byteLength(JSON.stringify([shown]))
  expect(bytes).toBeLessThanOrEqual(1_000)
  expect(bytes).toBeGreaterThan(980)
})

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

it('a trial repeats 1 to 1000 executions', () => {
  const isValid = (limit: number) => trialBody.safeParse({ limit }).success
  expect([0, 1, 1_000, 1_001].map(isValid)).toEqual([false, true, true, false])
})
