import type { Version } from '../../core/agent.ts'
import { Unavailable } from '../../core/errors.ts'
import { type Execution, failure, type Outcome } from '../../core/execution.ts'
import type { AgentStore } from '../../core/ports.ts'
import { LeaseLost } from '../checkpoints/journal.ts'
import { outputCheckOf } from '../compiled-schemas.ts'
import { loadCodeAgent } from './load.ts'
import type { StepFunction } from './steps.ts'
import { validateOutput } from './validate-output.ts'

type Params = {
  store: AgentStore
  version: Version
  execution: Execution
  step: StepFunction
  signal: AbortSignal
}

/** Runs a code agent to its outcome. Whatever it throws is an outcome too; only the store's faults are thrown. */
export async function runCodeAgent({ store, version, execution, step, signal }: Params): Promise<Outcome> {
  try {
    const run = await loadCodeAgent(store, version)
    const context = { executionId: execution.id, tenantId: execution.tenantId, signal, step }
    return validateOutput(await run(execution.input, context), outputCheckOf(version))
  } catch (error) {
    if (error instanceof Unavailable || error instanceof LeaseLost) throw error
    return failure({ code: 'AgentFailed', message: error instanceof Error ? error.message : String(error) })
  }
}
