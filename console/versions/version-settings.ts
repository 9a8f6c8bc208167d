import type { VersionDetails } from '../../lib/contract/records/agent.ts'
import { formatCost, formatCount, formatDuration } from '../components/format.ts'

export type Settings = Record<string, string | null>

export function limitsOf({ execution }: VersionDetails): Settings {
  const { maxAgentSteps, maxAgentStepsAllowed, timeoutSeconds, maxTokens, maxCostUsd } = execution
  return {
    Steps:
      maxAgentSteps === maxAgentStepsAllowed
        ? `at most ${formatCount(maxAgentSteps)}`
        : `${formatCount(maxAgentSteps)}, a run may ask for up to ${formatCount(maxAgentStepsAllowed)}`,
    Duration: timeoutSeconds === null ? 'no limit of its own' : formatDuration(timeoutSeconds * 1_000),
    Tokens: maxTokens === null ? 'no limit of its own' : `at most ${formatCount(maxTokens)}`,
    Cost: maxCostUsd === null ? 'no limit of its own' : `at most ${formatCost(maxCostUsd)}`,
    'Tool calls at the same time': formatCount(execution.maxParallelToolCalls),
    'Runs of other agents': `at most ${formatCount(execution.maxChildren)}`,
    'Input that does not match': execution.enforceInputSchema ? 'rejected' : 'adapted',
    Cache: execution.useCache
      ? `on${execution.cacheTtlSeconds === null ? '' : `, for ${formatDuration(execution.cacheTtlSeconds * 1_000)}`}`
      : 'off, unless a run asks for it',
  }
}

export function modelSettingsOf(version: VersionDetails): Settings {
  const { model, fallbacks, modelSettings, context, execution, learning } = version
  if (version.remote) {
    const { url = null, lambda, timeoutSeconds, readOnly } = version.remote
    return {
      URL: url,
      'Lambda function': lambda?.function ?? null,
      Timeout: `${timeoutSeconds} s`,
      'In trials': readOnly ? 'called' : 'answered from the recording',
    }
  }
  if (version.code) return { 'Environment variables': version.env.join(', ') || 'none' }
  return {
    Model: model ?? 'the default of the service',
    'If it is not available': fallbacks?.join(', ') ?? null,
    'Models that a run may choose': execution.models?.join(', ') ?? null,
    Temperature: modelSettings?.temperature === undefined ? null : String(modelSettings.temperature),
    'Output tokens': modelSettings?.maxOutputTokens
      ? `at most ${formatCount(modelSettings.maxOutputTokens)}`
      : null,
    'Context window': context?.window ? `${formatCount(context.window)} tokens` : null,
    'Tool results that are kept': context?.keep === undefined ? null : formatCount(context.keep),
    'Must call a tool': version.requireTools ? 'yes' : null,
    Learning: version.useDynamicLearning
      ? `from ${learning.feedback === 'all' ? 'all feedback' : 'reviewed feedback'}${learning.unrated ? ' and unrated results' : ''}`
      : 'off, unless a run asks for it',
  }
}
