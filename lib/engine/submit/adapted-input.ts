import { resolveVersionOf } from '../../agents/version-cache.ts'
import type { Execution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json.ts'
import type { AgentStore } from '../../core/ports.ts'

/**
 * What the agent received, if it is not the input as sent. It is not stored: it derives from the input and the version. Empty if
 * the version is deleted.
 */
export async function adaptedInputOf(
  agents: AgentStore,
  execution: Execution,
): Promise<{ adaptedInput?: JsonObject }> {
  if (execution.inputAdaptations.length === 0) return {}
  const version = await resolveVersionOf(agents, execution)
  if (!version) return {}
  // Loaded on demand: it is large, and rarely asked for.
  const { adapterOf } = await import('../compiled-adapter.ts')
  return { adaptedInput: adapterOf(version)(execution.input).input }
}
