import type { Version } from '../../core/agent.ts'
import { type CacheIdentity, cacheKeyOf } from '../../core/cache-key.ts'
import { InputSchemaMismatch, InvalidModelOverride } from '../../core/errors.ts'
import type { Execution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json.ts'
import { ModelConfigurationError } from '../../core/model.ts'
import { checkModel } from '../../models/check-model.ts'
import { adapterOf, inputCheckOf } from '../compiled-schemas.ts'
import { fingerprintOf } from './request-hash.ts'
import type { RunRequest } from './submit.ts'

/** The overrides of one call beside how it is to be answered, each absent when the version's own setting counts. */
export type RunOverrides = {
  enforceInputSchema?: boolean | undefined
  maxAgentSteps?: number | undefined
  model?: string | undefined
  tenantId?: string | undefined
  useCache?: boolean | undefined
  useDynamicLearning?: boolean | undefined
}

/**
 * Joins a call's overrides with its version's settings, before anything is recorded.
 * @throws InputSchemaMismatch in strict mode, InvalidModelOverride when the version runs no model
 */
export function checkRunRequest(
  version: Version,
  input: JsonObject,
  overrides: RunOverrides,
  idempotencyKey?: string,
): RunRequest {
  if (overrides.model !== undefined && version.code) {
    throw new InvalidModelOverride(
      `The agent ${version.slug} runs code and no model, so model cannot be given.`,
    )
  }
  if (overrides.model !== undefined) checkOverride(overrides.model)
  const { effective, inputAdaptations } = fitted(version, input, overrides.enforceInputSchema ?? false)
  const tenantId = overrides.tenantId ?? null
  const options = {
    maxAgentSteps: overrides.maxAgentSteps ?? version.execution.maxAgentSteps,
    model: overrides.model ?? null,
    useDynamicLearning: overrides.useDynamicLearning ?? false,
  }
  const isCached = overrides.useCache ?? version.execution.useCache
  return {
    version,
    input,
    inputAdaptations,
    tenantId,
    options,
    cache: isCached ? cachePlace(version, { tenantId, input: effective, ...options }) : null,
    idempotency:
      idempotencyKey === undefined
        ? null
        : { key: idempotencyKey, fingerprint: fingerprintOf([input, { ...overrides, execMode: null }]) },
  }
}

/**
 * The input as the agent gets it. One that has passed in strict mode is changed only by the defaults of absent fields.
 * @throws InputSchemaMismatch in strict mode
 */
function fitted(version: Version, sent: JsonObject, isStrict: boolean) {
  const violations = isStrict ? inputCheckOf(version)(sent) : []
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
  const { input, adaptations } = adapterOf(version)(sent)
  return { effective: input, inputAdaptations: adaptations }
}

type Identity = Omit<CacheIdentity, 'agentId' | 'versionId'>

function cachePlace({ agentId, id: versionId, execution }: Version, identity: Identity): Execution['cache'] {
  const key = cacheKeyOf({ agentId, versionId, ...identity })
  return key === null ? null : { key, ttlSeconds: execution.cacheTtlSeconds }
}

/** @throws InvalidModelOverride before anything is recorded or spent */
function checkOverride(model: string): void {
  try {
    checkModel(model, process.env)
  } catch (error) {
    throw error instanceof ModelConfigurationError ? new InvalidModelOverride(error.message) : error
  }
}
