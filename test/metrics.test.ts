import { Ajv } from 'ajv'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { CANCELLED, cachedExecution, type Execution, failure, type Outcome } from '../lib/core/execution.ts'
import { agentStore } from '../lib/dynamodb/agent-store.ts'
import { cacheStore } from '../lib/dynamodb/cache-store.ts'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { stepStore } from '../lib/dynamodb/step-store.ts'
import { runInProcess } from '../lib/engine/submit/submit.ts'
import { measured, metricsLine, NAMESPACE, UNITS } from '../lib/metrics.ts'
import { system } from '../lib/system.ts'
import { EMF_SCHEMA } from './support/emf-schema.ts'
import { anExecution, leased } from './support/executions.ts'
import { aModelAgent } from './support/model-agent.ts'
import { sharedTable } from './support/organization.ts'

const NOW = 1_800_000_000_000
const finishedAt = new Date(NOW + 1_500).toISOString()
const SECRET = 'nobody may read this'

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

describe('metricsLine', () => {
  const lines: [string, Execution][] = [
    ['a success', succeeded()],
    ['an error', failed('TimedOut')],
    ['a hit', { ...succeeded(), cached: true, cache: { key: 'k', ttlSeconds: null } }],
  ]
  it.each(lines)('is one line of valid EMF for %s, each metric and dimension a member of it', (_, ended) => {
    const line = metricsLine(ended)
    expect(line).not.toContain('\n')
    const document = JSON.parse(line)
    expect(isEmf(document), JSON.stringify(isEmf.errors)).toBe(true)
    const [{ Namespace, Metrics, Dimensions }] = document._aws.CloudWatchMetrics
    expect([Namespace, Dimensions]).toEqual([NAMESPACE, [[], ['Outcome']]])
    for (const { Name, Unit } of Metrics) {
      expect(document[Name]).toBeTypeOf('number')
      expect(Unit).toBe(UNITS[Name as keyof typeof UNITS])
    }
    for (const dimension of Dimensions.flat()) expect(document[dimension]).toBeTypeOf('string')
  })

  it('says what ran, how it ended and what it took', () => {
    const { _aws, ...members } = JSON.parse(metricsLine(succeeded()))
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

  it.each([
    ['TimedOut', 'ERROR'],
    ['Cancelled', 'CANCELLED'],
  ])('counts an error with the code %s as %s', (code, outcome) => {
    expect(JSON.parse(metricsLine(failed(code)))).toMatchObject({ Outcome: outcome, errorCode: code })
  })

  it('counts hits only among the runs that look for one', () => {
    const cache = { key: 'k', ttlSeconds: null }
    const hitsOf = (more: Partial<Execution>) =>
      JSON.parse(metricsLine({ ...succeeded(), ...more })).CacheHits
    expect([hitsOf({}), hitsOf({ cache }), hitsOf({ cache, cached: true })]).toEqual([undefined, 0, 1])
  })

  it.each(lines)('holds nothing of what was sent, returned or said: %s', (_, ended) => {
    expect(metricsLine(ended)).not.toContain(SECRET)
  })
})

const on = { METRICS: 'on' }

/** The real store, measured, with the lines that it has written. */
function aMeasuredStore() {
  const lines: ReturnType<typeof JSON.parse>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  return { lines, store: measured(executionStore(sharedTable()), { environment: on, write }) }
}

describe('measured', () => {
  afterEach(() => vi.restoreAllMocks())

  it('writes a line for a finish that took place, and for no other', async () => {
    const { lines, store } = aMeasuredStore()
    const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
    const execution = anExecution({ lease })
    await store.create({ execution })
    const finish = { outcome: success, finishedAt: new Date().toISOString() }
    await store.finish({ ...finish, execution: leased(execution, 'another') })
    expect(lines).toEqual([])
    await store.finish({ ...finish, execution: leased(execution, lease.owner) })
    expect(lines).toMatchObject([{ executionId: execution.id, Outcome: 'SUCCESS', Steps: 3 }])
  })

  it('writes a line for an end from outside, once', async () => {
    const { lines, store } = aMeasuredStore()
    const execution = anExecution()
    await store.create({ execution })
    const end = { ...execution, error: CANCELLED, finishedAt: new Date().toISOString() }
    expect(await store.end(end)).not.toBeNull()
    expect(await store.end(end)).toBeNull()
    expect(lines).toMatchObject([{ executionId: execution.id, Outcome: 'CANCELLED' }])
  })

  it('writes a line for an execution that is over as it begins, once', async () => {
    const { lines, store } = aMeasuredStore()
    const { lease, ...open } = anExecution()
    const params = { ...open, now: Date.now(), deadlineMs: 60_000, cache: { key: 'k', ttlSeconds: null } }
    const execution = cachedExecution(params, system.newId(), { text: SECRET })
    await store.create({ execution })
    await store.create({ execution })
    expect(lines).toMatchObject([{ executionId: execution.id, Outcome: 'SUCCESS', CacheHits: 1 }])
  })

  it('writes one line for a run', async () => {
    const { lines, store } = aMeasuredStore()
    const table = sharedTable()
    const engine = {
      agents: agentStore(table),
      executions: store,
      steps: stepStore(table),
      cache: cacheStore(table),
      system,
    }
    const code = 'export default () => ({ answer: "42" })'
    const version = await aModelAgent({ slug: 'measured', code: true }, code)
    const options = { maxAgentSteps: 1, model: null, useDynamicLearning: false }
    const ended = await runInProcess(engine, {
      version,
      input: { question: SECRET },
      tenantId: null,
      options,
    })
    expect(ended.status).toBe('SUCCESS')
    expect(lines).toMatchObject([{ executionId: ended.id, agentId: version.agentId, Outcome: 'SUCCESS' }])
  })

  it('writes to standard output past the console', async () => {
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const store = measured(executionStore(sharedTable()), { environment: on })
    const execution = anExecution()
    await store.create({ execution })
    await store.end({ ...execution, error: CANCELLED, finishedAt: new Date().toISOString() })
    expect(written.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('_aws'))).toEqual([
      expect.stringMatching(/^\{.*\}\n$/),
    ])
  })

  it.each([{}, { METRICS: '' }, { METRICS: 'off' }])('is the store itself with %j', (environment) => {
    const store = executionStore(sharedTable())
    expect(measured(store, { environment })).toBe(store)
  })
})
