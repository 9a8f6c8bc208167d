import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { eventIdOf, parseEventId } from '../../../lib/core/notification.ts'
import { batchKey } from '../../../lib/dynamodb/table/keys.ts'
import { redeliver } from '../../../lib/engine/notifications/deliver.ts'
import { system } from '../../../lib/system.ts'
import { anEndedTrial } from '../../support/batches/a-batch.ts'
import { anOutbox, BROKEN, OK } from '../../support/notifications/an-outbox.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const { graceMs } = leaseTimes()
const ENDED = { types: ['batch.ended' as const] }

/** The position of the outbox is that of all organizations of a table. */
function open() {
  const table = memoryTable()
  const itemsOf = async (id: string) => {
    const query = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': batchKey(id).pk },
    }
    return (await table.query({ ...query, ConsistentRead: true })).items.map(({ sk }) => sk)
  }
  return { ...anOutbox(table), itemsOf }
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
    const outbox = open()
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
    const outbox = open()
    outbox.addWebhook({ types: ['execution.succeeded'] })
    await outbox.endBatch(await outbox.startBatch())
    outbox.addWebhook(ENDED)
    outbox.pass(10)
    await outbox.endBatch(await outbox.startBatch({ isDraft: true, webhookUrl: 'https://own.example/' }))
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    expect(outbox.messages()).toEqual([])
  })

  it('is no event of a trial, nor of its runs', async () => {
    const outbox = open()
    outbox.addWebhook({ types: ['execution.succeeded', 'batch.ended'] })
    const { batch } = anEndedTrial({ organizationId: '', agentId: '', versionId: '' }, {})
    await outbox.endBatch(await outbox.startBatch({ trial: batch.trial }))
    const replay = {
      ...{ tools: {}, models: 'live' as const, steps: 'live' as const, ignore: [], fromStep: 1 },
      ...{ executionId: system.newId(), isTrial: true, defaultModel: null },
    }
    await outbox.finish(await outbox.start({ replay }))
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    expect(outbox.messages()).toEqual([])
  })
})

describe('a delivery of the end of a batch', () => {
  it('is repeated by its message or by the timers, listed with those of runs, and sent again on request', async () => {
    const outbox = open()
    const { organizationId } = outbox
    const { id: destinationId } = outbox.addWebhook({ types: ['execution.succeeded', 'batch.ended'] })
    outbox.answers.set(destinationId, () => BROKEN)
    const batch = await outbox.startBatch()
    await outbox.endBatch(batch)
    await outbox.deliver()
    expect(outbox.messages()).toMatchObject([{ subject: { kind: 'batch', id: batch.id }, destinationId }])
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

    const run = await outbox.start()
    await outbox.finish(run)
    await outbox.deliver()
    const page = { limit: 10, after: null }
    const { items } = await outbox.stores.deliveries.list({ organizationId, destinationId, ...page })
    expect(items.map(({ subject }) => subject)).toEqual([
      { kind: 'execution', id: run.id },
      { kind: 'batch', id: batch.id },
    ])

    const request = { organizationId, destinationId, eventId: `evt_batch_${batch.id}_1` }
    expect(await redeliver(outbox.engine, request)).toMatchObject({ status: 'DELIVERED', attempts: 4 })
    for (const other of [
      { organizationId: system.newId() },
      { destinationId: system.newId() },
      { eventId: `evt_${batch.id}_1` },
      { eventId: `evt_batch_${batch.id}_2` },
      { eventId: `evt_batch_${run.id}_1` },
    ])
      expect(await redeliver(outbox.engine, { ...request, ...other })).toBeNull()
    expect(outbox.sent).toHaveLength(5)
  })

  it('is not made for a message that names another organization', async () => {
    const outbox = open()
    const webhook = outbox.addWebhook(ENDED)
    outbox.answers.set(webhook.id, () => BROKEN)
    const batch = await outbox.startBatch()
    await outbox.endBatch(batch)
    const subject = { kind: 'batch' as const, id: batch.id }
    const wrong = { subject, organizationId: system.newId() }
    outbox.dropMessages()
    await outbox.engine.queue.send(wrong)
    await outbox.deliver()
    expect(outbox.sent).toEqual([])
    await outbox.engine.queue.send({ ...wrong, organizationId: outbox.organizationId })
    await outbox.deliver()
    outbox.dropMessages()
    outbox.pass(10_000)
    await outbox.engine.queue.send({ ...wrong, destinationId: webhook.id, revision: 1 })
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(1)
    expect(await outbox.deliveriesOfBatch(batch.id)).toMatchObject([{ status: 'PENDING' }])
  })
})

describe('a batch that is deleted', () => {
  const failing = async () => {
    const outbox = open()
    const { id: destinationId } = outbox.addWebhook(ENDED)
    outbox.answers.set(destinationId, () => BROKEN)
    const batch = await outbox.startBatch()
    await outbox.endBatch(batch)
    const remove = async () => {
      const { batches } = outbox.stores
      await batches.hide({ batch, now: outbox.now() })
      await batches.remove({ batch })
    }
    return { ...outbox, batch, destinationId, remove }
  }

  it('has no events any more', async () => {
    const outbox = await failing()
    await outbox.stores.batches.hide({ ...outbox, now: outbox.now() })
    await outbox.deliver()
    outbox.pass(2 * graceMs)
    expect(await outbox.sweep()).toBe(0)
    await outbox.deliver()
    expect(outbox.sent).toEqual([])
  })

  it('takes its deliveries with it', async () => {
    const outbox = await failing()
    await outbox.deliver()
    expect(await outbox.itemsOf(outbox.batch.id)).toHaveLength(3)
    await outbox.remove()
    expect(await outbox.itemsOf(outbox.batch.id)).toEqual([])
    outbox.pass(graceMs)
    await outbox.sweep()
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(1)
  })

  it('leaves none if it is deleted while its end is being delivered', async () => {
    const outbox = await failing()
    outbox.answers.set(outbox.destinationId, async () => {
      await outbox.remove()
      return OK
    })
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(1)
    expect(await outbox.itemsOf(outbox.batch.id)).toEqual([])
  })
})
