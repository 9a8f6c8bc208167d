import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import {
  eventIdOf,
  parseEventId,
  type Webhook,
  type WebhookEventType,
} from '../../../lib/core/notification.ts'
import { batchKey } from '../../../lib/dynamodb/table/keys.ts'
import { system } from '../../../lib/system.ts'
import { anEndedTrial } from '../../support/batches/a-batch.ts'
import { anOutbox, BROKEN, OK, outboxTo } from '../../support/notifications/an-outbox.ts'
import { itemsIn } from '../../support/tables/items-in.ts'

const { graceMs } = leaseTimes()
const ENDED = { types: ['batch.ended'] } satisfies Partial<Webhook>

/** A batch that has ended, and a receiver that fails. */
async function anEndedBatch(types: WebhookEventType[] = ENDED.types) {
  const outbox = outboxTo(BROKEN, { types })
  const { id: destinationId } = outbox.webhook
  const batch = await outbox.startBatch()
  await outbox.endBatch(batch)
  return { ...outbox, destinationId, batch, subject: { kind: 'batch' as const, id: batch.id } }
}

describe('the id of an event', () => {
  it.each(['execution', 'batch', 'limit', 'audit'] as const)('names its subject: %s', (kind) => {
    const event = { subject: { kind, id: system.newId() }, revision: 12 }
    expect(parseEventId(eventIdOf(event))).toEqual(event)
  })

  it.each(['evt_agent_', 'evt_constructor_', 'evt__', 'evt_batch'])('is not another text: %s', (start) => {
    expect(parseEventId(`${start}${system.newId()}_1`)).toBeNull()
  })
})

describe('the end of a batch', () => {
  it('is delivered once to each webhook that selects it, and to its own URL', async () => {
    const outbox = anOutbox()
    const agentId = system.newId()
    const selected = [
      outbox.addWebhook(ENDED),
      outbox.addWebhook({ ...ENDED, agentIds: [agentId], tenantIds: ['acme'], sources: ['BATCH'] }),
    ]
    outbox.addWebhook({ types: ['execution.succeeded'] })
    for (const other of [{ agentIds: [system.newId()] }, { tenantIds: ['globex'] }, { sources: ['API'] }])
      outbox.addWebhook({ ...ENDED, ...other } as never)
    const webhookUrl = 'https://own.example/'
    const batch = await outbox.startBatch({ agentId, tenantId: 'acme', webhookUrl })
    expect(await outbox.endBatch(batch)).toBe(true)
    expect(await outbox.endBatch(batch)).toBe(false)
    expect(outbox.messages()).toHaveLength(1)
    outbox.messages().push(...outbox.messages())
    await outbox.deliver()
    await outbox.engine.queue.send({ subject: { kind: 'batch', id: batch.id }, ...batch })
    await outbox.deliver()
    const destinations = [...selected.map(({ id }) => id), 'default']
    expect(new Set(outbox.sent.map(({ destinationId }) => destinationId))).toEqual(new Set(destinations))
    expect(outbox.sent.length).toBeLessThanOrEqual(2 * destinations.length)
    const data = { id: batch.id, status: 'ENDED', counts: { IN_PROGRESS: 0, SUCCESS: 2, ERROR: 0 } }
    for (const sent of outbox.sent)
      expect(sent).toMatchObject({ eventId: `evt_batch_${batch.id}_1`, type: 'batch.ended', data })
    const deliveries = await outbox.deliveriesOfBatch(batch.id)
    expect(deliveries.map(({ status }) => status)).toEqual(destinations.map(() => 'DELIVERED'))
    outbox.pass(10 * graceMs)
    expect(await outbox.sweep()).toBe(0)
    expect(outbox.messages()).toEqual([])
  })

  it('is no event of a draft, nor without a webhook that selects it', async () => {
    const outbox = outboxTo(OK, { types: ['execution.succeeded'] })
    await outbox.endBatch(await outbox.startBatch())
    outbox.addWebhook(ENDED)
    outbox.pass(10)
    await outbox.endBatch(await outbox.startBatch({ isDraft: true, webhookUrl: 'https://own.example/' }))
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    expect(outbox.messages()).toEqual([])
  })

  it('is no event of a trial, nor of its runs', async () => {
    const outbox = outboxTo(OK, { types: ['execution.succeeded', 'batch.ended'] })
    const { batch } = anEndedTrial({ organizationId: '', agentId: '', versionId: '' }, {})
    await outbox.endBatch(await outbox.startBatch({ trial: batch.trial }))
    const replay = {
      ...{ tools: {}, models: 'live' as const, steps: 'live' as const, ignore: [], fromStep: 1 },
      ...{ executionId: system.newId(), isTrial: true, defaultModel: null },
    }
    await outbox.end({ replay })
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    expect(outbox.messages()).toEqual([])
  })
})

