import type { Version } from '../core/agent.ts'
import { InputSchemaMismatch, InvalidModelOverride } from '../core/errors.ts'
import type { JsonObject } from '../core/json.ts'
import { ModelRefusal } from '../core/model.ts'
import { checkModel } from '../models/check-model.ts'
import { checkOf } from './checks.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { RunRequest } from './start-execution.ts'

/** The wishes of one call beside how it is to be answered, each absent when the version's own setting counts. */
export type RunWishes = {
  enforceInputSchema?: boolean | undefined
  maxAgentSteps?: number | undefined
  model?: string | undefined
  tenantId?: string | undefined
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
  if (wishes.enforceInputSchema) {
    const violations = checkOf(version, 'input')(input)
    if (violations.length > 0) throw new InputSchemaMismatch(violations)
  }
  return {
    version,
    input,
    tenantId: wishes.tenantId ?? null,
    options: {
      maxAgentSteps: wishes.maxAgentSteps ?? version.execution.maxAgentSteps,
      model: wishes.model ?? null,
      useDynamicLearning: wishes.useDynamicLearning ?? false,
    },
    idempotency:
      idempotencyKey === undefined
        ? null
        : { key: idempotencyKey, fingerprint: fingerprintOf([input, { ...wishes, execMode: null }]) },
  }
}

/** @throws InvalidModelOverride before anything is recorded or spent */
function checkOverride(model: string): void {
  try {
    checkModel(model, process.env)
  } catch (error) {
    throw error instanceof ModelRefusal ? new InvalidModelOverride(error.message) : error
  }
}
