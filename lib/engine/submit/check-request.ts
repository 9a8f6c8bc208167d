import { kindOf, stepLimitsOf, type Version } from '../../core/agent.ts'
import type { Budget } from '../../core/budget.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { ModelConfigurationError } from '../../core/model.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import {
  InputSchemaMismatch,
  InvalidModelOverride,
  InvalidQueryParameter,
} from '../../core/request-errors.ts'
import { readSetting } from '../../environment.ts'
import type { ModelName } from '../../models/model-name.ts'
import { mayHaveFiles } from '../../schema/files/file-schema.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import { findEndpointProblem } from '../../tools/egress/egress-policy.ts'
import { modelsOf } from '../models-of.ts'

/** Options of one call that override the version's settings; undefined keeps the version's. */
export type RunOverrides = {
  enforceInputSchema?: boolean | undefined
  maxAgentSteps?: number | undefined
  maxTokens?: number | undefined
  maxCostUsd?: number | undefined
  /** The limit of a trial. Its lines have it as `maxCostUsd`, too. */
  maxTrialCostUsd?: number | undefined
  model?: string | undefined
  tenantId?: string | undefined
  useCache?: boolean | undefined
  useDynamicLearning?: boolean | undefined
  webhookUrl?: string | undefined
}

/**
 * Checks what a call may choose, before anything is recorded or spent: authors limit what their agents may cost.
 * @param budget of the run; null without one
 * @throws InvalidModelOverride, InvalidQueryParameter
 */
export async function checkOverrides(version: Version, overrides: RunOverrides, budget: Budget | null) {
  checkSteps(version, overrides)
  if (overrides.model !== undefined) await checkModelOverride(version, overrides.model)
  if (budget) await checkBudget(version, overrides, budget)
}

function checkSteps({ slug, execution }: Version, { maxAgentSteps }: RunOverrides): void {
  const { max } = stepLimitsOf(execution)
  if (maxAgentSteps === undefined || maxAgentSteps <= max) return
  const message = `maxAgentSteps must be at most ${max}, the maximum that the agent ${slug} sets.`
  throw new InvalidQueryParameter([{ path: 'maxAgentSteps', message }])
}

async function checkModelOverride(version: Version, model: string): Promise<void> {
  const kind = kindOf(version)
  if (kind !== 'model')
    throw new InvalidModelOverride(
      `The agent ${version.slug} is a ${kind} agent; it does not accept a model.`,
    )
  try {
    await checkAllowed(version, model)
    const { checkModel, findSearchProblem } = await import('../../models/check-model.ts')
    const name = checkModel(model, process.env)
    const search = (version.tools as ToolDocument[]).find(({ webSearch }) => webSearch)?.webSearch
    const problem = search && findSearchProblem(name, search)
    if (problem) throw new InvalidModelOverride(problem)
  } catch (error) {
    throw error instanceof ModelConfigurationError ? new InvalidModelOverride(error.message) : error
  }
}

/**
 * A call may always name the model that it would get anyway. If neither the document nor the service names one, nothing
 * limits the provider.
 */
async function checkAllowed(version: Version, text: string): Promise<void> {
  const { slug, execution } = version
  const { models } = execution
  const { parseModelName } = await import('../../models/model-name.ts')
  const requested = parseModelName(text)
  const own = modelsOf(version, null, process.env).map((name) => parseModelName(name))
  if (own.some((each) => isSameModel(each, requested) && each.reasoning === requested.reasoning)) return
  if (models?.some((each) => includes(parseModelName(each), requested))) return
  if (!models && (own.length === 0 || own.some((each) => isSameSource(each, requested)))) return
  const sources = own.map(({ endpoint, provider }) =>
    endpoint ? `endpoint ${endpoint.name}` : `provider ${provider}`,
  )
  const source = [...new Set(sources)].join(' and the ')
  const allowed = models ? models.join(', ') || 'none but its own' : `those of the ${source}`
  throw new InvalidModelOverride(
    `The agent ${slug} does not allow the model ${JSON.stringify(text)}. Allowed models: ${allowed}.`,
  )
}

const isSameSource = (a: ModelName, b: ModelName) =>
  a.provider === b.provider && a.endpoint?.name === b.endpoint?.name

