import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { CANCELLED, failure, isFinal, NO_USAGE } from '../../lib/core/execution.ts'
import { leaseTimes } from '../../lib/core/lease-times.ts'
import type { QueuedExecution } from '../../lib/core/ports.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { cacheStore } from '../../lib/dynamodb/cache-store.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { idempotencyStore } from '../../lib/dynamodb/idempotency-store.ts'
import { stepStore } from '../../lib/dynamodb/step-store.ts'
import { openTable } from '../../lib/dynamodb/table.ts'
import { sweep } from '../../lib/engine/maintenance/sweep.ts'
import { type SubmitEngine, submitAsync, submitSync } from '../../lib/engine/submit/submit.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { anExecution, leased } from '../support/executions.ts'
import { modelPort } from '../support/lifecycle/reference-model.ts'
import { lifecycles, Simulation, simulatedExecution } from '../support/lifecycle/simulation.ts'
import { retryingTable, storePort } from '../support/lifecycle/tables.ts'
import { newOrganization, sharedTable } from '../support/organization.ts'
import { propertyRuns } from '../support/property-runs.ts'

const NOW = 1_800_000_000_000
const AT = new Date(NOW).toISOString()
const mine = { owner: 'me', expiresAt: NOW + 60_000 }
const yours = { owner: 'you', expiresAt: NOW + 200_000 }
const stepBy = (owner: string) => ({
  number: 1,
  startedAt: AT,
  finishedAt: AT,
  kind: 'CODE' as const,
  name: 'x',
  value: owner,
})
const success = (text: string) => ({
  status: 'SUCCESS' as const,
  output: { text },
  steps: 1,
  usage: NO_USAGE,
  model: null,
})

