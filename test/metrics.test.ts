import { Ajv } from 'ajv'
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { type Execution, failure, type Outcome } from '../lib/core/execution.ts'
import { CANCELLED } from '../lib/core/execution-errors.ts'
import { cachedExecution } from '../lib/core/new-execution.ts'
import type { ExecutionStore } from '../lib/core/ports/executions.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import {
  countServerError,
  DAILY_COST,
  measured,
  OUTBOX_AGE,
  recordDailyCost,
  recordOutboxAge,
  SERVER_ERRORS,
  UNITS,
  USUAL_DAILY_COST,
} from '../lib/metrics.ts'
import { system } from '../lib/system.ts'
import { EMF_SCHEMA } from './support/data/emf-schema.ts'
import { anExecution, leased, NO_PROGRESS } from './support/engine/executions.ts'
import { sharedTable } from './support/engine/organization.ts'

const NOW = Date.now() - 60_000
const timeAt = (ms: number) => new Date(NOW + ms).toISOString()
const finishedAt = timeAt(1_500)
const SECRET = 'content of a client'
const NAMESPACE = 'staging'
const METRICS_ON = { METRICS_NAMESPACE: NAMESPACE }

const success: Outcome = {
  status: 'SUCCESS',
  output: { text: SECRET },
  steps: 3,
  usage: { inputTokens: 5, outputTokens: 7 },
  model: 'a/b',
}

const succeeded = (): Execution => ({
  ...anExecution({ now: NOW, input: { text: SECRET }, tenantId: SECRET }),
  ...success,
  finishedAt,
})

const failed = (code: string): Execution => ({
  ...anExecution({ now: NOW, input: { text: SECRET } }),
  ...failure({ code, message: SECRET, errors: [SECRET] }),
  finishedAt,
})

const isEmf = new Ajv({ strict: false }).compile(EMF_SCHEMA)

/** Also of each of several. */
function expectEmf(...values: unknown[]): void {
  for (const value of values) expect(isEmf(value), JSON.stringify(isEmf.errors)).toBe(true)
}

let write: MockInstance<typeof process.stdout.write>
beforeEach(() => {
  write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
})
afterEach(() => vi.restoreAllMocks())

/** The lines of metrics on standard output, in order. */
const lines = (): string[] =>
  write.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('_aws'))
const documents = (): ReturnType<typeof JSON.parse>[] => lines().map((line) => JSON.parse(line))

/** The members of the only document, which has this metric without dimensions. */
function onlyMetric(metric: { Name: string; Unit: string }) {
  const [{ _aws, ...members }, ...others] = documents()
  expect(others).toEqual([])
  expectEmf({ _aws, ...members })
  expect(_aws.CloudWatchMetrics).toEqual([{ Namespace: NAMESPACE, Dimensions: [[]], Metrics: [metric] }])
  return members
}

/** Ends executions in a measured store that only returns them, and returns what it published. */
async function publish(...executions: Execution[]) {
  const end = vi.fn<ExecutionStore['end']>()
  for (const execution of executions) end.mockResolvedValueOnce(execution)
  const store = measured({ end } as Partial<ExecutionStore> as ExecutionStore, METRICS_ON)
  for (const execution of executions) await store.end({ ...execution, error: CANCELLED, finishedAt })
  return documents().at(-1)
}

