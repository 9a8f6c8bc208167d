import { afterEach, describe, expect, it, vi } from 'vitest'
import { lineExecutionId } from '../../../lib/core/batch.ts'
import { failure } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { DAY_MS } from '../../../lib/core/limits.ts'
import { newExecution } from '../../../lib/core/new-execution.ts'
import { endOfPeriod, NO_LIMITS } from '../../../lib/core/usage-limits.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { newLease } from '../../../lib/engine/engine.ts'
import { suspend } from '../../../lib/engine/waiting/suspend.ts'
import { wake } from '../../../lib/engine/waiting/wake.ts'
import { forgetLimits } from '../../../lib/limits/limits.ts'
import { system } from '../../../lib/system.ts'
import { BatchRun, type Options, type PlannedWait, success } from '../../support/batches/batch-run.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { ownTable } from '../../support/tables/memory-table.ts'

const table = await ownTable()
const version = await aModelAgent({}, { table })

const aBatch = (options: Partial<Options> = {}) =>
  BatchRun.create({ table, version, lines: 7, lanes: 3, ...options })

const codesOf = async (run: BatchRun) =>
  (await run.executions()).map((each) => each && (each.error?.code ?? each.status))

/** The same, with lines that hang, once all its messages are delivered. */
async function aDrained({ hung = [], ...options }: Partial<Options> & { hung?: number[] }) {
  const run = await aBatch(options)
  for (const line of hung) run.hung.add(line)
  await run.drain()
  return run
}

const startedOf = async (run: BatchRun) => (await run.executions()).filter((each) => each !== null)

afterEach(() => void vi.unstubAllEnvs())

