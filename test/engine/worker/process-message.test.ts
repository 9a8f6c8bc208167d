import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import { FINAL_ANSWER, type ModelResponse } from '../../../lib/core/model.ts'
import { NO_USAGE } from '../../../lib/core/model-usage.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { batchBlockKey } from '../../../lib/dynamodb/table/keys.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { logger } from '../../../lib/logger.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { aBatch } from '../../support/batches/a-batch.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { publishFixture } from '../../support/engine/organization.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

const { engine, queued, deadLetter, aToolAgent } = await startScriptedEngine()

const PROGRESS = { steps: 1, usage: NO_USAGE, model: null }

describe('processMessage', () => {
  it('sets the visibility timeout beyond the lease when a run takes a while, before its first heartbeat, and makes no request for the message of a short one', async () => {
    const { visibilityMs } = leaseTimes()
    for (const times of [leaseTimes(), leaseTimes(1_000)]) {
      expect(times.visibilityMs).toBeGreaterThan(times.leaseMs)
      expect(times.visibilityDelayMs).toBeLessThan(times.heartbeatMs / 2)
    }
    const { message, visibility } = aMessage()
    const extended = Promise.withResolvers<void>()
    const changeVisibility = async (ms: number) => {
      await message.changeVisibility(ms)
      extended.resolve()
    }
    const { execution, stored } = await queued([{ ...answer, until: extended.promise }])
    const short = await queued([answer])
    await processMessage(engine, short.execution.id, { message })
    expect([(await short.stored()).status, visibility]).toEqual(['SUCCESS', []])
    const soon = { ...engine, times: { ...leaseTimes(), visibilityDelayMs: 5 } }
    await processMessage(soon, execution.id, { message: { ...message, changeVisibility } })
    expect(visibility).toEqual([visibilityMs])
    expect((await stored()).status).toBe('SUCCESS')
  })

  describe('of a batch', () => {
    const inBatch = (receiveCount: number) => {
      const { message, sent } = aMessage(receiveCount)
      return { message: { ...message, isShared: true }, sent }
    }
    const loseWorker = (id: string) =>
      engine.executions.claim({ id, lease: { owner: 'dead', expiresAt: Date.now() - 1 }, now: Date.now() })

    it('hands over a run whose worker died, and counts no attempt for it', async () => {
      const { execution, stored, modelRequests } = await queued([answer], undefined, { sharesWorker: true })
      await loseWorker(execution.id)
      const { message, sent } = inBatch(2)
      expect(await processMessage(engine, execution.id, { message })).toBe('processed')
      const { id: executionId, organizationId } = execution
      expect(sent).toEqual([{ executionId, organizationId, tenantId: null, sharesWorker: false }])
      expect(await stored()).toMatchObject({ lease: null, attempts: 2, attemptsSinceProgress: 1 })
      expect(modelRequests()).toBe(0)
      await processMessage(engine, execution.id, aMessage())
      expect((await stored()).status).toBe('SUCCESS')
    })

    it.each([
      ['is delivered for the first time, after another worker released it', 1, true],
      ['is delivered again without an attempt, because Lambda throttled the runner', 2, false],
    ])('runs an execution that %s', async (_, receiveCount, wasClaimed) => {
      const { execution, stored } = await queued([answer])
      if (wasClaimed) await loseWorker(execution.id)
      const { message, sent } = inBatch(receiveCount)
      await processMessage(engine, execution.id, { message })
      expect([(await stored()).status, sent]).toEqual(['SUCCESS', []])
    })

    it('runs an execution again whose last attempt failed', async () => {
      const unavailable = { status: 503, message: 'Overloaded.' }
      const { execution, stored } = await queued((_, index) => (index < 4 ? unavailable : answer))
      const first = inBatch(1)
      expect(await processMessage(engine, execution.id, first)).toHaveProperty('retryInMs')
      const { message, sent } = inBatch(2)
      await processMessage(engine, execution.id, { message })
      expect([(await stored()).status, sent]).toEqual(['SUCCESS', []])
    })

    it('leaves the message to SQS if it cannot hand over the run', async () => {
      const { execution, stored } = await queued([answer])
      await loseWorker(execution.id)
      const { message } = inBatch(2)
      const send = () => Promise.reject(new Error('Access denied.'))
      const result = await processMessage({ ...engine, queue: { send } }, execution.id, { message })
      expect(result).toEqual({ retryInMs: leaseTimes().leaseMs })
      expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null })
    })
  })

  it.each([true, false])(
    'sends the continuation of a run that shares a worker (%s) to its queue',
    async (shares) => {
      const { execution } = await queued([answer], undefined, { sharesWorker: shares })
      const { message, sent } = aMessage()
      const stopped = AbortSignal.abort()
      await processMessage(engine, execution.id, { message, deadline: { drain: stopped, stop: stopped } })
      expect(sent).toMatchObject([{ sharesWorker: shares }])
    },
  )

  it('ignores an execution with a live lease, and a dead letter does not end it', async () => {
    const { execution, stored } = await queued([])
    const lease = { owner: 'another', expiresAt: Date.now() + 60_000 }
    await engine.executions.claim({ id: execution.id, lease, now: Date.now() })
    expect(await processMessage(engine, execution.id, aMessage())).toBe('held')
    await engine.executions.renew({ id: execution.id, lease, progress: PROGRESS })
    expect(await deadLetter(execution)).toBe('enqueued')
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease, attempts: 1 })
  })

  it('requeues a dead-lettered run that progressed between the deaths of its workers', async () => {
    const { execution, stored } = await queued([answer])
    let now = Date.now()
    const die = async () => {
      now += 10
      const lease = { owner: system.newId(), expiresAt: now + 1 }
      await engine.executions.claim({ id: execution.id, lease, now })
      return lease
    }
    for (let n = 0; n < MAX_ATTEMPTS - 1; n++) await die()
    const lease = await die()
    await engine.executions.renew({ id: execution.id, lease, progress: PROGRESS })
    expect(await deadLetter(execution)).toBe('enqueued')
    expect((await stored()).status).toBe('IN_PROGRESS')
    for (let n = 0; n < MAX_ATTEMPTS; n++) await die()
    expect(await deadLetter(execution, () => now + 10)).toBe('ended')
    expect((await stored()).error?.code).toBe('AttemptsExhausted')
  })

  it('requeues a dead-lettered run that no worker could claim, until its deadline', async () => {
    const { execution, stored } = await queued([answer])
    expect(await deadLetter(execution)).toBe('enqueued')
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', attempts: 0 })
    expect(await deadLetter(execution, () => execution.deadlineAt)).toBe('ended')
    expect((await stored()).error?.code).toBe('DeadlineExceeded')
  })

  it('requeues a dead-lettered run that failed once and could not be claimed after that', async () => {
    const { execution, stored } = await queued(() => ({ status: 503, message: 'Overloaded.' }))
    expect(await processMessage(engine, execution.id, aMessage())).toHaveProperty('retryInMs')
    expect(await deadLetter(execution)).toBe('enqueued')
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', attempts: 1 })
  })
})

