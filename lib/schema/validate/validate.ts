import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { explainErrors } from '../explain/explain-errors.ts'
import { toJsonSchema } from '../field-map.ts'
import type { Lookup } from '../subschemas.ts'
import { closeObjects } from './close-objects.ts'

/** Returns the violations of a value; empty when it is valid. */
export type Validator = (value: unknown) => Violation[]

/** Compiles a declared schema (field map or JSON Schema). Schemas are themselves checked when an agent is published. */
export function compileValidator(declared: JsonObject): Validator {
  const schema = toJsonSchema(declared)
  return toValidator(schema, dereference(schema as Schema))
}

/** Like `compileValidator`, but also rejects undeclared fields where a JSON Schema does not say whether they are allowed. */
export function compileStrictValidator(declared: JsonObject): Validator {
  const schema = toJsonSchema(declared)
  const lookup = dereference(schema as Schema)
  return toValidator(closeObjects(schema, lookup), lookup)
}

function toValidator(schema: JsonObject, lookup: Lookup): Validator {
  const run = (value: unknown, shortCircuit: boolean) =>
    validate(value, schema as Schema, '2020-12', lookup, shortCircuit)
  return (value) => {
    try {
      const { valid, errors } = run(value, false)
      return valid ? [] : explainErrors(errors, schema, lookup)
    } catch (error) {
      if (error instanceof URIError) return [UNPAIRED_SURROGATE]
      if (!(error instanceof RangeError)) throw error
      // The validator passes errors as call arguments, and a call can have too many. Report the first error only.
      return explainErrors(run(value, true).errors, schema, lookup)
    }
  }
}

/** The validator fails on such a field name (`encodeURI` throws), and a UTF-8 response cannot contain it. */
const UNPAIRED_SURROGATE: Violation = {
  path: '',
  message: 'The value contains a field name with an unpaired surrogate.',
}
