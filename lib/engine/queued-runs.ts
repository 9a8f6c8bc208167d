import { type Execution, type ExecutionSummary, isFinal } from '../core/execution.ts'
import type { ExecutionStore } from '../core/ports/executions.ts'
import type { QueuedRun, RunQueue, SlotQueue } from '../core/ports/queues.ts'
import type { System } from '../core/ports/system.ts'
import type { LimitStore, SubjectKey } from '../core/ports/usage.ts'
import { queuedOf } from './engine.ts'

type Stores = {
  limits: LimitStore & SlotQueue
  executions: Pick<ExecutionStore, 'getSummary'>
  queue: RunQueue
  system: Pick<System, 'now'>
}

/** Of a queue, read at once: mostly, one slot has become free. */
const PAGE = 10
/** Runs that one process starts. Each of them starts further ones when it ends. */
const MAX_STARTED = 50

const toQueuedRun = (
  execution: Parameters<typeof queuedOf>[0] & Pick<Execution, 'createdAt'>,
): QueuedRun => ({
  ...queuedOf(execution),
  createdAt: execution.createdAt,
})

/** Lets a queued execution wait for its turn, which may have come already. @throws Unavailable */
export async function joinQueue(stores: Stores, execution: ExecutionSummary): Promise<void> {
  if (await hasTurn(stores, execution, { isNew: true }))
    await stores.queue.send({ ...queuedOf(execution), wakes: true })
}

/**
 * Whether it is the turn of a queued execution, which then has all its slots. It waits for one after the other, always
 * in the same order, so that none waits for another in a circle.
 * @param isNew it has just been accepted: those before it, if they are many, look for free slots themselves
 * @throws Unavailable
 */
export async function hasTurn(
  stores: Stores,
  execution: ExecutionSummary,
  { isNew = false } = {},
): Promise<boolean> {
  const { limits } = stores
  const { organizationId, id: executionId } = execution
  for (const subject of execution.limits) {
    const slot = { organizationId, subject }
    if (await mayPass(limits, slot, execution)) continue
    await limits.enterQueue({ subject, run: toQueuedRun(execution) })
    if (isNew && !(await isNear(limits, slot, executionId))) return false
    await startQueued(stores, slot, executionId)
    if (!(await mayPass(limits, slot, execution))) return false
  }
  return true
}

/** A queue that nobody limits any more lets everybody pass. */
async function mayPass(
  limits: Stores['limits'],
  slot: SubjectKey,
  execution: ExecutionSummary,
): Promise<boolean> {
  if (await limits.hasSlot({ ...slot, executionId: execution.id })) return true
  if ((await maxOf(limits, slot)) !== null) return false
  await limits.leaveQueue({ subject: slot.subject, run: toQueuedRun(execution) })
  return true
}

async function isNear(limits: SlotQueue, slot: SubjectKey, executionId: string): Promise<boolean> {
  const first = await limits.listQueue({ ...slot, limit: PAGE })
  return first.some((run) => run.executionId === executionId)
}

const maxOf = async (limits: LimitStore, slot: SubjectKey): Promise<number | null> =>
  (await limits.get(slot))?.maxOpenExecutions ?? null

/**
 * Gives the free slots of a subject to the executions that wait for one, in the order in which they were accepted, and
 * sends the messages that resume them. Everybody may do so at any time, also at the same time. A run leaves the queue
 * after its message was sent, so that whoever dies in between is replaced by the next one.
 * @param own a run that needs no message
 * @throws Unavailable
 */
export async function startQueued(stores: Stores, slot: SubjectKey, own?: string): Promise<void> {
  const { limits, system } = stores
  let max: number | null | undefined
  for (let started = 0; started < MAX_STARTED; ) {
    const runs = await limits.listQueue({ ...slot, limit: PAGE })
    if (runs.length === 0) return
    max ??= await maxOf(limits, slot)
    for (const run of runs) {
      const { executionId } = run
      const isFull =
        max !== null && !(await limits.takeSlot({ ...slot, max, executionId, now: system.now() }))
      if (isFull) return
      await startOne(stores, slot, run, own)
      started++
    }
  }
}

async function startOne(
  { limits, executions, queue }: Stores,
  { organizationId, subject }: SubjectKey,
  run: QueuedRun,
  own: string | undefined,
): Promise<void> {
  const { createdAt: _, ...message } = run
  const { executionId } = run
  const execution = await executions.getSummary({ organizationId, id: executionId })
  // It may have ended before it got the slot. What ends it after this read releases the slot.
  if (!execution || isFinal(execution)) await limits.releaseSlot({ organizationId, subject, executionId })
  else if (execution.suspension && executionId !== own) await queue.send({ ...message, wakes: true })
  await limits.leaveQueue({ subject, run })
}

/**
 * Releases what an execution holds that has ended, for those that wait for it. Without a queue, their timers start
 * them.
 * @throws Unavailable
 */
export async function releaseSlots(
  { queue, ...stores }: Omit<Stores, 'queue'> & Partial<Pick<Stores, 'queue'>>,
  ended: ExecutionSummary,
): Promise<void> {
  const { organizationId, id: executionId } = ended
  await Promise.all(
    ended.limits.map(async (subject) => {
      const slot = { organizationId, subject }
      await stores.limits.leaveQueue({ subject, run: toQueuedRun(ended) })
      await stores.limits.releaseSlot({ ...slot, executionId })
      if (queue) await startQueued({ ...stores, queue }, slot)
    }),
  )
}
