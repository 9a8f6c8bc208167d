import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { MAX_VIOLATIONS } from '../../core/limits.ts'
import { toJsonSchema } from '../field-map.ts'
import { toViolation } from '../message-text.ts'
import { toLinearSchema } from '../patterns/schema-patterns.ts'
import { type Lookup, mapSubschemas } from '../subschemas.ts'
import { errorMessage } from './error-message.ts'
import { explainErrors } from './explain-errors.ts'
import { withFormats } from './formats.ts'
import { closeObjects, roundNumbers, type Validator, validateExactNumbers } from './strict-mode.ts'
import { findDuplicates, takeUniqueItems } from './unique-items.ts'

export type { Validator }

/**
 * Compiles a declared schema (field map or JSON Schema). Schemas are themselves checked when an agent is published.
 * @throws Error for a schema that `checkDeclaredSchema` rejects
 */
export function compileValidator(declared: JsonObject): Validator {
  return roundNumbers(toValidator(declared, (schema) => schema))
}

/**
 * Like `compileValidator`, but also rejects undeclared fields where a JSON Schema does not say whether they are
 * allowed, and numbers in number fields that a double cannot hold.
 */
export function compileStrictValidator(declared: JsonObject): Validator {
  const validateDoubles = toValidator(declared, closeObjects)
  return (value) => validateExactNumbers(value as Json, validateDoubles)
}

function toValidator(declared: JsonObject, prepare: typeof closeObjects): Validator {
  const { schema: linear, formats } = toLinearSchema(toJsonSchema(declared))
  const unique = takeUniqueItems(linear)
  const lookup = dereference(unique as Schema)
  const schema = prepare(unique, lookup)
  const startChecks = limitChecks(schema, lookup)
  const run = (value: unknown, shortCircuit: boolean) => {
    startChecks(value)
    return withFormats(formats, () => validate(value, schema as Schema, '2020-12', lookup, shortCircuit))
  }
  return (value) => {
    try {
      const violations = explainErrors(run(value, false).errors, schema, lookup)
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

const toDuplicateItems = (path: readonly string[]): Violation =>
  toViolation(path, errorMessage({ keyword: 'uniqueItems' }, true))

const ofWholeValue = (message: string): Violation => ({ path: '', message })

const TOO_MANY_CHECKS = ofWholeValue(
  'The value cannot be checked: its nested parts match too many combinations of alternatives.',
)

/** The validator fails on such a field name (`encodeURI` throws), and a UTF-8 response cannot contain it. */
const UNPAIRED_SURROGATE = ofWholeValue('The value contains a field name with an unpaired surrogate.')

/** Whether the value could not be checked, which is not the same as a value that does not match. */
export const isUnchecked = (violations: Violation[]): boolean =>
  violations.includes(TOO_MANY_CHECKS) || violations.includes(UNPAIRED_SURROGATE)

/** How often subschemas may be applied while a value is validated; if the value has many parts, so often for each. */
const MAX_CHECKS = 500_000
const MAX_CHECKS_OF_PART = 100

class TooManyChecks extends Error {}

/**
 * Limits the work of the validator. A recursive schema with alternatives applies each of them at every level of a
 * value: exponential time. The validator reads every keyword of a schema whenever it applies it. `$recursiveAnchor` of
 * draft 2019-09 is unknown to 2020-12, so its getter can count without an effect on the result.
 * @returns the start of a new value, after which the validator throws TooManyChecks
 */
function limitChecks(schema: JsonObject, lookup: Lookup) {
  let value: unknown
  let checks = 0
  const countCheck = () => {
    checks += 1
    const isTooMany = checks % MAX_CHECKS === 0 && checks >= MAX_CHECKS_OF_PART * countParts(value as Json)
    if (isTooMany) throw new TooManyChecks()
  }
  const counted = new Set<unknown>()
  for (const root of [schema, ...Object.values(lookup)] as (JsonObject | boolean)[])
    if (isJsonObject(root))
      mapSubschemas(root, (part) => {
        if (counted.has(part)) return {}
        counted.add(part)
        return Object.defineProperty(part, '$recursiveAnchor' satisfies keyof Schema, { get: countCheck })
      })
  return (next: unknown): void => {
    value = next
    checks = 0
  }
}

function countParts(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const part of Object.values(value)) count += countParts(part)
  return count
}
