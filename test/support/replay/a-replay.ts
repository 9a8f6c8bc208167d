import type { Version } from '../../../lib/core/agent.ts'
import type { Execution, NewExecution } from '../../../lib/core/execution.ts'
import type { RecordedModelStep } from '../../../lib/core/step.ts'
import type { Replay } from '../../../lib/core/trial.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { executionOf } from '../engine/executions.ts'
import { aMessage } from '../engine/scripted-engine.ts'

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
  const { id, organizationId } = await queueReplay(engine, original, version, given)
  await processMessage(engine, id, aMessage())
  const execution = await engine.executions.get({ organizationId, id })
  if (!execution) throw new Error(`The execution ${id} does not exist.`)
  return { execution, steps: await readModelSteps(engine, execution) }
}

export const readModelSteps = async ({ steps }: Pick<Engine, 'steps'>, { id }: Pick<Execution, 'id'>) =>
  (await steps.read({ executionId: id })) as RecordedModelStep[]

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