describe('feedBatch', () => {
  it('runs each line once, as many at a time as there are lanes, and ends the batch', async () => {
    const run = await aBatch()
    const startedAt = run.time()
    await run.drain()
    // No timer is needed: the end of a line starts the next one.
    expect(run.time() - startedAt).toBeLessThan(1_000)
    expect(await run.findProblems()).toEqual([])
    expect(run.maxOpen).toBe(3)
    const batch = await run.stored()
    expect(batch).toMatchObject({
      status: 'ENDED',
      totals: { succeeded: 7, failed: 0, cancelled: 0, costUsd: 0 },
    })
    const executions = await run.executions()
    expect(executions.map((each) => [each?.attempts, each?.batch?.line, each?.input.question])).toEqual(
      Array.from({ length: 7 }, (_, line) => [1, line, String(line)]),
    )
    expect(executions[4]).toMatchObject({
      source: 'BATCH',
      batch: { id: run.batch.id, customId: 'c4', lane: 1 },
    })
  })

  it('writes a lane once for each line', async () => {
    const run = await aDrained({ lines: 20, lanes: 2 })
    const written = run.requests.filter((method) =>
      ['put', 'update', 'writeMany', 'send', 'feed'].includes(method),
    )
    // Created, claimed, finished, the lane; a message. Beside it the timer and the end of the batch.
    expect(written.length).toBeLessThanOrEqual(20 * 5 + 4)
  })

  it('lets other lanes take the lines of one that hangs, and stops no batch that has started all', async () => {
    const outcomeOf = () => success(0.1)
    const run = await aDrained({ lines: 24, lanes: 3, maxCostUsd: 2.35, outcomeOf, hung: [1] })
    const started = await startedOf(run)
    const open = started.filter(({ status }) => status === 'IN_PROGRESS')
    expect(open.map(({ batch }) => batch?.line)).toEqual([1])
    expect(started.length).toBe(24)
    run.hung.clear()
    expect(await run.findProblems()).toEqual([])
    expect(await run.stored()).toMatchObject({ stopped: null, totals: { succeeded: 24, costUsd: 2.4 } })
  })

  it('starts no line again whose execution has expired', async () => {
    vi.stubEnv('EXECUTION_RETENTION_DAYS', '1')
    const run = await aDrained({ lines: 6, lanes: 2, hung: [1] })
    run.pass(25 * 3_600_000)
    for (const line of [0, 2, 3, 4, 5]) await table.delete(executionKey(lineExecutionId(run.batch, line)))
    run.hung.clear()
    expect(await run.settle()).toBe(true)
    expect(await codesOf(run)).toEqual([null, 'SUCCESS', null, null, null, null])
    expect((await run.stored())?.totals).toMatchObject({ succeeded: 6, failed: 0 })
  })

  it('records a line that cannot be prepared as failed, and goes on', async () => {
    const run = await aBatch({
      options: { enforceInputSchema: true },
      inputOf: (line) => (line % 2 === 0 ? { other: 1 } : { question: 'q' }),
    })
    expect(await run.findProblems()).toEqual([])
    expect(await codesOf(run)).toEqual(
      Array.from({ length: 7 }, (_, line) => (line % 2 === 0 ? 'InputSchemaMismatch' : 'SUCCESS')),
    )
    expect((await run.stored())?.totals).toMatchObject({ succeeded: 3, failed: 4 })
  })

  it('records all lines as failed if their version is gone', async () => {
    const run = await aBatch({ version: { ...version, id: system.newId() } })
    expect(await run.findProblems()).toEqual([])
    expect(new Set(await codesOf(run))).toEqual(new Set(['VersionNotFound']))
  })

  it('waits for a cost limit of its agent as long as a message can, and goes on when it is raised', async () => {
    const own = await aModelAgent({}, { table })
    const { organizationId, agentId } = own
    const run = await aBatch({ version: own, lines: 4, lanes: 2 })
    const key = { organizationId, subject: { kind: 'agent' as const, id: agentId } }
    const { limits } = run.stores
    const updatedAt = new Date().toISOString()
    const set = (day: number) =>
      limits.put({ ...key, limits: { ...NO_LIMITS, maxCostUsd: { day: null, month: day }, updatedAt } })
    await limits.addSpent({ ...key, at: run.time(), costUsd: 2 })
    await set(1)
    await run.drain()
    expect(run.maxOpen).toBe(0)
    const delays = run.messages.map(({ visibleAt }) => visibleAt - run.time())
    expect(delays).toHaveLength(1)
    const restMs = endOfPeriod('month', run.time()) - run.time()
    expect(delays[0]).toBeGreaterThan(Math.min(890_000, restMs - 10_000))
    await set(5)
    forgetLimits(organizationId, key.subject)
    run.pass(900_001)
    await run.drain()
    expect((await run.stored())?.status).toBe('ENDED')
  })

  it('waits while its organization has too many open executions, and repeats one message only', async () => {
    vi.stubEnv('MAX_OPEN_EXECUTIONS', '10')
    const own = await aModelAgent({}, { table })
    const run = await aBatch({ version: own, lines: 12, lanes: 8 })
    const others = Array.from({ length: 6 }, () => executionOf(own, { deadlineMs: 86_400_000 }))
    for (const execution of others) await run.stores.executions.create({ execution })
    for (let line = 0; line < 12; line++) run.hung.add(line)
    for (let minute = 0; minute < 6; minute++) {
      await run.sweep()
      await run.drain()
      run.pass(61_000)
    }
    // 80 % of ten.
    expect(run.maxOpen).toBe(2)
    expect(run.messages.filter(({ body }) => 'batchId' in body).length).toBeLessThanOrEqual(2)
    run.hung.clear()
    const { organizationId } = own
    const end = { organizationId, error: { code: 'x', message: '' }, finishedAt: new Date().toISOString() }
    for (const { id } of others) await run.stores.executions.end({ ...end, id })
    expect(await run.findProblems()).toEqual([])
  })
})

/** Longer than a message can be delayed. */
const HOUR_MS = 3_600_000

