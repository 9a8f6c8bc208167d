import { resolveVersionOf } from '../../agents/resolve-version.ts'
import { describeMedia } from '../../core/describe-media.ts'
import type { Violation } from '../../core/errors.ts'
import { type Execution, type Feedback, isFinal } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { isRejection } from '../../core/learning.ts'
import { FeedbackMismatch } from '../../core/request-errors.ts'
import { ExecutionInProgress, ExecutionNotFound, VersionNotFound } from '../../core/resource-errors.ts'
import { readSetting } from '../../environment.ts'
import { outputValidatorOf } from '../compiled-schemas.ts'
import { type Engine, isoNow } from '../engine.ts'
import { embedInput } from './embed-input.ts'

type Parts = Pick<Engine, 'agents' | 'executions' | 'system' | 'environment'>
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
  const { executions, system, environment = process.env } = parts
  const dated = { ...feedback, updatedAt: isoNow(system) }
  const { correctedOutput } = dated
  const isExample = correctedOutput !== null || !isRejection(dated)
  // Otherwise one that is missing or open is found by the write.
  const execution =
    correctedOutput || (isExample && readSetting('embeddingModel', environment))
      ? await readFinal(parts, { organizationId, id })
      : null
  if (execution && correctedOutput) await checkCorrection(parts, execution, correctedOutput)
  const teaches = execution !== null && execution.source !== 'TRIAL'
  const embedding = teaches ? await embedInput(describeMedia(execution.input), environment) : null
  const writer = system.newId()
  const params = { organizationId, id, feedback: dated, isReview, embedding, writer }
  const result = await executions.giveFeedback(params)
  if (result === 'missing') throw new ExecutionNotFound()
  if (result === 'open') throw new ExecutionInProgress(id)
  return result
}

async function readFinal(
  { executions }: Parts,
  id: Pick<Params, 'organizationId' | 'id'>,
): Promise<Execution> {
  const execution = await executions.get(id)
  if (!execution) throw new ExecutionNotFound()
  if (!isFinal(execution)) throw new ExecutionInProgress(id.id)
  return execution
}

async function checkCorrection({ agents }: Parts, execution: Execution, output: JsonObject): Promise<void> {
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
