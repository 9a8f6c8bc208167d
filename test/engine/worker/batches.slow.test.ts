import { afterEach, describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { startRunQueues } from '../../support/engine/run-queues.ts'
import { answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { awsError, inject } from '../../support/proxy/faults.ts'

/** Messages of running executions are hidden for a little longer. */
const LEASE_SECONDS = 5

const scripted = await startScriptedEngine()
const { engine, queued, aToolAgent } = scripted
const queues = await startRunQueues(engine.environment, LEASE_SECONDS)
afterEach(() => queues.use())

type Queues = Awaited<ReturnType<typeof queues.open>>
type Run = Awaited<ReturnType<typeof queued>>

const send = ({ queue }: Queues, runs: { execution: Execution }[]) =>
  Promise.all(
    runs.map(({ execution: { id, organizationId, tenantId } }) =>
      queue.send({ executionId: id, organizationId, tenantId, sharesWorker: true }),
    ),
  )

const times = <T>(count: number, create: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, create))
const statusesOf = (runs: Run[]) => Promise.all(runs.map(async ({ stored }) => (await stored()).status))
const SUCCESS = (count: number) => Array.from({ length: count }, () => 'SUCCESS')
const rejectAll = (...operations: string[]) =>
  inject(({ operation }) =>
    operations.includes(operation) ? awsError(400, 'com.amazonaws.sqs#RequestThrottled') : null,
  )

describe('a batch of ten runs', () => {
  it('has deleted the messages of the runs that ended, while one hangs and one failed', async () => {
    const opened = await queues.open()
    const hanging = Promise.withResolvers<void>()
    const slow = await queued([{ ...answer, until: hanging.promise }])
    const failing = await queued(() => ({ status: 503, message: 'Overloaded.' }))
    const quick = await times(8, () => queued([lookup, answer], undefined))
    await send(opened, [slow, failing, ...quick])
    const runner = opened.receive('shared', 10)
    await expect.poll(() => opened.count('shared')).toBe(2)
    expect(await statusesOf(quick)).toEqual(SUCCESS(8))
    expect(await statusesOf([slow])).toEqual(['IN_PROGRESS'])
    hanging.resolve()
    expect(await runner.ended).toMatchObject({ failures: 1 })
    expect(await statusesOf([slow, failing])).toEqual(['SUCCESS', 'IN_PROGRESS'])
    expect(await opened.count('shared')).toBe(1)
  })

  it.each([
    ['no message can be deleted', ['DeleteMessage']],
    ['the queue throttles every request of the runner', ['DeleteMessage', 'ChangeMessageVisibility']],
  ])(
    'ends every run when %s, and a message that is delivered again repeats nothing',
    async (_, operations) => {
      const opened = await queues.open()
      const waiting = Promise.withResolvers<void>()
      const slow = await queued([{ ...answer, until: waiting.promise }])
      const quick = await times(9, () => queued([answer]))
      queues.use(rejectAll(...operations))
      await send(opened, [slow, ...quick])
      const runner = opened.receive('shared', 10)
      await expect.poll(() => statusesOf(quick)).toEqual(SUCCESS(9))
      waiting.resolve()
      await expect.poll(() => statusesOf([slow])).toEqual(['SUCCESS'])
      await runner.kill()
      queues.use()
      await send(opened, [slow, ...quick])
      await opened.receive('shared', 10).ended
      expect([slow, ...quick].map(({ modelRequests }) => modelRequests())).toEqual(Array(10).fill(1))
    },
  )

  it('whose process is killed continues each run once, alone, and repeats no step', async () => {
    const opened = await queues.open()
    const never = new Promise<void>(() => undefined)
    const version = await aToolAgent()
    const script = () => {
      let isKilled = false
      const turn = ({ history }: { history: { type: string }[] }) => {
        if (!history.some(({ type }) => type === 'result')) return lookup
        return isKilled ? answer : { ...answer, until: never }
      }
      return {
        turn,
        resume: () => {
          isKilled = true
        },
      }
    }
    const scripts = Array.from({ length: 10 }, script)
    const runs = await Promise.all(scripts.map(({ turn }) => queued(turn as never, version)))
    await send(opened, runs)
    const first = opened.receive('shared', 10)
    await expect.poll(() => runs.map(({ modelRequests }) => modelRequests())).toEqual(Array(10).fill(2))
    await first.kill()
    for (const { resume } of scripts) resume()

    const second = await opened.receive('shared', 10).ended
    expect(second).toMatchObject({ receiveCounts: Array(10).fill('2'), failures: 0 })
    expect([await opened.count('shared'), await opened.count('alone')]).toEqual([0, 10])
    expect(await statusesOf(runs)).toEqual(Array(10).fill('IN_PROGRESS'))
    const alone = Array.from({ length: 10 }, () => opened.receive('alone', 1))
    for (const { ended } of alone) expect(await ended).toMatchObject({ failures: 0 })
    expect(await statusesOf(runs)).toEqual(SUCCESS(10))
    // The step before the kill once, the one that was in progress twice.
    expect(runs.map(({ modelRequests }) => modelRequests())).toEqual(Array(10).fill(3))
    const attempts = await Promise.all(
      runs.map(({ execution }) => engine.steps.read({ executionId: execution.id })),
    )
    expect(attempts.map((steps) => steps.length)).toEqual(Array(10).fill(2))
  })

  it('runs code next to model agents, and those whose record does not say that they share a worker', async () => {
    const opened = await queues.open()
    const version = await (await newOrganization()).publish('echo')
    const execution = executionOf(version, { input: { text: 'x' } })
    await engine.executions.create({ execution })
    const models = await times(9, () => queued([answer]))
    await send(opened, [{ execution }, ...models])
    expect(await opened.receive('shared', 10).ended).toMatchObject({ failures: 0 })
    expect(await statusesOf(models)).toEqual(SUCCESS(9))
    expect(await engine.executions.get(execution)).toMatchObject({ status: 'SUCCESS', output: { text: 'x' } })
  })
})