describe('a line that waits', () => {
  const sleep = (ms: number, name = 'pause'): PlannedWait => ({ kind: 'sleep', name, ms })

  it('gives its lane to the next one, and the batch says what it waits for', async () => {
    const waitsOf = (line: number) => (line % 4 === 3 ? [] : [sleep(HOUR_MS, line < 8 ? 'pause' : 'night')])
    const run = await aDrained({ lines: 20, lanes: 4, waitsOf })
    expect(await run.counted()).toMatchObject({
      totals: { succeeded: 5, failed: 0 },
      waiting: 15,
      waitingFor: [
        { kind: 'sleep', name: 'night', lines: 9 },
        { kind: 'sleep', name: 'pause', lines: 6 },
      ],
    })
    expect(run.maxOpen).toBe(4)
    expect((await run.stored())?.status).toBe('IN_PROGRESS')
    run.pass(HOUR_MS)
    expect(await run.findProblems()).toEqual([])
    expect(await run.counted()).toMatchObject({ totals: { succeeded: 20 }, waiting: 0, waitingFor: [] })
  })

  it('is not counted among those that wait once it goes on, and again when it waits again', async () => {
    const waitsOf = () => [sleep(HOUR_MS), sleep(HOUR_MS, 'again')]
    const run = await aDrained({ lines: 3, lanes: 2, waitsOf })
    expect((await run.counted()).waiting).toBe(3)
    run.pass(HOUR_MS)
    const { engine } = run.newWorker()
    const key = { organizationId: run.batch.organizationId, id: lineExecutionId(run.batch, 1) }
    expect(await wake(engine, key.id, newLease(engine))).toMatchObject({ suspension: null })
    expect((await run.counted()).waiting).toBe(2)
    run.pass(100_000)
    await run.sweep()
    await run.drain()
    expect((await run.counted()).waitingFor).toEqual([{ kind: 'sleep', name: 'again', lines: 3 }])
    run.pass(HOUR_MS)
    expect(await run.findProblems()).toEqual([])
  })

  it('keeps its lane when few more runs of the organization may be suspended', async () => {
    vi.stubEnv('MAX_SUSPENDED_EXECUTIONS', '10')
    const own = await aModelAgent({}, { table })
    const run = await aDrained({ version: own, lines: 30, lanes: 3, waitsOf: () => [sleep(HOUR_MS)] })
    expect((await run.counted()).waiting).toBe(8)
    for (let hour = 0; hour < 12; hour++) {
      run.pass(HOUR_MS)
      await run.sweep()
      await run.drain()
      expect((await run.counted()).waiting).toBeLessThanOrEqual(10)
    }
    expect(await run.findProblems()).toEqual([])
    expect((await run.stored())?.totals?.succeeded).toBe(30)
  })

  it('keeps its lane while an agent that it has called works, but not while that one waits', async () => {
    const at = Date.now()
    const child = executionOf(version, { deadlineMs: DAY_MS })
    const wait = { kind: 'approval' as const, name: 'refund', since: '', until: null }
    const waitsOf = (line: number) =>
      line === 0 ? [{ kind: 'execution' as const, name: 'helper', id: child.id, ms: 10 * HOUR_MS }] : []
    const run = await aBatch({ lines: 3, lanes: 1, waitsOf })
    await run.stores.executions.create({ execution: child })
    await run.drain()
    expect(await run.counted()).toMatchObject({ totals: { succeeded: 0 }, waiting: 0, waitingFor: [] })
    const { engine } = run.newWorker()
    const claimed = await engine.executions.claim({ id: child.id, lease: newLease(engine), now: at })
    if (typeof claimed === 'string') throw new Error(claimed)
    await suspend(engine, claimed, [wait], { progress: null })
    run.feed()
    await run.drain()
    expect(await run.counted()).toMatchObject({
      totals: { succeeded: 2 },
      waiting: 1,
      waitingFor: [{ kind: 'approval', name: 'refund', lines: 1 }],
    })
    run.pass(10 * HOUR_MS)
    expect(await run.findProblems()).toEqual([])
  })

  it('keeps its lane while it waits for its turn, and is counted', async () => {
    const own = await aModelAgent({}, { table })
    const { organizationId, agentId } = own
    const key = { organizationId, subject: { kind: 'agent' as const, id: agentId } }
    const updatedAt = new Date().toISOString()
    const limits = { ...NO_LIMITS, maxOpenExecutions: 1, queueWhenFull: true, updatedAt }
    await openStores(table).limits.put({ ...key, limits })
    const run = await aDrained({ version: own, lines: 6, lanes: 3, hung: [0, 1, 2] })
    expect(await startedOf(run)).toHaveLength(3)
    expect((await run.counted()).waitingFor).toEqual([{ kind: 'limit', name: 'maxOpenExecutions', lines: 2 }])
    run.hung.clear()
    expect(await run.findProblems()).toEqual([])
  })

  it('counts towards the cost limit of its batch with what it has cost', async () => {
    const waitsOf = () => [{ ...sleep(HOUR_MS), costUsd: 0.1 }]
    const outcomeOf = () => success(0.1)
    const run = await aDrained({ lines: 30, lanes: 2, maxCostUsd: 0.5, waitsOf, outcomeOf })
    expect((await startedOf(run)).length).toBeLessThanOrEqual(7)
    run.pass(HOUR_MS)
    expect(await run.findProblems()).toEqual([])
    expect((await run.stored())?.stopped?.code).toBe('BudgetExceeded')
  })

  it('is found when all messages about it are lost', async () => {
    const run = await aDrained({ lines: 5, lanes: 2, waitsOf: () => [sleep(HOUR_MS)] })
    const { engine } = run.newWorker()
    const { organizationId } = run.batch
    for (const id of run.lineIds())
      await endExecution({ ...run.stores, system: engine.system }, { organizationId, id, error: CANCELLED })
    expect(await run.findProblems()).toEqual([])
    expect((await run.stored())?.totals?.cancelled).toBe(5)
  })
})

