import { resolveVersionOf } from '../../agents/resolve-version.ts'
import { stepLimitsOf, type Version } from '../../core/agent.ts'
import type { Batch } from '../../core/batch.ts'
import type { Execution } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Replay, TrialSettings } from '../../core/trial.ts'
import type { RunOverrides } from '../submit/check-request.ts'
import type { RunRequest } from '../submit/run-request.ts'

/** What a line runs. `error`: why it cannot. */
export type LineRun = Pick<Execution, 'input' | 'tenantId'> &
  Pick<RunRequest, 'replay' | 'learnedFrom'> & { overrides: RunOverrides; error?: ExecutionError }

type Stores = { agents: AgentStore; executions: Pick<ExecutionStore, 'get'> }

/**
 * What a line of a trial runs: the input of its original, for the same tenant, with what its request chose. The
 * original is read when the line starts.
 * @throws Unavailable
 */
export async function repeatOriginal(
  { agents, executions }: Stores,
  batch: Batch & { trial: TrialSettings },
  id: string,
): Promise<LineRun> {
  const original = await executions.get({ organizationId: batch.organizationId, id })
  if (!original) return { ...ofNothing(batch), replay: toReplay(batch, id, null), error: ORIGINAL_DELETED }
  const made = await resolveVersionOf(agents, original)
  const { input, tenantId } = original
  const { maxCostUsd, trial } = batch
  const version = await resolveVersionOf(agents, batch)
  const chosen = toOverrides(original, made, version)
  // A run alone never has more than its trial, so that only models with a price run, unless they may never be called.
  const isLive = maxCostUsd !== null && trial.models === 'live' && !version?.code
  const limit = isLive && {
    maxCostUsd: Math.min(chosen.maxCostUsd ?? maxCostUsd, maxCostUsd),
    maxTrialCostUsd: maxCostUsd,
  }
  return {
    input,
    tenantId,
    overrides: { ...chosen, useCache: false, ...limit },
    replay: toReplay(batch, id, defaultModelOf(original, made)),
    learnedFrom: examplesOf(original),
  }
}

function toReplay(
  { trial: { tools, models, steps, ignore, scorers }, maxCostUsd }: Batch & { trial: TrialSettings },
  executionId: string,
  defaultModel: string | null,
): Replay {
  const maxTrialCostUsd = maxCostUsd ?? (models === 'recorded' ? 0 : null)
  const limit = maxTrialCostUsd !== null && { maxTrialCostUsd }
  const repeated = { executionId, fromStep: 1, isTrial: true, defaultModel }
  return { tools, models, steps, ignore, ...(scorers && { scorers }), ...repeated, ...limit }
}

/** The model of an original whose version named none. @param made the version of the original */
export const defaultModelOf = (original: Execution, made: Version | null): string | null =>
  made && !made.code && made.model === null ? original.model : null

/** The examples that an original has learned from; null if it did not. */
export const examplesOf = ({ options, learnedFrom }: Execution): string[] | null =>
  options.useDynamicLearning ? (learnedFrom ?? []) : null

/**
 * What its request chose in place of the settings of its version. @param made the version of the original
 * @param version the one that repeats it: it may permit fewer steps
 */
export function toOverrides(
  { options }: Execution,
  made: Version | null,
  version: Version | null,
): RunOverrides {
  const { maxAgentSteps, model, useDynamicLearning, maxTokens, maxCostUsd } = options
  const settings = made?.execution
  const max = version ? stepLimitsOf(version.execution).max : maxAgentSteps
  return {
    useDynamicLearning,
    ...(model !== null && { model }),
    ...(!(settings && stepLimitsOf(settings).default === maxAgentSteps) && {
      maxAgentSteps: Math.min(maxAgentSteps, max),
    }),
    ...(settings?.maxTokens !== maxTokens && { maxTokens }),
    ...(settings?.maxCostUsd !== maxCostUsd && { maxCostUsd }),
  }
}

/** What a request chose for its execution, for a client that repeats it. */
export async function requestedOptionsOf(agents: AgentStore, execution: Execution) {
  const version = await resolveVersionOf(agents, execution)
  const { useDynamicLearning } = execution.options
  const chosen = toOverrides(execution, version, version)
  return {
    requestedOptions: { ...chosen, useDynamicLearning, useCache: execution.cache !== null },
  }
}

const ofNothing = ({ tenantId }: Batch) => ({ input: {}, tenantId, overrides: {} })

const ORIGINAL_DELETED: ExecutionError = {
  code: 'ExecutionNotFound',
  message: 'The execution that this one repeats was deleted before it began.',
}
