import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { explainErrors } from '../explain/explain-errors.ts'
import { toJsonSchema } from '../field-map.ts'
import type { Lookup } from '../subschemas.ts'
import { closeObjects } from './close-objects.ts'

export type Check = (value: unknown) => Violation[]

/**
 * Compiles a declared schema (field map or JSON Schema) into a check that lists what is wrong with a value, nothing
 * when it conforms. The schema itself was checked when its agent was published.
 */
export function compileCheck(declared: JsonObject): Check {
  const schema = toJsonSchema(declared)
  return checkOf(schema, dereference(schema as Schema))
}

/**
 * The check of `enforceInputSchema`: like `compileCheck`, but a field that the schema does not declare is a mismatch
 * too where a JSON Schema leaves that open.
 */
export function compileStrictCheck(declared: JsonObject): Check {
  const schema = toJsonSchema(declared)
  const lookup = dereference(schema as Schema)
  return checkOf(closeObjects(schema, lookup), lookup)
}

function checkOf(schema: JsonObject, lookup: Lookup): Check {
  const run = (value: unknown, untilFirst: boolean) =>
    validate(value, schema as Schema, '2020-12', lookup, untilFirst)
  return (value) => {
    try {
      const { valid, errors } = run(value, false)
      return valid ? [] : explainErrors(errors, schema, lookup)
    } catch (error) {
      if (error instanceof URIError) return [HALF_CHARACTER]
      if (!(error instanceof RangeError)) throw error
      // The validator passes errors on as arguments, of which there can be too many: then the first must do.
      return explainErrors(run(value, true).errors, schema, lookup)
    }
  }
}

/** The validator cannot name such a field (`encodeURI` throws), and neither could an answer in UTF-8. */
const HALF_CHARACTER: Violation = {
  path: '',
  message: 'A field has a name with half a character (an unpaired surrogate).',
}
