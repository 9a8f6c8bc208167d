import { idempotencyKeyOf } from '../../access/permissions.ts'
import { ServiceError, Unavailable } from '../../core/errors.ts'
import type { Execution } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import { LimitExceeded, TooManyRequests } from '../../core/limit-errors.ts'
import { type Firing, firingExecutionId, type Schedule, toFiring } from '../../core/schedule.ts'
import { describeCause, logger } from '../../logger.ts'
import type { Engine } from '../engine.ts'
import { enqueue, type SubmitEngine, submitAsync } from '../submit/accept.ts'
import { record } from '../submit/record.ts'
import { toScheduledRun } from './check-schedule.ts'
import { getSchedule, type ScheduleReference, type ScheduleStores } from './schedules.ts'

/** What becomes of a firing that is due; `wait`: too many executions are open. @throws Unavailable */
export async function startFiring(
  engine: Pick<SubmitEngine, 'admit'> & Engine,
  schedule: Schedule,
  at: number,
): Promise<Firing | 'wait'> {
  const { name, tokenId } = schedule
  const executionId = firingExecutionId(schedule, at)
  const started = toFiring(at, 'STARTED', { executionId })
  try {
    const origin = { tokenId, schedule: { name, at: started.scheduledFor } }
    const request = { ...(await toScheduledRun(engine.agents, schedule, executionId)), ...origin }
    const recorded = await record(engine, request, { executionId, idempotencyId: null, isBound: true }, null)
    if (recorded && mayNotBeSent(recorded.execution)) await enqueue(engine, recorded.execution)
    return started
  } catch (error) {
    if (error instanceof Unavailable) throw error
    // A process may have recorded it, and died before it could say so.
    const existing = await engine.executions.findExisting({ ids: [executionId], orRefused: true })
    if (existing.size > 0) return started
    if (error instanceof TooManyRequests || isFull(error)) return 'wait'
    return toFiring(at, 'FAILED', { code: codeOf(error, schedule) })
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof LimitExceeded && error.reached.limit === 'maxOpenExecutions'

/** Also if another process recorded it, which may have died before it sent the message. */
const mayNotBeSent = ({ status, attempts, lease }: Execution): boolean =>
  status === 'IN_PROGRESS' && attempts === 0 && !lease

function codeOf(error: unknown, { agentId, name }: Schedule): string {
  if (error instanceof ServiceError) return error.code
  logger.error('firing failed', { agentId, schedule: name, cause: describeCause(error) })
  return 'InternalError'
}

/**
 * Starts an execution of a schedule now, also of one that is not enabled. It is not one of its firings: none is skipped
 * because of it.
 * @throws AgentNotFound, ScheduleNotFound, TooManyRequests, IdempotencyKeyReused, and what `toScheduledRun` throws
 */
export async function runSchedule(
  engine: SubmitEngine & ScheduleStores,
  { idempotencyKey, ...reference }: ScheduleReference & { idempotencyKey: string | undefined },
): Promise<Execution> {
  const { access } = reference
  const schedule = await getSchedule(engine, reference)
  const { name } = schedule
  const newId = engine.system.newId()
  const request = await toScheduledRun(engine.agents, schedule, newId)
  return submitAsync(engine, {
    ...request,
    newId,
    tokenId: access.tokenId || null,
    schedule: { name, at: new Date(engine.system.now()).toISOString() },
    idempotency:
      idempotencyKey === undefined
        ? null
        : // Not one of a run of the agent with the same key.
          {
            key: `schedules/${name}\n${idempotencyKeyOf(access, idempotencyKey)}`,
            requestHash: hashJson(name),
          },
  })
}
