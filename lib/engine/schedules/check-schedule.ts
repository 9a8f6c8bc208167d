import { checkCron } from '../../agents/cron.ts'
import { refusalOf, resolveVersion } from '../../agents/resolve-version.ts'
import type { Violation } from '../../core/errors.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { LimitStore } from '../../core/ports/usage.ts'
import {
  InputSchemaMismatch,
  InvalidModelOverride,
  InvalidQueryParameter,
} from '../../core/request-errors.ts'
import { VersionNotFound } from '../../core/resource-errors.ts'
import type { Schedule } from '../../core/schedule.ts'
import { inputValidatorOf } from '../compiled-schemas.ts'
import { checkLimitedModel } from '../submit/limited-models.ts'
import { buildRunRequest, type RunRequest } from '../submit/run-request.ts'
import type { ScheduleDefinition } from './define-schedule.ts'

/**
 * Refuses a schedule that could not start an execution now. One that is not enabled may be as it is: what has begun to
 * fail can always be paused.
 * @throws InputSchemaMismatch with paths of the request body; AgentArchived, VersionRetired; VersionNotFound for an
 * agent without a current version
 */
export async function checkSchedule(
  { agents, limits }: { agents: AgentStore; limits?: Pick<LimitStore, 'hasAny' | 'get'> },
  { organizationId, agentId }: { organizationId: string; agentId: string },
  definition: ScheduleDefinition,
): Promise<void> {
  const problems = checkCron(definition.cron, definition.timezone)
  if (problems.length > 0)
    throw new InputSchemaMismatch(problems.map(({ path, message }) => ({ path, message: `/${message}` })))
  if (!definition.enabled) return
  try {
    const run = await toScheduledRun(agents, { organizationId, agentId, ...definition }, null)
    await checkLimitedModel(limits, { ...run, ...run.options })
  } catch (error) {
    throw inBody(error, definition)
  }
}

type Scheduled = Pick<Schedule, 'organizationId' | 'agentId'> &
  Pick<ScheduleDefinition, 'versionId' | 'input' | 'tenantId' | 'options'>

/**
 * The run of a schedule. Nobody reads the answer: an input that does not match after its adaptation is an error.
 * @param executionId null: none is started
 * @throws AgentNotFound, VersionNotFound, AgentArchived, VersionRetired, and what `buildRunRequest` throws
 */
export async function toScheduledRun(
  store: AgentStore,
  { organizationId, agentId: idOrSlug, versionId, input, tenantId, options }: Scheduled,
  executionId: string | null,
): Promise<RunRequest> {
  const resolved = await resolveVersion({
    store,
    organizationId,
    idOrSlug,
    versionId: versionId ?? undefined,
    run: executionId === null ? null : { tenantId, executionId },
  })
  const refusal = refusalOf(resolved)
  if (refusal) throw refusal
  const { version, selectedBy } = resolved
  const request = await buildRunRequest(version, input, { ...options, tenantId: tenantId ?? undefined })
  const violations = inputValidatorOf(version)(request.adaptedInput)
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
  return { ...request, selectedBy }
}

/** What is wrong with a run, as what is wrong with the body of a schedule. */
function inBody(error: unknown, { versionId }: ScheduleDefinition): unknown {
  if (error instanceof VersionNotFound && versionId !== null) {
    const message =
      '/version must be the ID of a version of this agent, or null for the current one of the time.'
    return new InputSchemaMismatch([{ path: '/version', message }])
  }
  if (error instanceof InputSchemaMismatch)
    return new InputSchemaMismatch((error.errors ?? []).map((violation) => under('/input', violation)))
  if (error instanceof InvalidModelOverride)
    return new InputSchemaMismatch([{ path: '/options/model', message: error.message }])
  if (error instanceof InvalidQueryParameter) {
    const violations = error.errors ?? []
    return new InputSchemaMismatch(
      violations.map(({ path, message }) => ({
        path: `/options/${path}`,
        message: message.startsWith(path) ? `/options/${message}` : message,
      })),
    )
  }
  return error
}

/** Messages begin with the path, or speak of the value. */
const under = (prefix: string, { path, message }: Violation): Violation => ({
  path: `${prefix}${path}`,
  message: message.startsWith('/') ? `${prefix}${message}` : message.replace(/^The value/, prefix),
})
