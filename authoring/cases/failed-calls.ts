import { FINAL_ANSWER } from '../../lib/core/model.ts'
import type { StepStore } from '../../lib/core/step.ts'

/** A tool call whose result was an error, which only the model has seen. */
export type FailedCall = { tool: string; error: string }

/** The failed tool calls of a run, with those of agents that it called. */
export async function findFailedCalls(
  steps: Pick<StepStore, 'read'>,
  executionId: string,
): Promise<FailedCall[]> {
  const failed: FailedCall[] = []
  for (const { step, results } of await steps.read({ executionId })) {
    if (step.kind !== 'MODEL') continue
    for (const { id, name } of step.calls) {
      const result = results.get(id)?.result
      if (!result || name === FINAL_ANSWER) continue
      if (!result.ok) failed.push({ tool: name, error: result.error })
      else if (result.executionId) failed.push(...(await findFailedCalls(steps, result.executionId)))
    }
  }
  return failed
}