describe('the metrics of an execution', () => {
  const executions: [string, Execution][] = [
    ['a success', succeeded()],
    ['an error', failed('TimedOut')],
    ['a cache hit', { ...succeeded(), cached: true, cache: { key: 'k', ttlSeconds: null } }],
  ]
  it.each(executions)('are one line of valid EMF: %s', async (_, execution) => {
    const document = await publish(execution)
    expect(lines()).toEqual([expect.stringMatching(/^\{.*\}\n$/)])
    expectEmf(document)
    const [{ Namespace, Metrics, Dimensions }] = document._aws.CloudWatchMetrics
    expect([Namespace, Dimensions]).toEqual([NAMESPACE, [[], ['Outcome']]])
    for (const { Name, Unit } of Metrics) {
      expect(document[Name]).toBeTypeOf('number')
      expect(Unit).toBe(UNITS[Name as keyof typeof UNITS])
    }
    for (const dimension of Dimensions.flat()) expect(document[dimension]).toBeTypeOf('string')
  })

  it('have the outcome, the duration, the usage and the ids', async () => {
    const { _aws, ...members } = await publish(succeeded())
    expect(_aws.Timestamp).toBe(NOW + 1_500)
    expect(members).toEqual({
      Outcome: 'SUCCESS',
      Runs: 1,
      DurationMs: 1_500,
      Steps: 3,
      InputTokens: 5,
      OutputTokens: 7,
      executionId: expect.any(String),
      organizationId: expect.any(String),
      agentId: expect.any(String),
    })
  })

  it('are none of a trial', async () => {
    const source = 'TRIAL'
    expect(await publish({ ...succeeded(), source }, { ...failed('x'), source })).toBeUndefined()
  })

  it.each([
    ['TimedOut', 'ERROR'],
    ['Cancelled', 'CANCELLED'],
  ])('count an error with the code %s as %s', async (code, outcome) => {
    expect(await publish(failed(code))).toMatchObject({ Outcome: outcome, errorCode: code })
  })

  it.each<[string, Partial<Execution>, number | undefined]>([
    ['asynchronous', { startedAt: timeAt(400) }, 400],
    ['synchronous', { startedAt: timeAt(0) }, undefined],
    ['never started', { startedAt: null }, undefined],
    ['reusing the result of another', { startedAt: timeAt(400), cached: true }, undefined],
    ['started by a clock that is behind', { startedAt: timeAt(-5) }, 0],
  ])('have the delay of the start as a number, of a run that was %s', async (_, times, expected) => {
    const execution = { ...succeeded(), createdAt: timeAt(0), ...times }
    const { startDelayMs } = await publish(execution)
    expect(startDelayMs).toBe(expected)
  })

  it('count cache hits only among the executions that use the cache', async () => {
    const cache = { key: 'k', ttlSeconds: null }
    const hits = async (more: Partial<Execution>) => (await publish({ ...succeeded(), ...more })).CacheHits
    const all = [await hits({}), await hits({ cache }), await hits({ cache, cached: true })]
    expect(all).toEqual([undefined, 0, 1])
  })

  it.each(executions)('have no input, output, tenant or message: %s', async (_, execution) => {
    await publish(execution)
    expect(lines().join()).not.toContain(SECRET)
  })

  it('contain no values of the previous execution', async () => {
    await publish({ ...failed('TimedOut'), cache: { key: 'k', ttlSeconds: null } }, succeeded())
    const [, { errorCode, CacheHits, Outcome, Runs, _aws }] = documents()
    expect({ errorCode, CacheHits, Outcome, Runs }).toEqual({ Outcome: 'SUCCESS', Runs: 1 })
    expect(_aws.CloudWatchMetrics[0].Dimensions).toEqual([[], ['Outcome']])
  })
})

