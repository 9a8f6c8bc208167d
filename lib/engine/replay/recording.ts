import type { Execution } from '../../core/execution.ts'
import type { RecordedStep } from '../../core/step.ts'
import type { Engine } from '../engine.ts'

/** What a replay takes from: an execution with its output and feedback, and its steps. */
export type Recording = { original: Execution; steps: RecordedStep[] }

/**
 * The recording of the original, as it is now. A copy of a cached result has the steps of the execution that it copies.
 * Null if one of them was deleted.
 * @throws Unavailable
 */
export async function openRecording(
  { executions, steps }: Pick<Engine, 'executions' | 'steps'>,
  { organizationId, replay }: Pick<Execution, 'organizationId' | 'replay'>,
): Promise<Recording | null> {
  if (!replay) return null
  const original = await executions.get({ organizationId, id: replay.executionId })
  if (!original) return null
  const { cachedExecutionId } = original
  if (cachedExecutionId && !(await executions.getStatus({ organizationId, id: cachedExecutionId })))
    return null
  return { original, steps: await steps.read({ executionId: cachedExecutionId ?? original.id }) }
}
