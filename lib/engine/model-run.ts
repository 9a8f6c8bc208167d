import type { Version } from '../core/agent.ts'
import { type Execution, failure, type Outcome } from '../core/execution.ts'
import type { Example } from '../core/learning.ts'
import { ModelFault, ModelRefusal } from '../core/model.ts'
import { DEFAULT_MODEL } from '../environment.ts'
import { openModel } from '../models/open-model.ts'
import { openTools } from '../tools/open-tools.ts'
import { ToolError } from '../tools/tool.ts'
import type { ToolDocument } from '../tools/tool-document.ts'
import { agentCalls } from './agent-calls.ts'
import { adapterOf, outputCheckOf } from './checks.ts'
import { type Engine, timesOf } from './engine.ts'
import type { Journal } from './journal.ts'
import { PassingFault } from './passing-fault.ts'
import { runModelAgent } from './run-model-agent.ts'

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
    const { ambient } = engine
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
        ambient,
        signal,
        comesBack,
        firstWaitMs: timesOf(engine).firstWaitMs,
      })
    } finally {
      await tools.close()
    }
  } catch (error) {
    if (error instanceof ModelRefusal) return failure({ code: 'ModelNotConfigured', message: error.message })
    if (!(error instanceof ToolError || error instanceof ModelFault)) throw error
    const code = error instanceof ToolError ? 'ToolUnavailable' : 'ModelUnavailable'
    const fault = { code, message: error.message }
    if (error.isTransient && comesBack) throw new PassingFault(fault, null)
    return failure(fault)
  }
}

/** The search that finds examples is loaded only for a run that learns. */
async function examplesOf({ engine, execution, version, journal }: Params): Promise<Example[]> {
  if (!execution.options.useDynamicLearning) return []
  const { recallExamples } = await import('./recall-examples.ts')
  const { executions } = engine
  const [checkOutput, adapt] = [outputCheckOf(version), adapterOf(version)]
  return recallExamples({ executions, execution, journal, checkOutput, adapt })
}
