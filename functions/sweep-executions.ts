import { openMeasuredStores } from '../lib/dynamodb/open-measured-stores.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { runCleanups, sweep } from '../lib/engine/maintenance.ts'
import { withOutbox } from '../lib/engine/notifications/outbox.ts'
import { newOutboxMemory, sweepOutbox } from '../lib/engine/notifications/sweep-outbox.ts'
import { syncAgent } from '../lib/engine/schedules/sync-schedules.ts'
import { openDailyCost } from '../lib/engine/usage/daily-cost.ts'
import { foldUsage, newFoldMemory } from '../lib/engine/usage/fold.ts'
import { newSentTimers, sweepTimers } from '../lib/engine/waiting/sweep-timers.ts'
import { logger } from '../lib/logger.ts'
import { recordDailyCost, recordOutboxAge } from '../lib/metrics.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const queue = openRunQueue()
const deliveryQueue = openDeliveryQueue()
const stores = withOutbox(openMeasuredStores(), { queue: deliveryQueue, system })
const { executions, limits, steps, deliveries, usage } = stores
const memory = newOutboxMemory()
const foldMemory = newFoldMemory()
const times = readTimes()
const sent = newSentTimers()
const readDailyCost = openDailyCost(stores)
const sync = (agent: { organizationId: string; agentId: string }) =>
  syncAgent({ ...stores, queue, system, times }, agent)

/** Runs every minute, so that no accepted execution is lost in a crash and no deleted one leaves content behind. */
export async function handler(): Promise<void> {
  const cleaned = runCleanups({ executions, system })
  // Reported after the sweep, which must not wait for it.
  cleaned.catch(() => undefined)
  const timers = sweepTimers({ ...stores, queue, deliveryQueue, system, times, sync, sent })
  timers.catch(() => undefined)
  const outbox = sweepOutbox({ deliveries, queue: deliveryQueue, system, times, memory })
  outbox.catch(() => undefined)
  const cost = recordDailyCost(readDailyCost)
  cost.catch(() => undefined)
  const folded = foldUsage({ usage, system, memory: foldMemory })
  folded.catch(() => undefined)
  const result = await sweep({ executions, limits, steps, queue, system, times })
  if (result.ended + result.enqueued > 0) logger.info('executions swept', result)
  await cleaned
  await timers
  await cost
  recordOutboxAge((await outbox) / 1000)
  await folded
}
