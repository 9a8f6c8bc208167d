import { resolveVersion } from '../../agents/resolve-version.ts'
import {
  AgentArchived,
  ServiceError,
  TooManyRequests,
  Unavailable,
  VersionRetired,
} from '../../core/errors.ts'
import type { Execution } from '../../core/execution.ts'
import { type Firing, firingExecutionId, type Schedule } from '../../core/schedule.ts'
import { describeCause, logger } from '../../logger.ts'
import type { Engine } from '../engine.ts'
import { record, type SubmitEngine } from '../submit/accept.ts'
import type { RunRequest } from '../submit/run-request.ts'
import { toScheduledRun } from './check-schedule.ts'

/** What becomes of a firing that is due; `wait`: too many executions are open. @throws Unavailable */
export async function startFiring(
  engine: Pick<SubmitEngine, 'admit'> & Engine,
  schedule: Schedule,
  at: number,
): Promise<Firing | 'wait'> {
  const scheduledFor = new Date(at).toISOString()
  const executionId = firingExecutionId(schedule, at)
  const started: Firing = { scheduledFor, status: 'STARTED', executionId, code: null }
  try {
    const origin = { schedule: { name: schedule.name, at: scheduledFor } }
    const request = { ...(await prepare(engine, schedule)), ...origin }
    const recorded = await record(engine, request, { executionId, idempotencyId: null, isBound: true }, null)
    if (recorded && mayNotBeSent(recorded.execution)) await enqueue(engine, recorded.execution)
    return started
  } catch (error) {
    if (error instanceof Unavailable) throw error
    // A process may have recorded it, and died before it could say so.
    const existing = await engine.executions.findExisting({ ids: [executionId], orRefused: true })
    if (existing.size > 0) return started
    if (error instanceof TooManyRequests) return 'wait'
    return { scheduledFor, status: 'FAILED', executionId: null, code: codeOf(error, schedule) }
  }
}

async function prepare({ agents }: Pick<Engine, 'agents'>, schedule: Schedule): Promise<RunRequest> {
  const { organizationId, agentId: idOrSlug, versionId, tokenId } = schedule
  const reference = { store: agents, organizationId, idOrSlug, versionId: versionId ?? undefined }
  const { version, isArchived, isRetired } = await resolveVersion(reference)
  if (isArchived) throw new AgentArchived()
  if (isRetired) throw new VersionRetired('run')
  return { ...(await toScheduledRun(version, schedule)), tokenId }
}

/** Also if another process recorded it, which may have died before it sent the message. */
const mayNotBeSent = ({ status, attempts, lease }: Execution): boolean =>
  status === 'IN_PROGRESS' && attempts === 0 && !lease

/** Best effort: the sweeper enqueues what could not be sent. */
async function enqueue({ queue }: Pick<Engine, 'queue'>, execution: Execution): Promise<void> {
  const { id: executionId, organizationId, tenantId, sharesWorker } = execution
  await queue.send({ executionId, organizationId, tenantId, sharesWorker }).catch(() => undefined)
}

function codeOf(error: unknown, { agentId, name }: Schedule): string {
  if (error instanceof ServiceError) return error.code
  logger.error('firing failed', { agentId, schedule: name, cause: describeCause(error) })
  return 'InternalError'
}
