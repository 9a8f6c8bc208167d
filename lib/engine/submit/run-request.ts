import { resolveVersion } from '../../agents/resolve-version.ts'
import { type Access, hasScope } from '../../core/access.ts'
import type { Version } from '../../core/agent.ts'
import { type Budget, toBudget, toOptions } from '../../core/budget.ts'
import { type CacheIdentity, cacheKeyOf } from '../../core/cache-key.ts'
import {
  AgentArchived,
  Forbidden,
  InputSchemaMismatch,
  InvalidModelOverride,
  InvalidQueryParameter,
  type ServiceError,
  VersionRetired,
} from '../../core/errors.ts'
import type { Execution, InputAdaptation, RunOptions } from '../../core/execution.ts'
import { hashJson } from '../../core/hash-json.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { ModelConfigurationError } from '../../core/model.ts'
import type { AgentStore } from '../../core/ports.ts'
import { DEFAULT_MODEL } from '../../environment.ts'
import { checkModel } from '../../models/check-model.ts'
import { openBody } from '../../schema/adapt/open-body.ts'
import { assertObject } from '../../schema/assert-object.ts'
import { adapterOf } from '../compiled-adapter.ts'

/** A validated request to run a version. */
export type RunRequest = {
  version: Version
  input: JsonObject
  inputAdaptations?: InputAdaptation[]
  tenantId: string | null
  options: RunOptions
  cache?: Execution['cache']
  idempotency?: Idempotency | null
  /** Why no new run is accepted: the request can only repeat an earlier one with the same idempotency key. */
  refusal?: ServiceError | null
}

/** A client's idempotency key, and the hash of everything that must be equal when the key is used again. */
export type Idempotency = { key: string; requestHash: string }

/** Options of one call that override the version's settings; undefined keeps the version's. */
export type RunOverrides = {
  enforceInputSchema?: boolean | undefined
  maxAgentSteps?: number | undefined
  maxTokens?: number | undefined
  maxCostUsd?: number | undefined
  model?: string | undefined
  tenantId?: string | undefined
  useCache?: boolean | undefined
  useDynamicLearning?: boolean | undefined
}

type VersionToRun = {
  agents: AgentStore
  access: Access
  idOrSlug: string
  versionId: string | undefined
  idempotencyKey: string | undefined
}

/**
 * Resolves the version of a request to run an agent. A draft is for those who may change the agent. An archived agent or a
 * retired version is an error, unless the request has an idempotency key and can be the repetition of an accepted one.
 * @throws AgentNotFound, VersionNotFound, Forbidden, AgentArchived, VersionRetired
 */
export async function resolveVersionToRun({
  agents,
  access,
  idOrSlug,
  versionId,
  idempotencyKey,
}: VersionToRun): Promise<Required<Pick<RunRequest, 'version' | 'refusal'>>> {
  const { organizationId } = access
  const resolved = await resolveVersion({ store: agents, organizationId, idOrSlug, versionId })
  const { version, isArchived, isRetired } = resolved
  if (version.status === 'DRAFT') assertMayRunDraft(access)
  const refusal = isArchived ? new AgentArchived() : isRetired ? new VersionRetired('run') : null
  if (refusal && idempotencyKey === undefined) throw refusal
  return { version, refusal }
}

/** @throws Forbidden */
function assertMayRunDraft(access: Access): void {
  if (hasScope(access, 'manage')) return
  throw new Forbidden(
    `This version is a draft. Running it needs a token with the scope manage. Yours has: ${access.scopes?.join(', ')}.`,
  )
}

/**
 * Combines a call's overrides with the version's settings, before anything is recorded.
 * @param body the input; unless in strict mode, also a list or a text that contains it
 * @throws InvalidJson if the body contains no input, InputSchemaMismatch in strict mode, InvalidModelOverride for a code agent or an unusable model,
 * InvalidQueryParameter for a budget that cannot be enforced
 */
export async function buildRunRequest(
  version: Version,
  body: Json,
  overrides: RunOverrides,
  idempotencyKey?: string,
): Promise<RunRequest> {
  if (overrides.model !== undefined) checkModelOverride(version, overrides.model)
  const budget = toBudget(version.execution, overrides)
  if (budget) await checkBudget(version, overrides, budget)
  const opened =
    isJsonObject(body) || overrides.enforceInputSchema ? null : openBody(version.inputSchema, body)
  const input = opened?.input ?? assertObject(body)
  if (overrides.enforceInputSchema) await checkInput(version, input)
  const { input: adapted, adaptations } = adapterOf(version)(input)
  const tenantId = overrides.tenantId ?? null
  const options = {
    maxAgentSteps: overrides.maxAgentSteps ?? version.execution.maxAgentSteps,
    model: overrides.model ?? null,
    useDynamicLearning: overrides.useDynamicLearning ?? false,
    ...toOptions(budget),
  }
  const useCache = overrides.useCache ?? version.execution.useCache
  return {
    version,
    input,
    inputAdaptations: opened ? [opened.adaptation, ...adaptations] : adaptations,
    tenantId,
    options,
    cache: useCache ? cacheOf(version, { tenantId, input: adapted, ...options }) : null,
    idempotency:
      idempotencyKey === undefined
        ? null
        : { key: idempotencyKey, requestHash: hashJson([input, { ...overrides, execMode: null }]) },
  }
}

/**
 * Adaptation adds only defaults to an input that passes. The validator is loaded on demand.
 * @throws InputSchemaMismatch
 */
async function checkInput(version: Version, input: JsonObject): Promise<void> {
  const { inputValidatorOf } = await import('../compiled-schemas.ts')
  const violations = inputValidatorOf(version)(input)
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
}

type Identity = Omit<CacheIdentity, 'agentId' | 'versionId'>

function cacheOf({ agentId, id: versionId, execution }: Version, identity: Identity): Execution['cache'] {
  const key = cacheKeyOf({ agentId, versionId, ...identity })
  return key === null ? null : { key, ttlSeconds: execution.cacheTtlSeconds }
}

/** @throws InvalidModelOverride before anything is recorded or spent */
function checkModelOverride(version: Version, model: string): void {
  if (version.code)
    throw new InvalidModelOverride(`The agent ${version.slug} is a code agent; it does not accept a model.`)
  try {
    checkModel(model, process.env)
  } catch (error) {
    throw error instanceof ModelConfigurationError ? new InvalidModelOverride(error.message) : error
  }
}

/** The service sees only the spending of models that it calls itself and whose price it knows. @throws InvalidQueryParameter */
async function checkBudget(version: Version, overrides: RunOverrides, budget: Budget): Promise<void> {
  if (version.code) {
    const path = overrides.maxTokens === undefined ? 'maxCostUsd' : 'maxTokens'
    const message = `The agent ${version.slug} is a code agent; it does not accept ${path}.`
    throw new InvalidQueryParameter([{ path, message }])
  }
  const model = overrides.model ?? version.model ?? process.env[DEFAULT_MODEL]
  if (budget.maxCostUsd === null || !model) return
  const { findPrice } = await import('../../models/prices/price-table.ts')
  if (await findPrice(model, process.env)) return
  const path = overrides.maxCostUsd === undefined ? 'model' : 'maxCostUsd'
  const message = `The model ${model} has no price, so a run with it cannot have a limit in US dollars (maxCostUsd). Use maxTokens.`
  throw new InvalidQueryParameter([{ path, message }])
}
