import type { Version } from '../../core/agent.ts'
import { describeMedia } from '../../core/describe-media.ts'
import { failure, type Outcome } from '../../core/execution.ts'
import { type Example, teachersOf } from '../../core/learning.ts'
import type { Environment } from '../../environment.ts'
import { estimateTokens } from '../../models/estimate-tokens.ts'
import { formatModelName, parseModelName } from '../../models/model-name.ts'
import { openLater, openModel } from '../../models/open-model.ts'
import { findPrice, withCost } from '../../models/prices/price-table.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import { openTools } from '../../tools/open-tools.ts'
import { openLiveResponse } from '../checkpoints/live-response.ts'
import { outputValidatorOf } from '../compiled-schemas.ts'
import { timesOf, traceparentFrom } from '../engine.ts'
import { modelsOf } from '../models-of.ts'
import { keepDeclarations, recordedDeclarations } from '../replay/declarations.ts'
import { Diverged, OriginalEnded } from '../replay/diverged.ts'
import { RecordedRun } from '../replay/recorded-run.ts'
import { positionOfCall } from './call-key.ts'
import { FallbackModels } from './fallback-models.ts'
import { takeFiles } from './input-files.ts'
import { RunBudget } from './run-budget.ts'
import type { RunParams } from './run-child.ts'
import { openRunLimits } from './run-limits.ts'
import { runStepLoop } from './step-loop.ts'
import { subAgents } from './sub-agents.ts'

/**
 * Opens a version's model and tools, and runs the step loop. Imported on demand, because it loads the SDKs.
 * @throws ModelConfigurationError, ModelError, ToolError, AttemptStopped, Unavailable
 */
export async function runModelVersion(params: RunParams): Promise<Outcome> {
  const { engine, version, journal, signal, endsAt, retry, attempt } = params
  const { input, files } = await takeFiles(version, params.execution.input)
  const execution = { ...params.execution, input }
  const { recording } = params
  const replay = recording?.ofCase?.replay ?? execution.replay
  const original =
    replay && recording
      ? new RecordedRun({
          replay,
          recording,
          options: execution.options,
          journal,
          refuses: (call) => tools.refuses(call),
        })
      : null
  const { environment: own = process.env } = engine
  const pinned = original && defaultModelOf(original, version, own)
  const environment = pinned ? { ...own, DEFAULT_MODEL: pinned } : own
  const open = { model: engine.openModel ?? openModel, tools: engine.openTools ?? openTools }
  const { model: override } = execution.options
  const candidates = modelsOf(version, override, environment)
  if (candidates.length === 0) {
    const message = 'The agent names no model and DEFAULT_MODEL is not set.'
    return failure({ code: 'ModelNotConfigured', message })
  }
  const budget = RunBudget.of({ execution, version, journal })
  const names: string[] = []
  for (const name of candidates) {
    const isUsable = !budget?.isInDollars || (await findPrice(name, environment)) !== null
    if (isUsable) names.push(name)
    // A model of the call does without those of the document that have no price.
    if (isUsable || (override && name !== override)) continue
    const message = `The run has a budget in US dollars (maxCostUsd), but the model ${name} has no price.`
    return failure({ code: 'ModelNotConfigured', message })
  }
  const settings = { settings: version.modelSettings }
  const openPriced = async (name: string) => {
    const price = await findPrice(name, environment)
    return withCost(await open.model(name, environment, settings), price)
  }
  const openPricedLater = async (name: string) =>
    withCost(openLater(open.model, name, environment, settings), await findPrice(name, environment))
  const fallbacks = new FallbackModels(
    { names, environment, open: openPriced, openLater: original ? openPricedLater : undefined },
    journal,
  )
  const model = await fallbacks.first()
  const tools = await open.tools(version.tools as ToolDocument[], {
    environment,
    traceparentOf: (key) => traceparentFrom(engine, execution, key),
    ...subAgents(engine, execution, { attempt, budget, endsAt, version, journal, files }),
    ...(original && {
      served: recording?.ofCase?.served ?? (await recordedDeclarations(engine, original, version)),
      recorded: (document, { idempotencyKey }) => original.resultOf(document, positionOfCall(idempotencyKey)),
    }),
  })
  const live = openLiveResponse({ execution, mask: tools.mask, journal, steps: engine.steps })
  try {
    const limits = openRunLimits(engine, execution)
    const outcome = await runStepLoop({
      execution,
      files,
      version,
      model,
      fallbacks,
      tools,
      declarations: await keepDeclarations(engine, execution.organizationId, tools.served),
      original,
      journal,
      budget,
      limits,
      live,
      examples: await examplesOf({ ...params, execution }),
      checkOutput: outputValidatorOf(version),
      system: engine.system,
      signal,
      retry,
      times: timesOf(engine),
      endsAt,
    })
    const isMissed = await limits?.misses(journal.usage)
    const found = [...tools.warnings, ...(isMissed ? ['ModelWithoutPrice'] : [])]
    return found.length === 0 ? outcome : { ...outcome, warnings: [...(outcome.warnings ?? []), ...found] }
  } catch (error) {
    if (error instanceof Diverged || error instanceof OriginalEnded) return failure(error.error)
    throw error
  } finally {
    live.close(journal.recorded.at(-1)?.step.number ?? 0)
    await tools.close()
  }
}

/**
 * The model of the original of a version that names none; null if only its fallbacks are known to have responded.
 * @throws ModelConfigurationError
 */
function defaultModelOf(original: RecordedRun, version: Version, environment: Environment): string | null {
  if (!original.defaultModel) return null
  const fallbacks = (version.fallbacks ?? []).map((name) =>
    formatModelName(parseModelName(name, environment)),
  )
  const used = [...original.models, original.defaultModel]
  return used.find((name) => name && !fallbacks.includes(name)) ?? null
}

/** The example search is imported only for a run with dynamic learning. */
async function examplesOf({ engine, execution, version, journal, signal }: RunParams): Promise<Example[]> {
  const { replay, learnedFrom, options } = execution
  // A replay is shown what its original was.
  if (!options.useDynamicLearning || (replay?.isTrial && !learnedFrom)) return []
  const [{ recallExamples }, { embedInput }, { adapterOf }] = await Promise.all([
    import('../learning/recall.ts'),
    import('../learning/embed-input.ts'),
    import('../compiled-adapter.ts'),
  ])
  const { executions, environment = process.env } = engine
  const { instructions, outputSchema, tools, learning } = version
  const input = describeMedia(execution.input)
  return recallExamples({
    executions,
    execution: { ...execution, input },
    journal,
    checkOutput: outputValidatorOf(version),
    adapt: (sent) => describeMedia(adapterOf(version)(sent).input),
    teachers: teachersOf(version),
    unrated: learning?.unrated === true,
    requestTokens: estimateTokens(JSON.stringify([instructions, outputSchema, tools, input])),
    embed: () => embedInput(input, environment, signal),
  })
}