describe('a delivery of the end of a batch', () => {
  it('is repeated by its message or by the timers, listed with those of runs, and sent again on request', async () => {
    const outbox = await anEndedBatch(['execution.succeeded', 'batch.ended'])
    const { organizationId, destinationId, batch, subject } = outbox
    await outbox.deliver()
    expect(outbox.messages()).toMatchObject([{ subject, destinationId }])
    outbox.pass(10_000)
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(2)
    // The next attempt has only its timer.
    outbox.dropMessages()
    outbox.answers.set(destinationId, () => OK)
    outbox.pass(12 * graceMs)
    await outbox.sweep()
    await outbox.deliver()
    expect(await outbox.deliveriesOfBatch(batch.id)).toMatchObject([{ status: 'DELIVERED', attempts: 3 }])

    const run = await outbox.tell()
    const page = { limit: 10, after: null }
    const { items } = await outbox.stores.deliveries.list({ organizationId, destinationId, ...page })
    expect(items.map(({ subject }) => subject)).toEqual([{ kind: 'execution', id: run.id }, subject])

    const eventId = `evt_batch_${batch.id}_1`
    const again = await outbox.redeliver(eventId, destinationId)
    expect(again).toMatchObject({ status: 'DELIVERED', attempts: 4 })
    const other = { organizationId: system.newId() }
    expect(await outbox.redeliver(eventId, destinationId, other)).toBeNull()
    expect(await outbox.redeliver(eventId, system.newId())).toBeNull()
    for (const wrong of [`evt_${batch.id}_1`, `evt_batch_${batch.id}_2`, `evt_batch_${run.id}_1`])
      expect(await outbox.redeliver(wrong, destinationId)).toBeNull()
    expect(outbox.sent).toHaveLength(5)
  })

  it('is not made for a message that names another organization', async () => {
    const outbox = await anEndedBatch()
    const { batch, destinationId, subject } = outbox
    const wrong = { subject, organizationId: system.newId() }
    outbox.dropMessages()
    await outbox.engine.queue.send(wrong)
    await outbox.deliver()
    expect(outbox.sent).toEqual([])
    await outbox.engine.queue.send({ ...wrong, organizationId: outbox.organizationId })
    await outbox.deliver()
    outbox.dropMessages()
    outbox.pass(10_000)
    await outbox.engine.queue.send({ ...wrong, destinationId, revision: 1 })
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(1)
    expect(await outbox.deliveriesOfBatch(batch.id)).toMatchObject([{ status: 'PENDING' }])
  })
})

describe('a batch that is deleted', () => {
  const remove = async ({ batch, now, stores: { batches } }: Awaited<ReturnType<typeof anEndedBatch>>) => {
    await batches.hide({ batch, now: now() })
    await batches.remove({ batch })
  }
  const itemsOf = ({ table, batch }: Awaited<ReturnType<typeof anEndedBatch>>) =>
    itemsIn(table, batchKey(batch.id).pk)

  it('has no events any more', async () => {
    const outbox = await anEndedBatch()
    await outbox.stores.batches.hide({ ...outbox, now: outbox.now() })
    await outbox.deliver()
    outbox.pass(2 * graceMs)
    expect(await outbox.sweep()).toBe(0)
    await outbox.deliver()
    expect(outbox.sent).toEqual([])
  })

  it('takes its deliveries with it', async () => {
    const outbox = await anEndedBatch()
    await outbox.deliver()
    expect(await itemsOf(outbox)).toHaveLength(3)
    await remove(outbox)
    expect(await itemsOf(outbox)).toEqual([])
    outbox.pass(graceMs)
    await outbox.sweep()
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(1)
  })

  it('leaves none if it is deleted while its end is being delivered', async () => {
    const outbox = await anEndedBatch()
    outbox.answers.set(outbox.destinationId, async () => {
      await remove(outbox)
      return OK
    })
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(1)
    expect(await itemsOf(outbox)).toEqual([])
  })
})
