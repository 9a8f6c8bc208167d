import type { Version } from '../core/agent.ts'
import { type CacheIdentity, cacheKeyOf } from '../core/cache-key.ts'
import { InputSchemaMismatch, InvalidModelOverride } from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import { ModelRefusal } from '../core/model.ts'
import { checkModel } from '../models/check-model.ts'
import { adapterOf, inputCheckOf } from './checks.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { RunRequest } from './start-execution.ts'

/** The wishes of one call beside how it is to be answered, each absent when the version's own setting counts. */
export type RunWishes = {
  enforceInputSchema?: boolean | undefined
  maxAgentSteps?: number | undefined
  model?: string | undefined
  tenantId?: string | undefined
  useCache?: boolean | undefined
  useDynamicLearning?: boolean | undefined
}

/**
 * Joins a call's wishes with its version's settings, before anything is recorded.
 * @throws InputSchemaMismatch in strict mode, InvalidModelOverride when the version runs no model
 */
export function checkRunRequest(
  version: Version,
  input: JsonObject,
  wishes: RunWishes,
  idempotencyKey?: string,
): RunRequest {
  if (wishes.model !== undefined && version.code) {
    throw new InvalidModelOverride(
      `The agent ${version.slug} runs code and no model, so model cannot be given.`,
    )
  }
  if (wishes.model !== undefined) checkOverride(wishes.model)
  const { effective, inputAdaptations } = fitted(version, input, wishes.enforceInputSchema ?? false)
  const tenantId = wishes.tenantId ?? null
  const options = {
    maxAgentSteps: wishes.maxAgentSteps ?? version.execution.maxAgentSteps,
    model: wishes.model ?? null,
    useDynamicLearning: wishes.useDynamicLearning ?? false,
  }
  const isCached = wishes.useCache ?? version.execution.useCache
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
        : { key: idempotencyKey, fingerprint: fingerprintOf([input, { ...wishes, execMode: null }]) },
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
    throw error instanceof ModelRefusal ? new InvalidModelOverride(error.message) : error
  }
}