const { executions } = engine

describe('attempt', () => {
  it('ends a run whose result the database rejects, with the cause', async () => {
    const version = await publishFixture('echo')
    const table = await engineTable()
    const oversized = 'x'.repeat(500_000)
    const executions = engineOn({
      ...table,
      update: (key, { set, ...change }) =>
        table.update(key, { ...change, set: { ...set, ...(set?.output !== undefined && { oversized }) } }),
    }).executions
    const lease = { owner: 'me', expiresAt: Date.now() + 60_000 }
    const execution = leased(executionOf(version, { lease }), 'me')
    await executions.create({ execution })
    const result = await attempt({ ...engineOn(table), executions }, execution, { version })
    const error = { message: expect.stringContaining('size') }
    expect(result).toMatchObject({ kind: 'completed', execution: { status: 'ERROR', error } })
  })

  it.each([
    { by: 'nobody else', owner: undefined, kind: 'completed' },
    { by: 'another worker', owner: 'another', kind: 'lost' },
  ])('begins with a lease that expired while it was written, and is held by $by: $kind', async (given) => {
    const version = await publishFixture('echo')
    const lease = { owner: 'me', expiresAt: Date.now() - 1 }
    const execution = leased(executionOf(version, { input: { text: 'a' }, lease }), 'me')
    await executions.create({ execution })
    const { id, organizationId } = execution
    const { owner } = given
    if (owner)
      await executions.claim({ id, lease: { owner, expiresAt: Date.now() + 60_000 }, now: Date.now() })
    expect((await attempt(engine, execution, { version })).kind).toBe(given.kind)
    expect((await executions.get({ organizationId, id }))?.status).toBe(owner ? 'IN_PROGRESS' : 'SUCCESS')
  })

  it('ends a run of a model whose output exceeds the limit of payloads', async () => {
    const { execution, stored } = await queued([], await aToolAgent())
    const input = { answer: 'x'.repeat(8_000_000) }
    const respond = async (): Promise<ModelResponse> => ({
      ...{ messages: [], text: '', usage: NO_USAGE, stopReason: 'tool-calls' },
      toolCalls: [{ id: 'c', name: FINAL_ANSWER, input, error: null }],
    })
    const open: typeof openModel = async (...params) => ({ ...(await openModel(...params)), respond })
    await processMessage({ ...engine, openModel: open }, execution.id, aMessage())
    const message = 'The output has 8000013 bytes; the limit is 6000000.'
    const { error, output, steps, attempts } = await stored()
    expect(error).toEqual({ code: 'OutputTooLarge', message })
    expect({ steps, attempts, output }).toEqual({ steps: 1, attempts: 1, output: null })
  })

  it('writes no further step after the run was cancelled, and counts all that it wrote', async () => {
    const { execution, modelRequests } = await queued(() => lookup, await aToolAgent())
    const running = processMessage(engine, execution.id)
    await vi.waitFor(() => expect(modelRequests()).toBeGreaterThan(3))
    const { id, organizationId } = execution
    const cancelled = await endExecution(engine, { organizationId, id, error: CANCELLED })
    const steps = await engine.steps.read({ executionId: id })
    expect(cancelled).toMatchObject({ status: 'ERROR', steps: steps.length, model: expect.any(String) })
    expect(cancelled?.usage.inputTokens).toBe(10 * steps.length)
    await running
    expect(await engine.steps.read({ executionId: id })).toHaveLength(steps.length)
  })
})

