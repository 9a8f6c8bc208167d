import { describe, expect, it } from 'vitest'
import { toExecutionSummary } from '../../../lib/contract/records/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { stepKey } from '../../../lib/dynamodb/table/keys.ts'
import { runCleanups } from '../../../lib/engine/maintenance.ts'
import { forgetWebhooks } from '../../../lib/engine/notifications/destinations.ts'
import { BROKEN, OK, outboxTo } from '../../support/notifications/an-outbox.ts'
import { scan } from '../../support/tables/memory-table.ts'

const { graceMs } = leaseTimes()
const HOUR_MS = 3_600_000
/** Nothing adds up its usage here: it stays. */
const TOMBSTONE = ['RECORD']

/** An outbox whose webhook gets the record as the service sends it. */
function open(answer = OK) {
  const outbox = outboxTo(answer)
  outbox.engine.toSummary = toExecutionSummary
  const { executions } = outbox.stores
  const cleanUp = () => runCleanups({ executions, system: outbox.clock })
  const remove = ({ id }: { id: string }) =>
    executions.delete({ organizationId: outbox.organizationId, id, now: outbox.now() })
  return {
    ...outbox,
    itemsOf: async (id: string) =>
      (await scan(outbox.table)).filter(({ pk }) => String(pk).includes(id)).map(({ sk }) => sk),
    allItems: async () => JSON.stringify(await scan(outbox.table)),
    remove,
    cleanUp,
    live: (ms: number) => outbox.live(ms, { also: cleanUp }),
    /** A run that is deleted right after its end. */
    async removed(...given: Parameters<typeof outbox.end>) {
      const run = await outbox.end(...given)
      expect(await remove(run)).toBe('deleted')
      return run
    },
  }
}

