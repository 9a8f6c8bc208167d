import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import { type Json, type JsonObject, mapExactNumbers } from '../../core/json.ts'
import { errorMessage } from '../explain/error-message.ts'
import { explainErrors, MAX_VIOLATIONS, toViolation } from '../explain/explain-errors.ts'
import { toJsonSchema } from '../field-map.ts'
import { toJsonPointer } from '../json-pointer.ts'
import { truncate } from '../message-text.ts'
import { toLinearSchema } from '../patterns/schema-patterns.ts'
import type { Lookup } from '../subschemas.ts'
import { closeObjects } from './close-objects.ts'
import { limitChecks, TooManyChecks } from './limit-checks.ts'
import { findDuplicates, takeUniqueItems } from './unique-items.ts'
import { withFormats } from './with-formats.ts'

/** Returns the violations of a value; empty when it is valid. */
export type Validator = (value: unknown) => Violation[]

/** Compiles a declared schema (field map or JSON Schema). Schemas are themselves checked when an agent is published. */
export function compileValidator(declared: JsonObject): Validator {
  const validateDoubles = toValidator(declared, (schema) => schema)
  return (value) => validateDoubles(mapExactNumbers(value as Json, (number) => number.toDouble()))
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

/**
 * Strict mode for a value in which a double cannot hold every number: as the nearest doubles, and then as objects, which no
 * number field accepts. A field that accepts both has no type that a rounded number would violate.
 */
function validateExactNumbers(value: Json, validateDoubles: Validator): Violation[] {
  const paths: string[] = []
  const rounded = mapExactNumbers(value, (number, path) => {
    paths.push(toJsonPointer(path))
    return number.toDouble()
  })
  const violations = validateDoubles(rounded)
  if (paths.length === 0 || violations.length > 0) return violations
  const invalid = new Set(validateDoubles(mapExactNumbers(value, () => ({}))).map(({ path }) => path))
  if (invalid.size === 0) return []
  const inNumberFields = paths.filter((path) => invalid.has(path))
  return (inNumberFields.length > 0 ? inNumberFields : paths).slice(0, MAX_VIOLATIONS).map((path) => ({
    path,
    message: `${truncate(path, 100)} must be a number that a double can hold exactly.`,
  }))
}

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
