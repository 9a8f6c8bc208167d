import {
  DescribeTableCommand,
  DynamoDBClient,
  paginateScan,
  RestoreTableToPointInTimeCommand,
  TagResourceCommand,
  UpdateTableCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { openRunQueue } from '../../../lib/sqs/run-queue.ts'
import { system } from '../../../lib/system.ts'
import { toRecord } from '../../../local/runner/poller.ts'
import { newCli } from '../../cli/cli.ts'
import { createInvoker, toResponse } from '../../infra/bundling/invoke-deployed.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { createStack, runUntilIdle, STACK, startPayingAgents } from './stack-in-moto.ts'

const CONTROL = `${STACK}-Restored-CONTROL`
const TREATED = `${STACK}-Restored-TREATED`
const LIMIT = { limitMs: 60_000, intervalMs: 100 }

/** Runs in the states in which a restore point can find them. */
const RUNS = [
  'call in progress',
  'second call in progress',
  'sub-agent in progress',
  'not started',
  'no tools',
  'finished',
] as const
type Run = (typeof RUNS)[number]

const stack = await createStack()
const organizationId = system.newId()
const own = openTable({ TABLE_NAME: stack.table })
const stores = openStores(own)
const agents = await startPayingAgents({ table: own, organizationId })
const cli = newCli()
const cleanups: (() => unknown)[] = [cli.remove, stack.stop, agents.stop]
afterAll(async () => {
  for (const cleanUp of cleanups.reverse()) await cleanUp()
})

const original = stack.deploy({})
const queue = openRunQueue(original.functionOf('process-execution').environment)

/** A worker, with a process of its own. */
const workerOf = (deployment: typeof original) => {
  const invoker = createInvoker(deployment, { organizationId, environment: agents.environment })
  cleanups.push(invoker.stop)
  return invoker
}

const executions = {} as Record<Run | 'later', Execution>

/** Accepts a run, as the API does. Its message is delivered by `deliver`. */
async function accept(run: Run | 'later', version: Version) {
  const execution = executionOf(version, {
    input: { question: 'Pay?' },
    options: runOptions(),
    deadlineMs: 3_600_000,
    graceMs: 3_000,
  })
  await stores.executions.create({ execution })
  executions[run] = execution
  return execution
}

const message = ({ id }: Execution) =>
  toRecord({
    MessageId: id,
    ReceiptHandle: id,
    Body: JSON.stringify({ executionId: id, organizationId }),
    Attributes: { ApproximateReceiveCount: '1' },
  })

/** Starts a worker on an execution without waiting for its end. */
function start(execution: Execution) {
  const worker = workerOf(original)
  return worker.deliver('process-execution', message(execution))
}

/** Returns the calls. */
async function goLive(tableName: string): Promise<string[]> {
  const before = agents.callsSince(0).length
  const deployment = stack.deploy({ tableName, paused: false })
  await runUntilIdle(deployment, workerOf(deployment))
  return agents.callsSince(before)
}

async function scanTable(TableName: string) {
  const found: unknown[] = []
  for await (const { Items = [] } of paginateScan({ client: new DynamoDBClient() }, { TableName }))
    found.push(...Items)
  return found
}

const command = (args: string[], tableName: string) => cli.json([...args, '--stack', tableName])

/** The calls before the restore. */
let inOriginal: string[] = []

const arnOf = async (client: DynamoDBClient) =>
  (await client.send(new DescribeTableCommand({ TableName: stack.table }))).Table?.TableArn

beforeAll(async () => {
  const child = await agents.publish('child', ['child-hold'])
  const versions = {
    'call in progress': await agents.publish('first', ['1-hold']),
    'second call in progress': await agents.publish('second', ['1', '2-hold']),
    'sub-agent in progress': await agents.publish('parent', ['delegate'], { delegate: child.slug }),
    'not started': await agents.publish('waiting', ['1']),
    'no tools': await agents.publish('plain', []),
    finished: await agents.publish('done', ['1']),
  } satisfies Record<Run, unknown>
  const finished = start(await accept('finished', versions.finished))
  expect(await finished).toMatchObject({ payload: { batchItemFailures: [] } })
  const running = []
  for (const run of RUNS.slice(0, 3)) running.push(start(await accept(run, versions[run])))
  for (const run of ['not started', 'no tools'] as const) await accept(run, versions[run])
  await waitUntil(() => agents.waiting() === 3, { what: 'three calls in progress', ...LIMIT })

  const client = new DynamoDBClient()
  await client.send(new UpdateTableCommand({ TableName: stack.table, DeletionProtectionEnabled: true }))
  const Tags = [{ Key: 'team', Value: 'agents' }]
  await client.send(new TagResourceCommand({ ResourceArn: await arnOf(client), Tags }))
  for (const TargetTableName of [CONTROL, TREATED]) {
    const params = { SourceTableName: stack.table, TargetTableName, UseLatestRestorableTime: true }
    await client.send(new RestoreTableToPointInTimeCommand(params))
    await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName: TargetTableName })
  }

  // The original goes on: everything ends, and one more run is accepted, whose message stays in the queue.
  agents.release()
  await Promise.all(running)
  for (const run of ['not started', 'no tools'] as const) await start(executions[run])
  const later = await accept('later', versions['call in progress'])
  await queue.send({ executionId: later.id, organizationId, tenantId: null })
  inOriginal = agents.callsSince(0)
})

