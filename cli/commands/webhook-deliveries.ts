import type { Delivery } from '../../clients/typescript/src/index.ts'
import { ID } from '../batches/shared-commands.ts'
import type { CliCommand } from '../command.ts'
import { relativeTime, textTable, toSingleLine } from '../format.ts'
import { parseLimit } from '../options.ts'
import { take } from '../take.ts'

const EVENT = `evt_${ID}_2`

/** Commands on secrets and on what webhooks have received. */
export function addDeliveriesCommands(webhooks: CliCommand): void {
  webhooks
    .command('test')
    .description('Send a test event. The exit code is 1 if the receiver does not accept it.')
    .argument('<id>', 'ID of the webhook')
    .examples(`webhooks test ${ID}`)
    .runWithService('manage', 'test the webhook', async (client, _, [id = '']) => {
      const result = await client.testWebhook(id)
      const text = result.delivered
        ? `The receiver accepted the test event with ${result.responseStatus}.`
        : `The receiver did not accept the test event: ${toSingleLine(result.error ?? '')}`
      return { json: result, text, hasFailed: !result.delivered }
    })
  webhooks
    .command('rotate')
    .description('Replace the secret. The new one is shown once; the previous one stays valid for a day.')
    .argument('<id>', 'ID of the webhook; or default, for the URLs that are given with runs and batches')
    .examples(`webhooks rotate ${ID}`, 'webhooks rotate default')
    .runWithService('manage', 'rotate the secret', async (client, _, [id = '']) => {
      const rotated = await client.rotateWebhook(id)
      const { previousSecretExpiresAt: until } = rotated
      const note = `${until ? `The previous secret is valid until ${until}. ` : ''}Save this one now: it is not shown again.`
      return { json: rotated, text: rotated.secret, note }
    })
  webhooks
    .command('deliveries')
    .description('List the deliveries of events to a webhook, newest first.')
    .argument('<id>', 'ID of the webhook; or default, for the URLs that are given with runs and batches')
    .option('--limit <number>', 'how many (default: 50)', parseLimit)
    .examples(`webhooks deliveries ${ID} --limit 10`)
    .runWithService<{ limit?: number }>(
      'read',
      'list the deliveries',
      async (client, { limit = 50 }, [id = '']) => {
        const found = await take(client.deliveries(id, { limit: Math.min(limit, 100) }), limit)
        const rows = found.map((delivery) => [
          delivery.id,
          delivery.type,
          describeDelivery(delivery),
          relativeTime(delivery.attemptedAt),
        ])
        const header = ['DELIVERY', 'TYPE', 'STATUS', 'LAST ATTEMPT']
        return { json: found, text: textTable(header, rows, 'Nothing was sent to this webhook yet.') }
      },
    )
  webhooks
    .command('redeliver')
    .description('Send an event again. The exit code is 1 if the receiver does not accept it.')
    .argument('<id>', 'ID of the webhook, or default')
    .argument('<deliveryId>', 'ID of the delivery, as listed by webhooks deliveries')
    .examples(`webhooks redeliver ${ID} ${EVENT}`)
    .runWithService('manage', 'redeliver the event', async (client, _, [id = '', deliveryId = '']) => {
      const delivery = await client.redeliver(id, deliveryId)
      const text = `${delivery.id}: ${toSingleLine(describeDelivery(delivery))}`
      return { json: delivery, text, hasFailed: delivery.status !== 'DELIVERED' }
    })
}

function describeDelivery({ status, attempts, responseStatus, error, nextAttemptAt }: Delivery): string {
  const count = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`
  if (status === 'DELIVERED') return `delivered with ${responseStatus}, ${count}`
  const next = nextAttemptAt ? `, next ${relativeTime(nextAttemptAt)}` : ''
  return `${status.toLowerCase()}, ${count}${next}: ${error ?? ''}`
}