const isSameModel = (a: ModelName, b: ModelName) => isSameSource(a, b) && a.model === b.model

/** A listed model without a reasoning level allows every level. */
const includes = (listed: ModelName, requested: ModelName) =>
  isSameModel(listed, requested) &&
  (listed.reasoning === 'default' || listed.reasoning === requested.reasoning)

/** Parameters that limit what runs may spend. */
type LimitName = 'maxTokens' | 'maxCostUsd' | 'maxBatchCostUsd' | 'maxTrialCostUsd'

async function checkBudget(version: Version, overrides: RunOverrides, budget: Budget): Promise<void> {
  assertCountable(version, overrides.maxTokens === undefined ? 'maxCostUsd' : 'maxTokens')
  if (budget.maxCostUsd === null) return
  const path = overrides.maxTrialCostUsd === undefined ? 'maxCostUsd' : 'maxTrialCostUsd'
  await checkPrices(version, overrides, overrides.maxCostUsd === undefined ? 'model' : path)
}

/**
 * Checks that the cost of runs of the version can be limited.
 * @throws InvalidQueryParameter
 */
export async function checkCostLimit(version: Version, overrides: RunOverrides, name: LimitName) {
  assertCountable(version, name)
  await checkPrices(version, overrides, name)
}

/** The service sees only the spending of models that it calls itself, and what remote agents report. */
function assertCountable({ code, slug }: Version, path: LimitName): void {
  if (!code) return
  const message = `The agent ${slug} is a code agent; it does not accept ${path}.`
  throw new InvalidQueryParameter([{ path, message }])
}

/** @param path the parameter that is wrong if a model has no price */
async function checkPrices(version: Version, overrides: RunOverrides, path: LimitName | 'model') {
  // A remote agent names its models when it has used them.
  if (version.remote) return
  const { findUnpriced } = await import('../../models/prices/price-table.ts')
  const names = overrides.model ? [overrides.model] : modelsOf(version, null, process.env)
  const [model] = await findUnpriced(names, process.env)
  if (!model) return
  const limit = path === 'model' ? 'maxCostUsd' : path
  const message = `The model ${model} has no price, so a run with it cannot have a limit in US dollars (${limit}). ${limit === 'maxTrialCostUsd' ? 'Set' : 'Use maxTokens, or set'} its price in MODEL_PRICES.`
  throw new InvalidQueryParameter([{ path, message }])
}

/**
 * Checks a URL that receives the events of one run.
 * @throws InvalidQueryParameter
 */
export async function checkWebhookUrl(
  webhooks: Pick<WebhookStore, 'hasDefaultSecret'> | undefined,
  organizationId: string,
  url: string,
): Promise<void> {
  const invalid = (text: string) =>
    new InvalidQueryParameter([{ path: 'webhookUrl', message: `webhookUrl ${text}.` }])
  if (!webhooks || readSetting('webhookUrls') !== 'on')
    throw invalid(
      'is turned off, because any token with the scope run could make the service call any address. Operators turn it on with the setting webhookUrls=true; for npm start, with WEBHOOK_URLS=on',
    )
  const problem = findEndpointProblem(url, [])
  if (problem) throw invalid(problem.replace(/ unless allowedHosts .*/, ''))
  if (!(await webhooks.hasDefaultSecret({ organizationId })))
    throw invalid(
      'needs the default secret of your organization, which signs its events. POST /v1/webhooks/default/rotate creates it',
    )
}

/**
 * Adaptation adds only defaults to an input that passes. The validator is loaded on demand.
 * @throws InputSchemaMismatch
 */
export async function checkInput(version: Version, input: JsonObject): Promise<void> {
  const { inputValidatorOf } = await import('../compiled-schemas.ts')
  const violations = inputValidatorOf(version)(input)
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
  await checkInputFiles(version, input)
}

/** Few agents have files. @throws InputSchemaMismatch, InvalidModelOverride */
export async function checkInputFiles(version: Version, input: JsonObject, model?: string): Promise<void> {
  if (!mayHaveFiles(version.inputSchema)) return
  const checks = await import('./check-input-files.ts')
  await checks.checkInputFiles(version, input, model)
}
