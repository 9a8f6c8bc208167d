import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { errorMessage } from '../explain/error-message.ts'
import { explainErrors, MAX_VIOLATIONS, toViolation } from '../explain/explain-errors.ts'
import { toJsonSchema } from '../field-map.ts'
import { truncate } from '../message-text.ts'
import { toLinearSchema } from '../patterns/schema-patterns.ts'
import type { Lookup } from '../subschemas.ts'
import { closeObjects } from './close-objects.ts'
import { roundNumbers, type Validator, validateExactNumbers } from './exact-numbers.ts'
import { limitChecks, TooManyChecks } from './limit-checks.ts'
import { findDuplicates, takeUniqueItems } from './unique-items.ts'
import { withFormats } from './with-formats.ts'

export type { Validator }

/** Compiles a declared schema (field map or JSON Schema). Schemas are themselves checked when an agent is published. */
export function compileValidator(declared: JsonObject): Validator {
  return roundNumbers(toValidator(declared, (schema) => schema))
}

/**
 * Like `compileValidator`, but also rejects undeclared fields where a JSON Schema does not say whether they are allowed,
 * and numbers in number fields that a double cannot hold.
 */
export function compileStrictValidator(declared: JsonObject): Validator {
  const validateDoubles = toValidator(declared, closeObjects)
  return (value) => validateExactNumbers(value as Json, validateDoubles)
}

function toValidator(
  declared: JsonObject,
  prepare: (schema: JsonObject, lookup: Lookup) => JsonObject,
): Validator {
  const { schema: linear, formats, unsupported } = toLinearSchema(toJsonSchema(declared))
  const [pattern] = unsupported
  if (pattern !== undefined) return () => [unsupportedPattern(pattern)]
  const unique = takeUniqueItems(linear)
  const lookup = dereference(unique as Schema)
  const schema = prepare(unique, lookup)
  const checks = limitChecks(schema, lookup)
  const run = (value: unknown, shortCircuit: boolean) => {
    checks.start(value)
    return withFormats(formats, () => validate(value, schema as Schema, '2020-12', lookup, shortCircuit))
  }
  return (value) => {
    try {
      const { valid, errors } = run(value, false)
      const violations = valid ? [] : explainErrors(errors, schema, lookup)
      const duplicates = unique === linear ? [] : [...findDuplicates(value as Json, schema, lookup)]
      return [...violations, ...duplicates.map(toDuplicateItems)].slice(0, MAX_VIOLATIONS)
    } catch (error) {
      if (error instanceof TooManyChecks) return [TOO_MANY_CHECKS]
      if (error instanceof URIError) return [UNPAIRED_SURROGATE]
      if (!(error instanceof RangeError)) throw error
      // The validator passes errors as call arguments, and a call can have too many. Report the first error only.
      return explainErrors(run(value, true).errors, schema, lookup)
    }
  }
}

/** Only a version that was published before patterns were checked has one. */
const unsupportedPattern = (pattern: string): Violation => ({
  path: '',
  message: `The value cannot be checked: the pattern ${truncate(pattern, 100)} of the schema may take more than linear time. Publish the agent again with another pattern.`,
})

const toDuplicateItems = (path: readonly string[]): Violation =>
  toViolation(path, errorMessage({ keyword: 'uniqueItems' }, true))

const TOO_MANY_CHECKS: Violation = {
  path: '',
  message: 'The value cannot be checked: its nested parts match too many combinations of alternatives.',
}

/** The validator fails on such a field name (`encodeURI` throws), and a UTF-8 response cannot contain it. */
const UNPAIRED_SURROGATE: Violation = {
  path: '',
  message: 'The value contains a field name with an unpaired surrogate.',
}