describe('the cost limit of a batch', () => {
  it('lets only lines end that were open when it was reached', async () => {
    const run = await aBatch({ lines: 30, lanes: 4, maxCostUsd: 0.5, outcomeOf: () => success(0.1) })
    expect(await run.findProblems()).toEqual([])
    const batch = await run.stored()
    expect(batch).toMatchObject({ status: 'ENDED', stopped: { code: 'BudgetExceeded' } })
    const { length } = await startedOf(run)
    expect(length).toBeGreaterThanOrEqual(5)
    expect(length).toBeLessThanOrEqual(5 + 3)
    expect(batch?.totals?.costUsd).toBeLessThanOrEqual(0.8)
  })

  it('counts what cancelled and failed lines have cost, too', async () => {
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0.5 }
    const failed = failure({ code: 'AgentFailed', message: '' })
    const outcomeOf = () => ({ ...failed, steps: 1, usage, model: 'm' })
    const run = await aBatch({ lines: 10, lanes: 1, maxCostUsd: 1, outcomeOf })
    expect(await run.findProblems()).toEqual([])
    expect((await run.stored())?.totals).toEqual({ succeeded: 0, failed: 2, cancelled: 0, costUsd: 1 })
  })
})

describe('a batch that is cancelled', () => {
  it('ends the open lines, and starts no other', async () => {
    const run = await aBatch({ lines: 20, lanes: 3 })
    for (let i = 0; i < 6; i++) await run.deliver()
    const { length } = await startedOf(run)
    for (let line = 0; line < 20; line++) run.hung.add(line)
    await run.cancel()
    const cancelledAt = run.time()
    await run.drain()
    expect(run.time() - cancelledAt).toBeLessThan(1_000)
    expect(await run.findProblems()).toEqual([])
    expect(await startedOf(run)).toHaveLength(length)
    expect((await run.stored())?.totals).toMatchObject({ cancelled: 3, succeeded: length - 3 })
  })

  it('refuses a line that a slow process is about to create', async () => {
    const run = await aBatch({ lines: 1, lanes: 1 })
    const { engine } = run.newWorker()
    await run.cancel()
    await run.drain()
    expect((await run.stored())?.status).toBe('ENDED')
    const id = lineExecutionId(run.batch, 0)
    const execution = newExecution({ ...executionOf(version), id, now: run.time(), deadlineMs: 1_000 })
    expect(await engine.executions.create({ execution })).toBe(false)
    expect(await engine.executions.get(execution)).toBeNull()
  })
})

it('a line that a client cancels is followed by the next one', async () => {
  const run = await aDrained({ lines: 3, lanes: 1, hung: [0] })
  await run.cancelLine(0)
  await run.drain()
  expect(await run.findProblems()).toEqual([])
  expect((await run.stored())?.totals).toMatchObject({ succeeded: 2, cancelled: 1 })
})

it('a batch that is too old starts no further line', async () => {
  const run = await aDrained({ lines: 4, lanes: 1, hung: [0] })
  run.pass(7 * 86_400_000)
  await run.sweep()
  run.hung.clear()
  expect(await run.findProblems()).toEqual([])
  expect((await run.stored())?.stopped?.code).toBe('DeadlineExceeded')
  expect(await startedOf(run)).toHaveLength(1)
})

it('a hidden batch is deleted with the executions of its lines', async () => {
  const run = await aBatch({ lines: 8, lanes: 3 })
  await run.findProblems()
  const batch = await run.stored()
  if (!batch) throw new Error('No batch.')
  expect(await run.stores.batches.hide({ batch, now: run.time() })).toBe(true)
  await run.sweep()
  await run.drain()
  expect(await codesOf(run)).toEqual(Array(8).fill(null))
  expect(await run.stores.batches.getHidden(run.key)).toBeNull()
})
