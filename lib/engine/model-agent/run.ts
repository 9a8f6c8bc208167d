import type { Version } from '../../core/agent.ts'
import { type Execution, failure, type Outcome } from '../../core/execution.ts'
import type { Example } from '../../core/learning.ts'
import { ModelConfigurationError, ModelError } from '../../core/model.ts'
import { DEFAULT_MODEL } from '../../environment.ts'
import { openModel } from '../../models/open-model.ts'
import { openTools } from '../../tools/open-tools.ts'
import { ToolError } from '../../tools/tool.ts'
import type { ToolDocument } from '../../tools/tool-document.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { RetryableError } from '../checkpoints/stop-reason.ts'
import { adapterOf, outputCheckOf } from '../compiled-schemas.ts'
import { type Engine, timesOf } from '../engine.ts'
import { runModelAgent } from './step-loop.ts'
import { agentCalls } from './sub-agents.ts'

type Params = {
  engine: Engine
  execution: Execution
  version: Version
  journal: Journal
  signal: AbortSignal
  comesBack: boolean
}

/** Opens a version's model and tools, and runs it. Loaded only when a model agent runs: the SDKs come with it. */
export async function runModelVersion(params: Params): Promise<Outcome> {
  const { engine, execution, version, journal, signal, comesBack } = params
  const { environment = process.env } = engine
  const name = execution.options.model ?? version.model ?? environment[DEFAULT_MODEL]
  if (!name) {
    const message = 'The agent names no model and DEFAULT_MODEL is not set.'
    return failure({ code: 'ModelNotConfigured', message })
  }
  try {
    const model = await openModel(name, environment)
    const calls = agentCalls(engine, execution)
    const tools = await openTools(version.tools as ToolDocument[], { environment, ...calls })
    const { system } = engine
    const checkOutput = outputCheckOf(version)
    try {
      const examples = await examplesOf(params)
      return await runModelAgent({
        execution,
        version,
        model,
        tools,
        journal,
        examples,
        checkOutput,
        system,
        signal,
        comesBack,
        firstWaitMs: timesOf(engine).firstWaitMs,
      })
    } finally {
      await tools.close()
    }
  } catch (error) {
    if (error instanceof ModelConfigurationError)
      return failure({ code: 'ModelNotConfigured', message: error.message })
    if (!(error instanceof ToolError || error instanceof ModelError)) throw error
    const code = error instanceof ToolError ? 'ToolUnavailable' : 'ModelUnavailable'
    const fault = { code, message: error.message }
    if (error.isTransient && comesBack) throw new RetryableError(fault, null)
    return failure(fault)
  }
}

/** The search that finds examples is loaded only for a run that learns. */
async function examplesOf({ engine, execution, version, journal }: Params): Promise<Example[]> {
  if (!execution.options.useDynamicLearning) return []
  const { recallExamples } = await import('../learning/recall.ts')
  const { executions } = engine
  const [checkOutput, adapt] = [outputCheckOf(version), adapterOf(version)]
  return recallExamples({ executions, execution, journal, checkOutput, adapt })
}
