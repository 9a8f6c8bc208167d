import { idempotencyKeyOf } from '../../access/permissions.ts'
import type { Execution } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import { type SubmitEngine, submitAsync } from '../submit/accept.ts'
import { toScheduledRun } from './check-schedule.ts'
import { getSchedule, type ScheduleReference, type ScheduleStores } from './schedules.ts'

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