describe('the events of an execution that is deleted', () => {
  it('are delivered without its content if it is deleted right after its end', async () => {
    const outbox = open()
    const outcome = { output: { secret: 'the output' }, logs: 'the logs' } as never
    const run = await outbox.removed({ input: { secret: 'the input' } }, outcome)
    await outbox.deliver()
    expect(outbox.sent).toMatchObject([
      {
        type: 'execution.succeeded',
        eventId: `evt_${run.id}_2`,
        data: { id: run.id, documentId: run.agentId, status: 'SUCCESS', deleted: true },
      },
    ])
    for (const name of ['input', 'output', 'error', 'logs', 'feedback'])
      expect(outbox.sent[0]?.data).not.toHaveProperty(name)
    expect(await outbox.allItems()).not.toMatch(/the (input|output|logs)/)
  })

  it.each([
    ['execution.failed', { code: 'AgentFailed', message: 'the message' }],
    ['execution.cancelled', CANCELLED],
  ])('say how it ended, but not why: %s', async (type, error) => {
    const outbox = open()
    const run = await outbox.start()
    await outbox.cancel(run.id, error)
    await outbox.remove(run)
    await outbox.deliver()
    expect(outbox.sent).toMatchObject([{ type, data: { status: 'ERROR', deleted: true } }])
    expect(outbox.sent[0]?.data).not.toHaveProperty('error')
    expect(await outbox.allItems()).not.toContain('the message')
  })

  it('are found by the sweeper if their message was lost', async () => {
    const outbox = open()
    await outbox.removed()
    outbox.dropMessages()
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    await outbox.deliver()
    expect(outbox.sent).toMatchObject([{ data: { deleted: true } }])
  })

  it('are repeated until the receiver answers', async () => {
    const outbox = open(BROKEN)
    const run = await outbox.tell()
    await outbox.remove(run)
    await outbox.live(12 * HOUR_MS)
    expect(outbox.sent.length).toBeGreaterThan(4)
    outbox.answers.set(outbox.webhook.id, () => OK)
    await outbox.live(24 * HOUR_MS)
    const [first, ...others] = outbox.sent.map(({ data }) => data.deleted ?? false)
    expect([first, new Set(others)]).toEqual([false, new Set([true])])
    expect(new Set(outbox.sent.map(({ eventId }) => eventId)).size).toBe(1)
    expect(await outbox.itemsOf(run.id)).toEqual(TOMBSTONE)
  })

  it('do not keep what a late worker writes', async () => {
    const outbox = open(BROKEN)
    const other = await outbox.end()
    await outbox.live(9 * HOUR_MS)
    await outbox.remove(other)
    await outbox.table.put({ ...stepKey(other.id, 1), data: 'late' })
    await outbox.live(HOUR_MS / 2)
    expect(await outbox.itemsOf(other.id)).not.toContain(stepKey(other.id, 1).sk)
    expect(await outbox.itemsOf(other.id)).toContain('DELETED')
  })

  it('are told once to each destination', async () => {
    const outbox = open()
    const other = outbox.addWebhook({}, BROKEN)
    await outbox.remove(await outbox.tell())
    await outbox.live(HOUR_MS)
    outbox.answers.set(other.id, () => OK)
    await outbox.live(24 * HOUR_MS)
    const told = outbox.sent.filter(({ destinationId }) => destinationId === outbox.webhook.id)
    expect(told).toHaveLength(1)
  })

  it('are delivered if it is deleted while its record is being delivered', async () => {
    const outbox = open()
    const run = await outbox.end()
    outbox.answers.set(outbox.webhook.id, async () => {
      await outbox.remove(run)
      return BROKEN
    })
    await outbox.deliver()
    outbox.answers.set(outbox.webhook.id, () => OK)
    await outbox.live(HOUR_MS)
    expect(outbox.sent[0]?.data).not.toHaveProperty('deleted')
    expect(outbox.sent.at(-1)?.data).toMatchObject({ deleted: true })
    expect(await outbox.itemsOf(run.id)).toEqual(TOMBSTONE)
  })

  it('are those of its waits, too', async () => {
    const outbox = open(BROKEN)
    outbox.webhooks.set(outbox.webhook.id, { ...outbox.webhook, types: ['execution.waiting'] })
    const run = await outbox.start()
    await outbox.suspend(run, [{ kind: 'approval', id: 'a' }])
    await outbox.deliver()
    await outbox.finish({ ...(await outbox.wake(run.id)), waitedMs: 1 } as never)
    await outbox.remove(run)
    outbox.answers.set(outbox.webhook.id, () => OK)
    await outbox.live(HOUR_MS)
    const data = { status: 'IN_PROGRESS', deleted: true }
    expect(outbox.sent.at(-1)).toMatchObject({ type: 'execution.waiting', data })
    expect(await outbox.itemsOf(run.id)).toEqual(TOMBSTONE)
  })

  it('leave nothing behind if nobody wants them any more', async () => {
    const outbox = open()
    const run = await outbox.removed()
    outbox.webhooks.clear()
    forgetWebhooks(outbox.organizationId)
    await outbox.live(HOUR_MS)
    expect(outbox.sent).toEqual([])
    expect(await outbox.itemsOf(run.id)).toEqual(TOMBSTONE)
  })

  it('leave nothing behind after days in which no message arrives', async () => {
    const outbox = open()
    const run = await outbox.removed()
    for (let hours = 0; hours < 7 * 24; hours++) {
      await outbox.cleanUp()
      outbox.pass(HOUR_MS)
    }
    expect(await outbox.itemsOf(run.id)).toEqual(TOMBSTONE)
  })

  it('are not kept once they are delivered: they are deleted with it', async () => {
    const outbox = open()
    const run = await outbox.tell()
    await outbox.remove(run)
    expect(await outbox.itemsOf(run.id)).toEqual(TOMBSTONE)
    expect(await outbox.redeliver(`evt_${run.id}_2`, outbox.webhook.id)).toBeNull()
  })
})
