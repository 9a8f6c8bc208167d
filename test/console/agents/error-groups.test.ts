import { describe, expect, it } from 'vitest'
import { groupErrors } from '../../../console/agents/run-figures.ts'
import { aRunSummary } from '../../browser/stub/records.ts'

const failed = (
  number: number,
  message: string,
  { code = 'AgentFailed', tenantId = null as string | null } = {},
) => aRunSummary(number, { status: 'ERROR', error: { code, message }, tenantId })

describe('groupErrors', () => {
  it('puts messages together that differ in numbers and IDs only, the largest group first', () => {
    const runs = [
      failed(0, 'The address book is locked.'),
      failed(1, 'Order A-1042 was not found.', { tenantId: 'acme' }),
      aRunSummary(2),
      failed(3, 'Order "O-7" was not found.'),
      failed(4, 'Order B-1 was not found.', { tenantId: 'globex' }),
      failed(5, 'Order 01a2003a-d1f2-7169-a695-5ea4428d9251 was not found.', { tenantId: 'acme' }),
    ]
    const [first, ...others] = groupErrors(runs)
    expect(first).toMatchObject({ count: 3, tenants: ['acme', 'globex'], firstSeen: runs[5]?.createdAt })
    expect(first?.last.id).toBe(runs[1]?.id)
    expect(others.map(({ count, last }) => [count, last.error?.message])).toEqual([
      [1, 'The address book is locked.'],
      [1, 'Order "O-7" was not found.'],
    ])
  })

  it('keeps codes apart, and leaves out runs that somebody cancelled, or that have no error', () => {
    const runs = [
      failed(0, 'x', { code: 'TimedOut' }),
      failed(1, 'x'),
      failed(2, 'x', { code: 'Cancelled' }),
      aRunSummary(3, { status: 'ERROR', error: null }),
    ]
    expect(groupErrors(runs).map(({ code }) => code)).toEqual(['TimedOut', 'AgentFailed'])
  })

  it('takes a moment for a thousand long messages', () => {
    const runs = Array.from({ length: 1_000 }, (_, index) =>
      failed(index, `${'a'.repeat(20_000)} of ${index}`),
    )
    const begun = performance.now()
    expect(groupErrors(runs).length).toBe(1)
    expect(performance.now() - begun).toBeLessThan(3_000)
  })
})