const ids = { batchId: system.newId(), organizationId: system.newId() }
const firing = { organizationId: ids.organizationId, agentId: system.newId(), schedule: 'nightly', at: 1 }
const eventOf = (message: object) => {
  const record = { attributes: { ApproximateReceiveCount: '1' }, eventSourceARN: 'arn:aws:sqs:local:0:runs' }
  return { Records: [{ ...record, messageId: 'a', receiptHandle: 'a', body: JSON.stringify(message) }] }
}

describe('messages of the run queue that are about no execution', () => {
  beforeAll(() => {
    // Nothing listens there.
    const SQS_ENDPOINT = 'http://127.0.0.1:9'
    const queues = { QUEUE_URL: `${SQS_ENDPOINT}/0/runs`, DELIVERY_QUEUE_URL: `${SQS_ENDPOINT}/0/deliveries` }
    const table = { TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: inject('dynamodb') }
    for (const [name, value] of Object.entries({ ...table, SQS_ENDPOINT, ...queues })) vi.stubEnv(name, value)
    vi.spyOn(logger, 'warn').mockReturnValue()
    vi.spyOn(logger, 'error').mockReturnValue()
  })

  it.each([
    [
      'dropped as dead letters: their timers send others',
      () => import('../../../functions/process-dead-letter.ts'),
    ],
    ['done if there is no such batch or schedule', () => import('../../../functions/process-execution.ts')],
  ])('are %s', async (_, load) => {
    const { handler } = await load()
    for (const message of [ids, { ...ids, lane: 3 }, firing])
      expect(await handler(eventOf(message) as never)).toEqual({ batchItemFailures: [] })
  })

  it('are delivered again if something fails', async () => {
    const { handler } = await import('../../../functions/process-execution.ts')
    const { batch, lines } = aBatch({ lines: 1 })
    await openStores().batches.create({ batch, lines })
    // Its line cannot be started, and no message can be sent that repeats that.
    await openTable().delete(batchBlockKey(batch.id, 0, 0))
    const message = { batchId: batch.id, organizationId: batch.organizationId }
    expect(await handler(eventOf(message) as never)).toEqual({ batchItemFailures: [{ itemIdentifier: 'a' }] })
  })
})
