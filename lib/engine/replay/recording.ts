import type { Version } from '../../core/agent.ts'
import type { Execution } from '../../core/execution.ts'
import { teachersOf } from '../../core/learning.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Recording } from '../../core/recording.ts'
import type { StepStore } from '../../core/step.ts'

/**
 * The recording of the original, as it is now. A copy of a cached result has the steps of the execution that it copies.
 * Null if one of them was deleted. Its feedback is what counts for the version that repeats it.
 * @throws Unavailable
 */
export async function openRecording(
  { executions, steps }: { executions: ExecutionStore; steps: StepStore },
  { organizationId, replay }: Pick<Execution, 'organizationId' | 'replay'>,
  version: Pick<Version, 'learning'>,
): Promise<Recording | null> {
  if (!replay) return null
  const original = await executions.get({ organizationId, id: replay.executionId })
  if (!original) return null
  const id = original.cachedExecutionId ?? original.id
  const recorded = await steps.read({ executionId: id })
  // A deletion deletes the record first: the steps were complete.
  const isComplete = (await executions.getStatus({ organizationId, id })) !== null
  if (!isComplete) return null
  const given = { organizationId, ids: original.feedback ? [original.id] : [], teachers: teachersOf(version) }
  original.feedback = (await executions.readFeedback(given).next()).value ?? null
  return { original, steps: recorded }
}
