import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { RecordedModelStep, StepStore } from '../../../lib/core/step.ts'
import type { Replay } from '../../../lib/core/trial.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { executionOf } from '../engine/executions.ts'
import { aModelAgent } from '../engine/model-agent.ts'
import { aMessage, type ScriptedEngine } from '../engine/scripted-engine.ts'
import type { Script } from '../scripted-model/turn.ts'

/** How a trial repeats an execution by default: with the tools of the recording. */
export const replayOf = ({ id }: Pick<Execution, 'id'>, settings: Partial<Replay> = {}): Replay => ({
  executionId: id,
  tools: { default: 'recorded' },
  models: 'live',
  steps: 'recorded',
  ignore: [],
  fromStep: 1,
  isTrial: true,
  defaultModel: null,
  ...settings,
})

type Given = Partial<NewExecution> & { settings?: Partial<Replay> }

/** A queued execution that repeats another one on a version. */
export async function queueReplay(
  { executions }: Pick<Engine, 'executions'>,
  original: Execution,
  version: Version,
  { settings, ...given }: Given = {},
): Promise<Execution> {
  const { input, tenantId, options, learnedFrom } = original
  const execution = executionOf(version, {
    ...{ input, tenantId, options, learnedFrom },
    replay: replayOf(original, settings),
    ...given,
  })
  await executions.create({ execution })
  return execution
}

/** Runs it to its end, and returns it with its steps. */
export async function runReplay(engine: Engine, original: Execution, version: Version, given: Given = {}) {
  const queued = await queueReplay(engine, original, version, given)
  await processMessage(engine, queued.id, aMessage())
  return readRun(engine, queued)
}

/** Reads an execution with its steps. */
export async function readRun(engine: Pick<Engine, 'executions' | 'steps'>, key: Execution) {
  const execution = await engine.executions.get(key)
  if (!execution) throw new Error(`The execution ${key.id} does not exist.`)
  return { execution, steps: (await engine.steps.read({ executionId: key.id })) as RecordedModelStep[] }
}

/** The engine, where this execution has the steps that `read` returns. */
export const withSteps = <T extends Engine>(
  engine: T,
  { id }: Pick<Execution, 'id'>,
  read: StepStore['read'],
): T => ({
  ...engine,
  steps: { ...engine.steps, read: (key) => (key.executionId === id ? read : engine.steps.read)(key) },
})

/** What a run did, without what differs in each: its responses and results. */
export const contentOf = (steps: RecordedModelStep[]) =>
  steps.map(({ step, results }) => ({
    text: step.text,
    model: step.model,
    calls: step.calls.map(({ name, input, error }) => ({ name, input, error })),
    results: step.calls.map(({ id }) => {
      const { ok, ...result } = results.get(id)?.result ?? { ok: null }
      const { usage: _, replayed: __, executionId: ___, ...kept } = result as Record<string, unknown>
      return { ok, ...kept }
    }),
  }))

/** The engine, where a token costs a millicent: a response of 1,000 tokens is a cent. */
export const withPrices = <T extends Engine>(engine: T): T => {
  const MODEL_PRICES = '{"openai-compatible/*": {"input": 10, "output": 10}}'
  return { ...engine, environment: { ...engine.environment, MODEL_PRICES } }
}

type Fields = Parameters<typeof aModelAgent>[0]
type Scripted = Pick<ScriptedEngine, 'engine' | 'scriptModel'>

/** Agents whose models follow scripts, and executions of them that can be repeated. */
export function originalsOn({ engine, scriptModel }: Scripted, defaults: Fields = {}) {
  /** A version whose model follows the script, unless it has one. */
  async function anAgent(script: Script, fields: Fields = {}) {
    const { model, requests } = scriptModel(script)
    return { version: await aModelAgent({ model, ...defaults, ...fields }), requests }
  }

  return {
    anAgent,

    /** An execution that has run to its end. */
    async anOriginal(script: Script, fields: Fields = {}, given: Partial<NewExecution> = {}) {
      const { version, requests } = await anAgent(script, fields)
      const execution = executionOf(version, { input: { question: 'Why?' }, ...given })
      await engine.executions.create({ execution })
      await processMessage(engine, execution.id, aMessage())
      const { execution: original, steps } = await readRun(engine, execution)
      return { version, original, steps, requests }
    },

    /** Another version of the agent, whose model follows another script. */
    async aDraft({ organizationId, slug, agentId }: Version, script: Script, fields: Fields = {}) {
      const { version, requests } = await anAgent(script, { organizationId, slug, agentId, ...fields })
      return { draft: version, requests }
    },
  }
}
