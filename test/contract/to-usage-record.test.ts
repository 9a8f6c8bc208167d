import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toUsageCsv, toUsageRecord } from '../../lib/contract/records/usage.ts'
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

describe('toUsageRecord', () => {
  it('has only the groups that were asked for, and costs in dollars', () => {
    const { agentId: _, versionId: __, model: ___, tokenId: ____, ...row } = aUsageRow({ tenantId: 'acme' })
    const errors = { AgentFailed: 2 }
    const record = toUsageRecord({ start, ...row, errors, costNanoUsd: 1_234_567_891, childCostNanoUsd: 1 })
    expect(JSON.stringify(record)).toBe(
      '{"start":"2026-11-25T10:00:00Z","tenantId":"acme","runs":1,"cacheHits":0,"errors":{"AgentFailed":2},"inputTokens":0,"outputTokens":0,"cachedInputTokens":0,"cacheWriteTokens":0,"reasoningTokens":0,"webSearches":0,"costUsd":1.234567891,"childCostUsd":1e-9,"unpricedRuns":0,"runTimeMs":0}',
    )
  })
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
