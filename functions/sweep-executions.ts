import { openStores } from '../lib/dynamodb/open-stores.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { reasonsOf, runCleanups, sweep, throwAny } from '../lib/engine/maintenance.ts'
import { withMetricsAndOutbox } from '../lib/engine/notifications/metrics-and-outbox.ts'
import { newOutboxMemory, sweepOutbox } from '../lib/engine/notifications/sweep-outbox.ts'
import { newRolloutMemory } from '../lib/engine/rollouts/compare-rollouts.ts'
import { watchRollouts } from '../lib/engine/rollouts/watch-rollouts.ts'
import { syncAgent } from '../lib/engine/schedules/sync-schedules.ts'
import { openDailyCost } from '../lib/engine/usage/daily-cost.ts'
import { foldUsage, newFoldMemory } from '../lib/engine/usage/fold.ts'
import { newSentTimers, sweepTimers } from '../lib/engine/waiting/sweep-timers.ts'
import { watchQuota } from '../lib/engine/watch-quota.ts'
import { logger } from '../lib/logger.ts'
import { recordDailyCost, recordOutboxAge } from '../lib/metrics.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const queue = openRunQueue()
const deliveryQueue = openDeliveryQueue()
const stores = withMetricsAndOutbox(openStores(), { queue: deliveryQueue, system })
const { executions, limits, steps, deliveries, usage, rates, tellAborted: tell } = stores
const memory = newOutboxMemory()
const foldMemory = newFoldMemory()
const rolloutMemory = newRolloutMemory()
const times = readTimes()
const sent = newSentTimers()
const readDailyCost = openDailyCost(stores)
const sync = (agent: { organizationId: string; agentId: string }) =>
  syncAgent({ ...stores, queue, system, times }, agent)

const sweepQuota = watchQuota(rates)

/** Normally, the totals of a minute are final 6 to 7 minutes after its end. */
const MAX_USAGE_DELAY_MINUTES = 30

/**
 * Runs every minute, so that no accepted execution is lost in a crash and no deleted one leaves content behind. No part
 * waits for another one, or ends because another one fails.
 */
export async function handler(): Promise<void> {
  const parts = await Promise.allSettled([
    sweepOpen(),
    runCleanups({ executions, system }),
    sweepTimers({ ...stores, queue, deliveryQueue, system, times, sync, sent }),
    sweepEvents(),
    recordDailyCost(readDailyCost),
    foldAndWatch(),
    sweepQuota(),
  ])
  throwAny(reasonsOf(parts), `of ${parts.length} parts of the sweep failed`)
}

async function sweepOpen() {
  const result = await sweep({ executions, limits, steps, queue, system, times })
  if (result.ended + result.enqueued > 0) logger.info('executions swept', result)
}

const sweepEvents = async () =>
  recordOutboxAge((await sweepOutbox({ deliveries, queue: deliveryQueue, system, times, memory })) / 1000)

/** Rollouts are judged by what is added up: also if that is not complete. */
async function foldAndWatch() {
  const folded = await Promise.allSettled([fold()])
  const watched = await Promise.allSettled([
    watchRollouts({ ...stores, system, tell, memory: rolloutMemory }),
  ])
  throwAny(reasonsOf([...folded, ...watched]), 'of 2 parts of usage failed')
}

async function fold() {
  const minutes = Math.floor((await foldUsage({ usage, system, memory: foldMemory })) / 60_000)
  if (minutes > MAX_USAGE_DELAY_MINUTES) logger.warn('usage is not added up in time', { minutes })
}
