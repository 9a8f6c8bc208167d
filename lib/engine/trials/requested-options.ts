import { resolveVersionOf } from '../../agents/resolve-version.ts'
import type { Execution } from '../../core/execution.ts'
import type { AgentStore } from '../../core/ports.ts'
import { toOverrides } from '../batches/trial-line.ts'

/** What a request chose for its execution, to repeat it. */
export async function requestedOptionsOf(agents: AgentStore, execution: Execution) {
  const version = await resolveVersionOf(agents, execution)
  const { useDynamicLearning } = execution.options
  const chosen = toOverrides(execution, version, version)
  return {
    requestedOptions: { ...chosen, useDynamicLearning, useCache: execution.cache !== null },
  }
}
