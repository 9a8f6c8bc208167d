import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { leaseTimes } from '../../lib/core/lease-times.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { redeliver } from '../../lib/engine/notifications/deliver.ts'
import { parseDeliveryMessage } from '../../lib/sqs/delivery-queue.ts'
import { anOutbox } from '../support/notifications/an-outbox.ts'
import { EMULATORS } from '../support/tables/emulators.ts'
import { fromLine } from './baseline-files.ts'
import { createTable } from './create-table.ts'

const read = (name: string) =>
  readFileSync(new URL(`../fixtures/deliveries/${name}`, import.meta.url), 'utf8')
/** Of a table and a queue before events had subjects. `marked`: an execution whose end nobody was told of. */
const manifest = JSON.parse(read('manifest.json'))
const { organizationId, webhookId: destinationId, executions, exportedAt } = manifest
const items = read('table.jsonl').trim().split('\n').map(fromLine)

describe.each(EMULATORS)('deliveries of the previous release, on %s', (emulator) => {
  let tableName: string
  let outbox: ReturnType<typeof anOutbox>
  beforeAll(async () => {
    const endpoint = inject(emulator)
    const table = await createTable(endpoint, items)
    tableName = table.name
    outbox = anOutbox(openTable({ TABLE_NAME: tableName, DYNAMODB_ENDPOINT: endpoint }), {
      organizationId,
      startedAt: exportedAt,
    })
    outbox.addWebhook({ id: destinationId })
    return () => table.delete()
  })

  it('are listed', async () => {
    const page = { limit: 10, after: null }
    const { items } = await outbox.stores.deliveries.list({ organizationId, destinationId, ...page })
    const subject = { kind: 'execution', id: executions.pending }
    expect(items).toMatchObject([{ subject, type: 'execution.succeeded', status: 'PENDING', attempts: 1 }])
  })

  it('are found by their timer, and executions by their mark', async () => {
    outbox.pass(6 * leaseTimes().graceMs)
    await outbox.sweep()
    expect(outbox.messages()).toEqual(
      expect.arrayContaining(
        manifest.messages.map((message: object) =>
          expect.objectContaining(parseDeliveryMessage(JSON.stringify(message))),
        ),
      ),
    )
    expect(outbox.messages()).toHaveLength(2)
    outbox.dropMessages()
  })

  it('continue with the messages of the queue', async () => {
    for (const message of manifest.messages)
      await outbox.engine.queue.send(parseDeliveryMessage(JSON.stringify(message)))
    await outbox.deliver()
    expect(outbox.sent.map(({ eventId }) => eventId).sort()).toEqual(
      [executions.pending, executions.marked].map((id) => `evt_${id}_2`).sort(),
    )
    expect(await outbox.deliveriesOf(executions.pending)).toMatchObject([
      { status: 'DELIVERED', attempts: 2 },
    ])
  })

  it('are sent again on request', async () => {
    const request = { organizationId, destinationId, eventId: `evt_${executions.pending}_2` }
    expect(await redeliver(outbox.engine, request)).toMatchObject({ status: 'DELIVERED', attempts: 3 })
  })
})