describe('measured', () => {
  const measuredStore = () => measured(openStores(sharedTable()).executions, METRICS_ON)

  it('publishes only when the execution was finished', async () => {
    const store = measuredStore()
    const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
    const execution = anExecution({ lease })
    await store.create({ execution })
    const finish = { outcome: success, finishedAt: new Date().toISOString() }
    await store.finish({ ...finish, execution: leased(execution, 'another') })
    expect(documents()).toEqual([])
    await store.finish({ ...finish, execution: leased(execution, lease.owner) })
    expect(documents()).toMatchObject([{ executionId: execution.id, Outcome: 'SUCCESS', Steps: 3 }])
  })

  it('publishes how often a run was attempted without progress, from the second attempt on', async () => {
    const store = measuredStore()
    const execution = anExecution()
    await store.create({ execution })
    const { id, organizationId } = execution
    const claim = async () => {
      const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
      await store.claim({ id, lease, now: Date.now() })
      return { id, owner: lease.owner, until: Date.now(), error: null }
    }
    await store.release(await claim())
    expect(documents()).toEqual([])
    await store.release({ ...(await claim()), isCounted: false, isOutage: true })
    const waiting = await claim()
    await store.release({ ...waiting, isCounted: false })
    const lost = [1, 2, 3].map((attempt) => ({ number: 1, attempt }))
    await store.release({ ...(await claim()), progress: NO_PROGRESS, lostSteps: lost })
    await claim()
    expect(documents().map((document) => document.RepeatedAttempts)).toEqual([2, 3, 3, 4])
    const [document] = documents()
    expectEmf(document)
    const { _aws, ...members } = document
    expect(_aws.CloudWatchMetrics[0].Dimensions).toEqual([[]])
    expect(members).toEqual({ RepeatedAttempts: 2, executionId: id, organizationId })
  })

  it('publishes once for an execution that is cancelled', async () => {
    const store = measuredStore()
    const execution = anExecution()
    await store.create({ execution })
    const end = { ...execution, error: CANCELLED, finishedAt: new Date().toISOString() }
    expect(await store.end(end)).not.toBeNull()
    expect(await store.end(end)).toBeNull()
    expect(documents()).toMatchObject([{ executionId: execution.id, Outcome: 'CANCELLED' }])
  })

  it('publishes once for an execution that is final at creation', async () => {
    const store = measuredStore()
    const { lease, ...open } = anExecution()
    const params = { ...open, now: Date.now(), deadlineMs: 60_000, cache: { key: 'k', ttlSeconds: null } }
    const execution = cachedExecution(params, system.newId(), { text: SECRET })
    await store.create({ execution })
    await store.create({ execution })
    expect(documents()).toMatchObject([{ executionId: execution.id, Outcome: 'SUCCESS', CacheHits: 1 }])
  })

  it.each([{}, { METRICS_NAMESPACE: '' }])('returns the store unchanged with %j', (environment) => {
    const store = openStores(sharedTable()).executions
    expect(measured(store, environment)).toBe(store)
  })
})

describe('recordOutboxAge', () => {
  it('publishes the age without dimensions, and nothing while no event waits', () => {
    for (const seconds of [0, 61]) recordOutboxAge(seconds, METRICS_ON)
    expect(onlyMetric({ Name: OUTBOX_AGE, Unit: 'Seconds' })).toEqual({ OutboxAgeSeconds: 61 })
  })
})

describe('recordDailyCost', () => {
  it('publishes what a day costs, also nothing, and what it usually does', async () => {
    await recordDailyCost(async () => ({ lastDay: 0, usual: 12.5 }), METRICS_ON)
    await recordDailyCost(async () => null, METRICS_ON)
    await recordDailyCost(async () => ({ lastDay: 3, usual: null }), METRICS_ON)
    expect(documents().map(({ _aws, ...members }) => members)).toEqual([
      { [DAILY_COST]: 0 },
      { [USUAL_DAILY_COST]: 12.5 },
      { [DAILY_COST]: 3 },
    ])
    expectEmf(...documents())
  })

  it('reads nothing without metrics', async () => {
    await recordDailyCost(() => Promise.reject(new Error('It was read.')), {})
    expect(documents()).toEqual([])
  })
})

describe('countServerError', () => {
  const request = { requestId: 'r', operation: 'get-agent', code: 'Unavailable' }

  it('publishes one line of valid EMF without dimensions', () => {
    countServerError(request, METRICS_ON)
    const { code: errorCode, ...members } = request
    const expected = { ServerErrors: 1, errorCode, ...members }
    expect(onlyMetric({ Name: SERVER_ERRORS, Unit: 'Count' })).toEqual(expected)
  })

  it('publishes nothing without a namespace', () => {
    countServerError(request, {})
    expect(documents()).toEqual([])
  })
})
