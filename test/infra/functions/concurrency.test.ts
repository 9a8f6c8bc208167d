import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  describeConcurrency,
  divideConcurrency,
  MIN_ACCOUNT_CONCURRENCY,
  MIN_UNRESERVED,
} from '../../../infra/functions/concurrency.ts'

const divide = (accountConcurrency: number | null, runnerConcurrency: number | null) =>
  divideConcurrency({ accountConcurrency, runnerConcurrency })

const sumOf = (numbers: Record<string, number>) => Object.values(numbers).reduce((sum, each) => sum + each, 0)

const SHARING = ['run-agent', 'serve-mcp', 'stream-events', 'get-execution', 'manage-batches']

/** Quotas, and runners that fit them. */
const quotas = (min: number, max: number, maxRunners: (account: number) => number) =>
  fc
    .integer({ min, max })
    .chain((account) => fc.tuple(fc.constant(account), fc.integer({ min: 2, max: maxRunners(account) })))
const divided = quotas(MIN_ACCOUNT_CONCURRENCY, 100_000, (account) =>
  Math.min(Math.floor((account - 97) / 2), 1_000),
)

describe('divideConcurrency', () => {
  it('leaves room for the runners, for other functions, and what Lambda requires', () => {
    fc.assert(
      fc.property(divided, ([account, runners]) => {
        const { reserved } = divide(account, runners)
        const free = account - sumOf(reserved)
        expect(free).toBeGreaterThanOrEqual(MIN_UNRESERVED)
        expect(free).toBeGreaterThanOrEqual(2 * runners + 50)
      }),
    )
  })

  it('gives every function at least one, and an organization at least one and at most half of it', () => {
    fc.assert(
      fc.property(divided, ([account, runners]) => {
        const { reserved, ofOrganization } = divide(account, runners)
        for (const reservation of Object.values(reserved)) expect(reservation).toBeGreaterThanOrEqual(1)
        for (const [name, share] of Object.entries(ofOrganization)) {
          expect(share).toBeGreaterThanOrEqual(1)
          expect(share * 2).toBeLessThanOrEqual((reserved as Record<string, number>)[name] ?? 0)
        }
      }),
    )
  })

  it.each([null, 100, 199])('reserves nothing and limits nobody with a quota of %j', (account) => {
    const mappings = { deliveries: 20, deadLetters: undefined }
    const expected = { reserved: {}, ofOrganization: {}, isShared: false, mappings, runners: 2 }
    expect(divide(account, 2)).toEqual(expected)
  })

  it.each([
    [null, 50],
    [10, 2],
    [50, 12],
    [99, 24],
    [100, 25],
    [199, 49],
    [200, 50],
    [10_000, 50],
  ])('lets, with a quota of %j and no other setting, %i runners of each queue run', (account, runners) => {
    expect(divide(account, null).runners).toBe(runners)
  })

  it.each([
    [10, 3, 2],
    [50, 23, 9],
    [99, 47, 19],
  ])('shares a quota of %i: %i for an organization, %i for deliveries', (account, share, deliveries) => {
    const concurrency = divide(account, 2)
    expect(concurrency).toEqual({
      reserved: {},
      ofOrganization: Object.fromEntries(SHARING.map((name) => [name, share])),
      isShared: true,
      mappings: { deliveries, deadLetters: 2 },
      runners: 2,
    })
    expect(describeConcurrency({ accountConcurrency: account, runnerConcurrency: 2 }, concurrency)).toBe(
      `Nothing is reserved. Open requests of an organization occupy at most ${share} of ${account}. Have the quota raised.`,
    )
  })

  it('leaves a process to the authorizer while runners, deliveries and an organization have their maximum', () => {
    const shared = quotas(10, 99, (account) => Math.floor(account / 4))
    fc.assert(
      fc.property(shared, ([account, runners]) => {
        const { ofOrganization, mappings } = divide(account, runners)
        const taken = 2 * runners + mappings.deliveries + (ofOrganization['run-agent'] ?? account)
        expect(account - taken).toBeGreaterThanOrEqual(1)
      }),
    )
  })

  it('reserves for the default settings and the default quota', () => {
    const concurrency = divide(1_000, 50)
    expect(concurrency).toEqual({
      reserved: {
        'sweep-executions': 2,
        'process-dead-letter': 5,
        'authorize-request': 84,
        'run-agent': 295,
        'serve-mcp': 84,
        'stream-events': 84,
        'get-execution': 126,
        'manage-batches': 42,
      },
      ofOrganization: {
        'run-agent': 147,
        'serve-mcp': 42,
        'stream-events': 42,
        'get-execution': 63,
        'manage-batches': 21,
      },
      isShared: false,
      mappings: { deliveries: 20, deadLetters: 5 },
      runners: 50,
    })
    const settings = { accountConcurrency: 1_000, runnerConcurrency: 50 }
    expect(describeConcurrency(settings, concurrency)).toBe('722 of 1000 are reserved.')
  })

  it.each([
    [10, 50, 2],
    [10, 3, 2],
    [199, 50, 49],
    [200, 52, 51],
    [1_000, 1_000, 451],
  ])('rejects, with a quota of %i, runnerConcurrency=%i: at most %i', (account, runners, max) => {
    expect(() => divide(account, runners)).toThrow(
      `Invalid settings: accountConcurrency=${account} has room for runnerConcurrency=${max}, for each of 2 queues, but it is ${runners}. Lower it, or have the quota raised.`,
    )
    expect(() => divide(account, max)).not.toThrow()
  })
})
