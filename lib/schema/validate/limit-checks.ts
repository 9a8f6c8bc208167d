import type { Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { type Lookup, mapSubschemas } from '../subschemas.ts'

/** How often subschemas may be applied while a value is validated; if the value has many parts, so often for each. */
const MAX_CHECKS = 500_000
const MAX_CHECKS_OF_PART = 100

/** The validator applied subschemas too often. */
export class TooManyChecks extends Error {}

/**
 * Limits the work of the validator. A recursive schema with alternatives applies each of them at every level of a value:
 * exponential time. The validator reads every keyword of a schema whenever it applies it. `$recursiveAnchor` of draft
 * 2019-09 is unknown to 2020-12, so its getter can count without an effect on the result.
 */
export function limitChecks(schema: JsonObject, lookup: Lookup) {
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
  return {
    /** @throws TooManyChecks (from the validator) */
    start: (next: unknown): void => {
      value = next
      checks = 0
    },
  }
}

function countParts(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const part of Object.values(value)) count += countParts(part)
  return count
}
