import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  divideConcurrency,
  MIN_ACCOUNT_CONCURRENCY,
  MIN_UNRESERVED,
} from '../../../infra/functions/concurrency.ts'

const sumOf = (numbers: Record<string, number>) => Object.values(numbers).reduce((sum, each) => sum + each, 0)

/** Quotas, and runners that fit them. */
const divided = fc
  .integer({ min: MIN_ACCOUNT_CONCURRENCY, max: 100_000 })
  .chain((account) =>
    fc.tuple(fc.constant(account), fc.integer({ min: 2, max: Math.min(account - 107, 2_000) })),
  )

describe('divideConcurrency', () => {
  it('leaves room for the runners, for other functions, and what Lambda requires', () => {
    fc.assert(
      fc.property(divided, ([account, runners]) => {
        const { reserved } = divideConcurrency(account, runners)
        const free = account - sumOf(reserved)
        expect(free).toBeGreaterThanOrEqual(MIN_UNRESERVED)
        expect(free).toBeGreaterThanOrEqual(runners + 50)
      }),
    )
  })

  it('gives every function at least one, and an organization at least one and at most half of it', () => {
    fc.assert(
      fc.property(divided, ([account, runners]) => {
        const { reserved, ofOrganization } = divideConcurrency(account, runners)
        for (const reservation of Object.values(reserved)) expect(reservation).toBeGreaterThanOrEqual(1)
        for (const [name, share] of Object.entries(ofOrganization)) {
          expect(share).toBeGreaterThanOrEqual(1)
          expect(share).toBeLessThanOrEqual((reserved as Record<string, number>)[name] ?? 0)
          expect(share * 2).toBeLessThanOrEqual((reserved as Record<string, number>)[name] ?? 0)
        }
      }),
    )
  })

  it('reserves no less for a larger quota, and no more for more runners', () => {
    fc.assert(
      fc.property(divided, fc.nat(10_000), ([account, runners], more) => {
        const before = divideConcurrency(account, runners).reserved as Record<string, number>
        const larger = divideConcurrency(account + more, runners).reserved as Record<string, number>
        const fewer = divideConcurrency(account, Math.max(runners - more, 2)).reserved as Record<
          string,
          number
        >
        for (const [name, reservation] of Object.entries(before)) {
          expect(larger[name]).toBeGreaterThanOrEqual(reservation)
          expect(fewer[name]).toBeGreaterThanOrEqual(reservation)
        }
      }),
    )
  })

  it.each([null, 10, 100, 199])('reserves nothing with a quota of %j', (account) => {
    expect(divideConcurrency(account, 2)).toEqual({ reserved: {}, ofOrganization: {} })
  })

  it('reserves for the default settings and the default quota', () => {
    expect(divideConcurrency(1_000, 50)).toEqual({
      reserved: {
        'sweep-executions': 2,
        'process-dead-letter': 5,
        'authorize-request': 89,
        'run-agent': 312,
        'serve-mcp': 89,
        'stream-events': 89,
        'get-execution': 133,
      },
      ofOrganization: { 'run-agent': 156, 'serve-mcp': 44, 'stream-events': 44, 'get-execution': 66 },
    })
  })

  it.each([
    [10, 50, 5],
    [10, 6, 5],
    [199, 100, 99],
    [200, 94, 93],
    [1_000, 1_000, 893],
  ])('rejects, with a quota of %i, %i runners: at most %i', (account, runners, max) => {
    expect(() => divideConcurrency(account, runners)).toThrow(
      `Invalid context: accountConcurrency=${account} has room for ${max} runners, but runnerConcurrency is ${runners} for all queues together. Lower it, or have the quota raised.`,
    )
    expect(() => divideConcurrency(account, max)).not.toThrow()
  })
})
