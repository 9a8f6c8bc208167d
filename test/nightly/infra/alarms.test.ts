import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashToken } from '../../../lib/access/tokens.ts'
import { tokenKey } from '../../../lib/dynamodb/table/keys.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'
import { awsError, delay, inject, tableError } from '../../support/proxy/faults.ts'
import { getExecutionId } from '../../support/service/client.ts'
import { synthesize } from '../../infra/synthesize.ts'
import { evaluateAlarms } from '../../infra/monitoring/evaluate-alarms.ts'
import { type MonitoredService, startMonitoredService } from './monitored-service.ts'
import { type Observation, toSamples } from './observed-metrics.ts'

const template = synthesize({ monitoring: true })

const READS = ['GetItem', 'BatchGetItem', 'Query']
/** Above the threshold, and below the timeout after which the SDK retries. */
const SLOW_MS = 1_200
const NOTHING: Observation = { responses: [], output: '', failedSweeps: 0, runnerCrashes: 0, deadLetters: 0 }

/** The longest evaluation of an alarm. */
const PERIODS = 3
/** The alarms that go off if what was observed continues. */
const findAlarms = (observation: Observation) =>
  evaluateAlarms(template, Array(PERIODS).fill(toSamples(template, observation)))

const folders: string[] = []
const services: MonitoredService[] = []
async function start(environment?: Record<string, string>): Promise<MonitoredService> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-alarms-'))
  folders.push(folder)
  const service = await startMonitoredService(folder, environment)
  services.push(service)
  return service
}
afterAll(async () => {
  for (const service of services) await service.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const times = <T>(count: number, call: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, call))

const RUN_ECHO = '/v1/agents/echo/executions'
const TEXT = { body: { text: 'x' } }

const DENIED = awsError(400, 'com.amazonaws.sqs#AccessDeniedException')

const countStatuses = ({ responses }: Observation) => {
  const counts: Record<number, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('the alarms', () => {
  let service: MonitoredService
  beforeAll(async () => {
    service = await start()
  })

  // While other tests occupy the processors for minutes, reads do take a second.
  it('are silent while the service is healthy, even if clients make mistakes and wait', {
    retry: 2,
  }, async () => {
    const { call, createClient, observe } = service
    const stranger = createClient('aes_unknown')
    const path = '/v1/agents/wait/executions?execMode=async'
    const scenario = async () => {
      await times(20, () => call('GET', '/v1/agents'))
      await times(10, () => call('POST', RUN_ECHO, TEXT))
      await times(5, () => stranger('GET', '/v1/agents'))
      await call('GET', '/v1/agents/missing')
      await call('POST', `${RUN_ECHO}?enforceInputSchema=true`, { body: { text: 1 } })
      const execution = getExecutionId(await call('POST', path, { body: { seconds: 2 } }))
      const headers = { Prefer: 'wait=10' }
      await times(5, () => call('GET', `/v1/agent_executions/${execution}`, { headers }))
    }
    // Three real periods: in the first one, the functions are loaded.
    const observations: Observation[] = []
    for (let period = 0; period < PERIODS; period++) observations.push(await observe(scenario))
    for (const observation of observations)
      expect(countStatuses(observation)).toEqual({ 200: 35, 202: 1, 401: 5, 404: 1, 422: 1 })
    const periods = observations.map((observation) => toSamples(template, observation))
    expect(evaluateAlarms(template, periods)).toEqual([])
    const countSamples = (metric: string) => periods.flat().filter(({ name }) => name === metric).length
    expect(countSamples('ReadLatencyMs')).toBe(PERIODS * 20)
    // Those that succeed, and the asynchronous one.
    expect(countSamples('RunOverheadMs')).toBe(PERIODS * 11)
    expect(countSamples('StartDelayMs')).toBe(PERIODS)
  })

  it('report agents that fail, and not their 500 ExecutionFailed as server errors', async () => {
    const { call, observe } = service
    const observation = await observe(() =>
      times(25, () => call('POST', '/v1/agents/failing/executions', { body: { failure: 'throw' } })),
    )
    expect(countStatuses(observation)).toEqual({ 500: 25 })
    expect(findAlarms(observation)).toEqual(['ExecutionErrorRate'])
  })

  it('report a table that is unreachable', async () => {
    const { call, createClient, observe, table } = service
    const stranger = createClient('aes_unknown')
    const scenario = async () => {
      table.use(inject(() => 'drop'))
      await times(5, () => call('GET', '/v1/healthcheck'))
      await times(5, () => stranger('GET', '/v1/agents'))
    }
    const observation = await observe(scenario, { untilSweepFails: true })
    expect(countStatuses(observation)).toEqual({ 503: 10 })
    expect(findAlarms(observation)).toEqual(['AuthorizerErrors', 'ServerErrorRate', 'SweepFailures'])
  })

  it('report functions that respond with InternalError', async () => {
    const { call, observe, table, organizationId } = service
    const observation = await observe(async () => {
      // The authorizer does not query.
      table.use(
        inject(({ operation, body }) =>
          operation === 'Query' && body.includes(organizationId) ? tableError('ValidationException') : null,
        ),
      )
      await times(5, () => call('GET', '/v1/agents'))
    })
    expect(countStatuses(observation)).toEqual({ 500: 5 })
    expect(findAlarms(observation)).toEqual(['ServerErrorRate'])
  })

  it('report an authorizer that fails while the functions work', async () => {
    const { createClient, observe, table } = service
    const token = 'aes_unreadable'
    const { pk } = tokenKey(hashToken(token))
    const call = createClient(token)
    const observation = await observe(async () => {
      table.use(inject(({ body }) => (body.includes(pk) ? 'drop' : null)))
      await times(5, () => call('GET', '/v1/agents'))
    })
    expect(countStatuses(observation)).toEqual({ 503: 5 })
    expect(findAlarms(observation)).toEqual(['AuthorizerErrors', 'ServerErrorRate'])
  })

  it('report slow reads', async () => {
    const { call, observe, table } = service
    const observation = await observe(async () => {
      table.use(inject(({ operation }) => (READS.includes(operation) ? delay(SLOW_MS) : null)))
      await times(10, () => call('GET', '/v1/agents'))
    })
    expect(countStatuses(observation)).toEqual({ 200: 10 })
    expect(findAlarms(observation)).toEqual(['ReadLatency'])
    const [slow, healthy] = [toSamples(template, observation), toSamples(template, NOTHING)]
    expect(evaluateAlarms(template, [slow, healthy, slow]), 'not for three periods').toEqual([])
  })

  it('report a slow database of runs, and not slow agents', async () => {
    const { call, observe, table } = service
    const run = (slug: string, body: object) => () =>
      call('POST', `/v1/agents/${slug}/executions`, { body })
    const slowAgent = await observe(() => times(3, run('wait', { seconds: 3 })))
    expect(findAlarms(slowAgent)).toEqual([])
    const slowDatabase = await observe(async () => {
      table.use(inject(() => delay(SLOW_MS)))
      await times(5, run('echo', TEXT.body))
    })
    expect(countStatuses(slowDatabase)).toEqual({ 200: 5 })
    expect(findAlarms(slowDatabase)).toEqual(['RunLatency'])
  })

  it('report messages that SQS rejects', async () => {
    const { call, observe, queue } = service
    const observation = await observe(async () => {
      queue.use(inject(({ operation }) => (operation === 'SendMessage' ? DENIED : null)))
      await call('POST', `${RUN_ECHO}?execMode=async`, TEXT)
    })
    expect(countStatuses(observation)).toEqual({ 202: 1 })
    expect(findAlarms(observation)).toEqual(['EnqueueFailures'])
  })
})

describe('the alarms, with a short lease', () => {
  let service: MonitoredService
  beforeAll(async () => {
    service = await start({ LEASE_SECONDS: '1', RETRY_BACKOFF_MS: '10' })
  })

  it('report a sweep that cannot send', async () => {
    const { call, observe, queue } = service
    const scenario = async () => {
      queue.use(inject(({ operation }) => (operation === 'SendMessage' ? DENIED : null)))
      await call('POST', `${RUN_ECHO}?execMode=async`, TEXT)
    }
    const observation = await observe(scenario, { untilSweepFails: true })
    expect(findAlarms(observation)).toEqual(['EnqueueFailures', 'SweepFailures'])
  })

  it('report runs whose steps the table does not store', async () => {
    const { call, observe, table } = service
    const path = '/v1/agents/three-steps/executions?execMode=async'
    const observation = await observe(async () => {
      table.use(
        inject(({ operation, body }) =>
          operation === 'PutItem' && body.includes('"STEP#') ? 'throttle' : null,
        ),
      )
      const log = join(folders[0] ?? '', 'steps')
      const execution = getExecutionId(await call('POST', path, { body: { log } }))
      await waitUntil(
        async () => (await call('GET', `/v1/agent_executions/${execution}`)).json.status === 'ERROR',
        { what: 'the end of the run', limitMs: 60_000 },
      )
    })
    expect(findAlarms(observation)).toEqual(['RepeatedAttempts'])
  })
})

describe('the alarms, with few open executions', () => {
  // With a service of its own: the sweeper of one with a short lease lists executions several times a second, and
  // its requests exceed their timeout on a busy machine.
  it('report throttled requests', async () => {
    const { call, observe } = await start({ MAX_OPEN_EXECUTIONS: '2' })
    const run = () => call('POST', '/v1/agents/wait/executions?execMode=async', { body: { seconds: 60 } })
    const observation = await observe(async () => {
      for (let group = 0; group < 12; group++) await times(10, run)
    })
    expect(countStatuses(observation)[429]).toBeGreaterThan(100)
    expect(findAlarms(observation)).toEqual(['ThrottledRequests'])
  })
})

describe('the alarms, with a function that cannot be loaded', () => {
  it('report the 5xx responses of API Gateway', async () => {
    const hooks = new URL('./unloadable-function.ts', import.meta.url)
    const { call, observe } = await start({ NODE_OPTIONS: `--import=${hooks}` })
    const observation = await observe(async () => {
      await times(20, () => call('GET', '/v1/healthcheck'))
      await times(5, () => call('GET', '/v1/agents/echo/versions'))
    })
    expect(countStatuses(observation)).toEqual({ 200: 20, 500: 5 })
    expect(findAlarms(observation)).toEqual(['ServerErrorRate'])
  })
})
