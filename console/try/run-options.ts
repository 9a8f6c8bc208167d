import type { VersionRecord } from '../../lib/contract/records/agent.ts'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { MAX_AGENT_STEPS, MAX_COST_USD, MAX_TOKENS } from '../../lib/core/limits.ts'
import { formatNumber } from '../components/format.ts'

/** The options of a run as they are typed. Empty: not given. The names are those of the query parameters. */
export type RunOptions = typeof NO_OPTIONS

/** Empty: as in the version. */
type Choice = '' | 'true' | 'false'

export const NO_OPTIONS = {
  version: '',
  tenantId: '',
  model: '',
  /** Part of the parameter `model`. */
  reasoning: '',
  enforceInputSchema: '' as Choice,
  useCache: '' as Choice,
  useDynamicLearning: '' as Choice,
  maxAgentSteps: '',
  maxTokens: '',
  maxCostUsd: '',
}

export const REASONING_LEVELS = ['none', 'default', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export type Parameters = Record<string, string | number | boolean>

/** Options that only agents with a model have: code agents do not accept them, or ignore them. */
const OF_MODELS = [
  'model',
  'reasoning',
  'useDynamicLearning',
  'maxAgentSteps',
  'maxTokens',
  'maxCostUsd',
] as const

/** Whether a version is one of a code agent, or of a remote one: without a model of the service. */
export const isCodeVersion = (version: Pick<VersionRecord, 'codeHash' | 'remote'> | undefined): boolean =>
  version !== undefined && (version.codeHash !== null || version.remote !== undefined)

export const isStrict = (
  { enforceInputSchema }: Pick<RunOptions, 'enforceInputSchema'>,
  version: Pick<VersionRecord, 'execution'> | undefined,
): boolean =>
  enforceInputSchema === '' ? (version?.execution.enforceInputSchema ?? false) : enforceInputSchema === 'true'

export function applicableOptions(
  options: RunOptions,
  version: Pick<VersionRecord, 'codeHash'> | undefined,
): RunOptions {
  if (!isCodeVersion(version)) return options
  return { ...options, ...Object.fromEntries(OF_MODELS.map((name) => [name, NO_OPTIONS[name]])) }
}

/** The query parameters of a run, without those that are not given. */
export function toParameters(options: RunOptions): Parameters {
  const { version, tenantId, model, reasoning, enforceInputSchema, useCache, useDynamicLearning } = options
  const numbers = ['maxAgentSteps', 'maxTokens', 'maxCostUsd'] as const
  return {
    ...(version !== '' && { version }),
    ...(tenantId !== '' && { tenantId }),
    ...(model.trim() !== '' && { model: `${model.trim()}${reasoning && `:${reasoning}`}` }),
    ...(enforceInputSchema !== '' && { enforceInputSchema: enforceInputSchema === 'true' }),
    ...(useCache !== '' && { useCache: useCache === 'true' }),
    ...(useDynamicLearning !== '' && { useDynamicLearning: useDynamicLearning === 'true' }),
    ...Object.fromEntries(
      numbers.flatMap((name) => (options[name].trim() === '' ? [] : [[name, Number(options[name])]])),
    ),
  }
}

type Original = Pick<ExecutionRecord, 'versionId' | 'tenantId' | 'requestedOptions'>
type Settings = Pick<VersionRecord, 'id' | 'useDynamicLearning' | 'execution'>

/** The options that repeat a run, unless it was strict: that is not known. @param version null if it is gone */
export function optionsOfRun(
  { versionId, tenantId, requestedOptions }: Original,
  version: Settings | undefined,
  currentVersionId: string | null,
): RunOptions {
  const { model = '', useCache, useDynamicLearning, ...limits } = requestedOptions ?? {}
  const at = model.lastIndexOf(':')
  const reasoning = REASONING_LEVELS.includes(model.slice(at + 1)) && at > 0 ? model.slice(at + 1) : ''
  return {
    ...NO_OPTIONS,
    version: version && versionId !== currentVersionId ? versionId : '',
    tenantId: tenantId ?? '',
    model: reasoning === '' ? model : model.slice(0, at),
    reasoning,
    useCache: toChoice(useCache, version?.execution.useCache),
    useDynamicLearning: toChoice(useDynamicLearning, version?.useDynamicLearning),
    ...Object.fromEntries(
      Object.entries(limits).flatMap(([name, limit]) =>
        limit === undefined ? [] : [[name, toDecimal(limit)]],
      ),
    ),
  }
}

const toChoice = (used: boolean | undefined, ofVersion: boolean | undefined): Choice =>
  used === undefined || used === ofVersion ? '' : used ? 'true' : 'false'

/** Without an exponent, which the field does not accept. */
const toDecimal = (value: number) =>
  value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 9 })

/** What is wrong with options, by the name of the parameter. @param maxSteps what the version allows */
export function findOptionProblems(
  options: RunOptions,
  maxSteps: number = MAX_AGENT_STEPS.max,
): Partial<Record<keyof RunOptions, string>> {
  const steps = outside(options.maxAgentSteps, /^\d{1,10}$/, { ...MAX_AGENT_STEPS, max: maxSteps })
  const tokens = outside(options.maxTokens, /^\d{1,10}$/, MAX_TOKENS)
  const cost = outside(options.maxCostUsd, /^\d{1,9}(\.\d{1,9})?$/, MAX_COST_USD)
  return {
    ...(steps && { maxAgentSteps: `Enter a whole number ${steps}.` }),
    ...(tokens && { maxTokens: `Enter a whole number ${tokens}.` }),
    ...(cost && { maxCostUsd: `Enter a number ${cost}, without an exponent.` }),
    ...(options.tenantId.length > 128 && { tenantId: 'Enter at most 128 characters.' }),
    ...(options.reasoning !== '' &&
      options.model.trim() === '' && { model: 'Enter the model that is to reason, as provider/model.' }),
  }
}

function outside(text: string, form: RegExp, { min, max }: { min: number; max: number }): string | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  const isInside = form.test(trimmed) && Number(trimmed) >= min && Number(trimmed) <= max
  return isInside ? null : `from ${formatNumber(min)} to ${formatNumber(max)}`
}
