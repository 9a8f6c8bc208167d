import type { Violation } from '../../core/errors.ts'
import { type Json, mapExactNumbers } from '../../core/json.ts'
import { MAX_VIOLATIONS } from '../explain/explain-errors.ts'
import { toJsonPointer } from '../json-pointer.ts'
import { truncate } from '../message-text.ts'

/** Returns the violations of a value; empty when it is valid. */
export type Validator = (value: unknown) => Violation[]

/** A validator in which every number is the nearest double. */
export const roundNumbers =
  (validate: Validator): Validator =>
  (value) =>
    validate(mapExactNumbers(value as Json, (number) => number.toDouble()))

/**
 * Strict mode for a value in which a double cannot hold every number: as the nearest doubles, and then as objects, which no
 * number field accepts. A field that accepts both has no type that a rounded number would violate.
 */
export function validateExactNumbers(value: Json, validateDoubles: Validator): Violation[] {
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
