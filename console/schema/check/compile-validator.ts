import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { Json, JsonObject } from '../../../lib/core/json.ts'
import { toJsonSchema } from '../../../lib/schema/field-map.ts'
import { explainErrors } from '../../../lib/schema/validate/explain-errors.ts'
import {
  closeObjects,
  roundNumbers,
  type Validator,
  validateExactNumbers,
} from '../../../lib/schema/validate/strict-mode.ts'

export type CheckMode = 'strict' | 'adapting'

/**
 * Compiles a declared schema (field map or JSON Schema) into the validator of the service, without what keeps it from taking
 * long: a page stops a worker that does.
 */
export function compileValidator(declared: JsonObject, mode: CheckMode): Validator {
  // `dereference` adds properties to the schema.
  const root = structuredClone(toJsonSchema(declared))
  const lookup = dereference(root as Schema)
  const schema = mode === 'strict' ? closeObjects(root, lookup) : root
  const validateDoubles: Validator = (value) => {
    const { errors } = validate(value, schema as Schema, '2020-12', lookup, false)
    return explainErrors(errors, schema, lookup)
  }
  return mode === 'strict'
    ? (value) => validateExactNumbers(value as Json, validateDoubles)
    : roundNumbers(validateDoubles)
}
