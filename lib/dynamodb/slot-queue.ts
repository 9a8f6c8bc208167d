import { MAX_WAIT_DAYS } from '../core/limits.ts'
import type { QueuedRun, SlotQueue } from '../core/ports/queues.ts'
import { INTERVAL_MS } from '../core/usage.ts'
import { queuedRunKey } from './table/keys.ts'
import { timeToLive } from './table/retention.ts'
import { pick, type Table } from './table/table.ts'

/** Longer than an execution can wait. One that has ended leaves the queue, unless its process died. */
const KEPT_MS = 2 * MAX_WAIT_DAYS.max * INTERVAL_MS.day

/** A partition for each tenant or agent with executions that wait, sorted by the time of their acceptance. */
export const slotQueue = (table: Table): SlotQueue => ({
  async enterQueue({ subject, run }) {
    const expiry = timeToLive(Date.parse(run.createdAt) + KEPT_MS)
    await table.put({ ...queuedRunKey(subject, run), ...run, ...expiry })
  },

  async listQueue({ organizationId, subject, limit }) {
    const { pk } = queuedRunKey(subject, { organizationId, executionId: '', createdAt: '' })
    const { items } = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
      Limit: limit,
    })
    return items.map((item) => pick(item as QueuedRun, RUN))
  },

  async leaveQueue({ subject, run }) {
    await table.delete(queuedRunKey(subject, run))
  },
})

const RUN = [
  'executionId',
  'organizationId',
  'tenantId',
  'createdAt',
  'sharesWorker',
  'isLine',
] as const satisfies (keyof QueuedRun)[]