describe.each(['dynamodb', 'dynalite'] as const)('a write whose answer was lost on %s', (emulator) => {
  const name = `lost-answers-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) })
  const store = executionStore(table)
  const resending = executionStore(retryingTable(table))
  const created = async (overrides: Parameters<typeof anExecution>[0] = {}) => {
    const execution = anExecution({ now: NOW, deadlineMs: 3_600_000, ...overrides })
    await store.create({ execution })
    return execution
  }

  it('is a claim that its worker has, and counts once', async () => {
    const execution = await created()
    const claimed = await resending.claim({ id: execution.id, lease: mine, now: NOW })
    expect(claimed).toMatchObject({ lease: mine, attempts: 1, attemptsSinceProgress: 1 })
    expect(await store.get(execution)).toEqual(claimed)
  })

  it('is a claim that came to nothing when another worker, or a cancellation, was there meanwhile', async () => {
    const claimWhile = async (between: (id: string, organizationId: string) => Promise<unknown>) => {
      const { id, organizationId } = await created()
      const slow = retryingTable(table, { between: () => between(id, organizationId) })
      return executionStore(slow).claim({ id, lease: mine, now: NOW })
    }
    const taken = claimWhile((id) => store.claim({ id, lease: yours, now: mine.expiresAt + 1 }))
    expect(await taken).toBe('held')
    const cancelled = claimWhile((id, organizationId) =>
      store.end({ id, organizationId, error: CANCELLED, finishedAt: AT }),
    )
    expect(await cancelled).toBe('closed')
  })

  it.each([
    ['a small output', () => 'x'],
    ['an output in chunks', () => randomBytes(60_000).toString('base64')],
  ])('is the end of a run with %s, and its worker is told so', async (_, text) => {
    const execution = await created({ lease: mine })
    const outcome = success(text())
    const ended = await resending.finish({ execution: leased(execution, 'me'), outcome, finishedAt: AT })
    expect(ended).toMatchObject({ ...outcome, finishedAt: AT, lease: null })
    expect(await store.get(execution)).toEqual(ended)
  })

  it('does not make somebody else’s end one’s own', async () => {
    const execution = await created({ lease: yours })
    await store.finish({ execution: leased(execution, 'you'), outcome: success('yours'), finishedAt: AT })
    const outcome = failure({ code: 'Late', message: '' })
    expect(await resending.finish({ execution: leased(execution, 'me'), outcome, finishedAt: AT })).toBeNull()
    expect(await store.get(execution)).toMatchObject({ status: 'SUCCESS', output: { text: 'yours' } })
  })

  it('is a step that its worker has written, and nobody writes over', async () => {
    const { id: executionId } = await created({ lease: mine })
    const steps = stepStore(table)
    const appendYours = () => steps.append({ executionId, owner: 'you', step: stepBy('you') })
    const slow = stepStore(retryingTable(table, { between: appendYours }))
    expect(await slow.append({ executionId, owner: 'me', step: stepBy('me') })).toBe(true)
    expect(await appendYours()).toBe(false)
    expect(await steps.read({ executionId })).toEqual([{ step: stepBy('me'), results: new Map() }])
  })

  it('is a result that stays when another worker has another of the same call', async () => {
    const { id: executionId } = await created({ lease: mine })
    const resultOf = (value: string) => ({
      callId: 'call',
      result: { ok: true as const, value },
      startedAt: AT,
      finishedAt: AT,
    })
    const appendYours = () =>
      stepStore(table).appendResult({ executionId, number: 1, result: resultOf('you') })
    const slow = stepStore(retryingTable(table, { between: appendYours }))
    expect(await slow.appendResult({ executionId, number: 1, result: resultOf('me') })).toEqual(
      resultOf('me'),
    )
    expect(await appendYours()).toEqual(resultOf('me'))
  })

  it('is a postponement after which the next sweep enqueues', async () => {
    const execution = await created()
    const queue: QueuedExecution[] = []
    const sweepAt = (now: number, executions: typeof store) =>
      sweep({
        executions,
        queue: { send: async (message) => void queue.push(message) },
        system: { ...system, now: () => now },
        times: { ...leaseTimes(), graceMs: 10_000 },
      })
    const soon = (execution.openUntil ?? 0) + 1
    await sweepAt(soon, resending)
    expect(queue).toEqual([])
    await sweepAt(soon + 50_001, store)
    expect(queue).toContainEqual({
      executionId: execution.id,
      organizationId: execution.organizationId,
      tenantId: null,
    })
  })

  it('changes the record once, whatever it was', async () => {
    const losses = fc.infiniteStream(fc.boolean())
    const property = fc.asyncProperty(lifecycles, losses, async ({ isSync, end, batches }, lost) => {
      const execution = simulatedExecution(isSync)
      let isLost = true
      const lossy = retryingTable(table, { isResponseLost: () => isLost })
      // The creation's answer is lost too: it says that the record was there.
      expect(await executionStore(lossy).create({ execution })).toBe(false)
      const [port, model] = [storePort(lossy, execution), modelPort(execution)]
      const [real, pure] = [new Simulation(port, execution), new Simulation(model, execution)]
      for (const command of batches.flat()) {
        isLost = lost.next().value === true
        const [told, expected] = [await real.run(command), await pure.run(command)]
        // Those do not know their own writes again: they say that nothing was done, and it was.
        const isUnsure =
          isLost &&
          ['cancel', 'release', 'release-after-error', 'sweep', 'dead-letter'].includes(command.kind)
        if (!isUnsure) expect(told).toEqual(expected)
        expect(await port.get(execution)).toEqual(await model.get(execution))
      }
      isLost = false
      await real.recover(end)
      const ended = await port.get(execution)
      if (ended) expect(isFinal(ended)).toBe(true)
    })
    await fc.assert(property, {
      numRuns: propertyRuns(emulator === 'dynamodb' ? 15 : 5),
      interruptAfterTimeLimit: 20_000,
    })
  })
})

describe('an accepted run whose record’s answer was lost', () => {
  const table = sharedTable()
  const sent: QueuedExecution[] = []
  const intake: SubmitEngine = {
    agents: agentStore(table),
    executions: executionStore(retryingTable(table)),
    steps: stepStore(table),
    cache: cacheStore(table),
    idempotency: idempotencyStore(table),
    queue: { send: async (message) => void sent.push(message) },
    admit: (_, record) => record(),
    syncDeadlineMs: 60_000,
    system,
  }
  const requested = async () => ({
    version: await (await newOrganization()).publish('redact-pii'),
    input: { content: 'x' },
    tenantId: null,
    options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
  })

  it('runs when its caller waits for it', async () => {
    expect(await submitSync(intake, await requested())).toMatchObject({
      status: 'SUCCESS',
      attempts: 1,
      error: null,
    })
  })

  it('is there for its client, and enqueued, when its caller does not', async () => {
    const accepted = await submitAsync(intake, await requested())
    expect(accepted).toMatchObject({ status: 'IN_PROGRESS', attempts: 0 })
    expect(sent.map(({ executionId }) => executionId)).toEqual([accepted.id])
  })
})
