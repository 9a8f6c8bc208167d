import type { Version } from '../../core/agent.ts'
import { Unavailable } from '../../core/errors.ts'
import { type Execution, failure, type Outcome } from '../../core/execution.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { AttemptStopped } from '../checkpoints/stop-reason.ts'
import { outputValidatorOf } from '../compiled-schemas.ts'
import type { Engine } from '../engine.ts'
import { type CodeAgentContext, loadCodeAgent } from './load.ts'
import { stepFunction } from './steps.ts'
import { validateOutput } from './validate-output.ts'

type Params = {
  engine: Engine
  version: Version
  execution: Execution
  journal: Journal
  signal: AbortSignal
}

/**
 * Runs a code agent. Everything that its code throws is an outcome.
 * @throws AttemptStopped, Unavailable
 */
export async function runCodeVersion(params: Params): Promise<Outcome> {
  const { engine, execution, journal, signal } = params
  const shutdown = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    shutdown.signal.addEventListener('abort', () =>
      reject(new AttemptStopped({ kind: 'WorkerShuttingDown' })),
    )
  })
  const context: CodeAgentContext = {
    executionId: execution.id,
    tenantId: execution.tenantId,
    signal: AbortSignal.any([signal, shutdown.signal]),
    step: stepFunction(journal, engine.system, () => shutdown.abort()),
  }
  return Promise.race([runCode(params, context), stopped])
}

async function runCode({ engine, version, execution }: Params, context: CodeAgentContext): Promise<Outcome> {
  try {
    const run = await loadCodeAgent(engine.agents, version)
    return validateOutput(await run(execution.input, context), outputValidatorOf(version))
  } catch (error) {
    if (error instanceof Unavailable || error instanceof AttemptStopped) throw error
    return failure({ code: 'AgentFailed', message: error instanceof Error ? error.message : String(error) })
  }
}