describe('the restore drill', () => {
  it('begins with runs that have ended, each of whose calls was made once', async () => {
    expect(new Set(inOriginal).size).toBe(inOriginal.length)
    expect(inOriginal).toHaveLength(6)
    for (const run of RUNS)
      expect(await stores.executions.getSummary(executions[run])).toMatchObject({ status: 'SUCCESS' })
  })

  it('completes the settings that a restore loses', async () => {
    const check = (args: string[], code: number) =>
      cli.json(['table', 'check', ...args, '--stack', TREATED], { code })
    const resultsOf = async (checking: ReturnType<typeof check>, expected: string) =>
      (await checking).settings
        .filter(({ result }: { result: string }) => result === expected)
        .map(({ setting }: { setting: string }) => setting)
    const lost = ['time to live', 'point-in-time recovery', 'tags', 'deletion protection']
    expect(await resultsOf(check([], 1), 'wrong')).toEqual(lost)
    expect(await resultsOf(check(['--fix'], 0), 'fixed')).toEqual(lost)
    expect(await resultsOf(check([], 0), 'ok')).toHaveLength(1 + Object.keys(INDEXES).length + lost.length)
    const { code, stderr } = await cli.run(['table', 'check'])
    expect([code, stderr]).toEqual([1, 'Specify the stack or the table with --stack.\n'])
  })

  it('has a paused stack whose functions neither read nor change the table', async () => {
    const before = [await scanTable(TREATED), agents.callsSince(0).length]
    const paused = workerOf(stack.deploy({ tableName: TREATED }))
    expect(await paused.invoke('sweep-executions', {})).toMatchObject({ mode: 'failed' })
    const messages = [executions['call in progress'], executions['not started']].map(message)
    for (const each of messages) {
      expect(await paused.deliver('process-execution', each)).toMatchObject({
        payload: { batchItemFailures: [{ itemIdentifier: each.messageId }] },
      })
      expect(await paused.deliver('process-dead-letter', each)).toMatchObject({
        payload: { batchItemFailures: [{ itemIdentifier: each.messageId }] },
      })
    }
    const call = { agentId: 'first', body: { question: 'Pay?' } }
    const response = toResponse(await paused.call('run-agent', call))
    expect([response.statusCode, response.headers['Retry-After'] ?? response.headers['retry-after']]).toEqual(
      [503, '1'],
    )
    expect([await scanTable(TREATED), agents.callsSince(0).length]).toEqual(before)
  })

  it('repeats calls without the command', async () => {
    const repeated = (await goLive(CONTROL)).filter((call) => inOriginal.includes(call))
    expect(repeated.length).toBeGreaterThanOrEqual(4)
  })

  it('repeats no call with the command, and resumes what has no tools', async () => {
    const listed = await command(['open', 'list'], TREATED)
    expect(listed.open).toBe(6)
    const ended = await command(['open', 'end', '--tools'], TREATED)
    // The end of a run cancels its sub-agent: whether that is counted depends on which of them is read first.
    expect(ended).toMatchObject({ running: 0 })
    expect(ended.ended + ended.closed).toBeGreaterThanOrEqual(4)
    expect((await command(['open', 'list'], TREATED)).open).toBe(1)
    expect(await command(['open', 'resume', '--no-tools'], TREATED)).toMatchObject({ resumed: 1 })
    expect(await goLive(TREATED)).toEqual([])
    const restored = openStores(openTable({ TABLE_NAME: TREATED }))
    const statusOf = async (run: Run) => {
      const summary = await restored.executions.getSummary(executions[run])
      return [run, summary?.status, summary?.error?.code ?? null]
    }
    expect(await Promise.all(RUNS.map(statusOf))).toEqual([
      ...RUNS.slice(0, 4).map((run) => [run, 'ERROR', 'Cancelled']),
      ['no tools', 'SUCCESS', null],
      ['finished', 'SUCCESS', null],
    ])
    expect(await restored.executions.getSummary(executions.later)).toBeNull()
  })
})
