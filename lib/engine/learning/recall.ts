import type { Execution } from '../../core/execution.ts'
import { type Example, MAX_CANDIDATES, type Teachers } from '../../core/learning.ts'
import type { ExecutionStore } from '../../core/ports.ts'
import type { Adapter } from '../../schema/adapt/adapt-input.ts'
import type { Validator } from '../../schema/validate/validate.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { chooseExamples } from './choose.ts'

type Params = {
  executions: ExecutionStore
  execution: Execution
  journal: Pick<Journal, 'recordExamples' | 'recorded'>
  checkOutput: Validator
  teachers: Teachers
  /** Adapter of the version that runs: example inputs are shown as it would receive them. */
  adapt: Adapter
}

/**
 * The examples of a run. They are chosen once, and their ids are recorded before the first model request: a worker that
 * resumes the run shows the same ones, except those deleted in the meantime.
 * @throws AttemptStopped `LeaseLost`
 */
export async function recallExamples(params: Params): Promise<Example[]> {
  const { executions, execution, journal, checkOutput, adapt, teachers } = params
  const { organizationId, agentId, tenantId, learnedFrom } = execution
  const learner = { organizationId, agentId, tenantId, teachers }
  const adapted = (examples: Example[]) =>
    examples.map((example) => ({ ...example, input: adapt(example.input).input }))
  if (learnedFrom) return adapted(await executions.getExamples({ ...learner, ids: learnedFrom }))
  // If the first steps ran without examples, none are added later.
  if (journal.recorded.length > 0) return []
  const candidates = adapted(await executions.listExamples({ ...learner, limit: MAX_CANDIDATES }))
  const chosen = chooseExamples({ execution, candidates, checkOutput })
  await journal.recordExamples(chosen.map(({ id }) => id))
  return chosen
}
