import { resolveVersionOf } from '../../agents/resolve-version.ts'
import {
  ExecutionInProgress,
  ExecutionNotFound,
  FeedbackMismatch,
  VersionNotFound,
  type Violation,
} from '../../core/errors.ts'
import { type Feedback, isFinal } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { outputValidatorOf } from '../compiled-schemas.ts'
import { type Engine, isoNow } from '../engine.ts'

type Parts = Pick<Engine, 'agents' | 'executions' | 'system'>
type Params = {
  organizationId: string
  id: string
  feedback: Omit<Feedback, 'updatedAt'>
  /** Whether it comes from a token that may teach. */
  isReview: boolean
}

/**
 * Sets the feedback of a final execution, replacing earlier feedback.
 * @throws ExecutionNotFound, ExecutionInProgress, FeedbackMismatch
 */
export async function giveFeedback(parts: Parts, { organizationId, id, feedback, isReview }: Params) {
  const { executions, system } = parts
  if (feedback.correctedOutput) await checkCorrection(parts, { organizationId, id }, feedback.correctedOutput)
  const dated = { ...feedback, updatedAt: isoNow(system) }
  const writer = system.newId()
  const result = await executions.giveFeedback({ organizationId, id, feedback: dated, isReview, writer })
  if (result === 'missing') throw new ExecutionNotFound()
  if (result === 'open') throw new ExecutionInProgress(id)
  return result
}

async function checkCorrection(
  { agents, executions }: Parts,
  { organizationId, id }: Pick<Params, 'organizationId' | 'id'>,
  output: JsonObject,
): Promise<void> {
  const execution = await executions.get({ organizationId, id })
  if (!execution) throw new ExecutionNotFound()
  if (!isFinal(execution)) throw new ExecutionInProgress(id)
  const version = await resolveVersionOf(agents, execution)
  if (!version) throw new VersionNotFound()
  const violations = outputValidatorOf(version)(output)
  if (violations.length > 0) throw new FeedbackMismatch(violations.map(inRequestBody))
}

/** A violation in the output as a violation in the request body. */
function inRequestBody({ path, message }: Violation): Violation {
  const text = path === '' ? message.replace(/^The value/, '') : message
  return { path: `/correctedOutput${path}`, message: `/correctedOutput${text}` }
}
