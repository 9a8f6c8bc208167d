import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { compileStrictValidator } from '../../../lib/schema/validate/validate.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anyInputs, plainSchemas, validInputs, wildSchemas } from '../random-schemas.ts'

const schemaAndValidInput = plainSchemas.chain((schema) =>
  validInputs(schema).map((input) => [schema, input as JsonObject] as const),
)

/** Texts that become booleans. */
const BOOLEANS = new Map([
  ...['yes', 'y', 'on'].map((text) => [text, '1'] as const),
  ...['no', 'n', 'off'].map((text) => [text, '0'] as const),
])

/** The scalars of a value, in a normalized form that adaptation preserves. */
function scalarsOf(value: Json): string[] {
  if (typeof value === 'object' && value !== null) {
    const parts = Object.values(value).flatMap(scalarsOf)
    return Array.isArray(value) && value.length === 0 ? ['[]'] : parts
  }
  const text = value === true ? '1' : value === false ? '0' : String(value)
  const inside = typeof value === 'string' ? parsed(text) : value
  if (typeof inside === 'object' && inside !== null) return scalarsOf(inside)
  if (typeof inside === 'number') return [String(inside)]
  if (typeof inside === 'boolean') return [inside ? '1' : '0']
  const normalized = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_.-]/g, '')
  return [BOOLEANS.get(normalized) ?? normalized]
}

/** null and an empty text may be removed. */
const isEmpty = (text: string) => text === 'null' || text === ''

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The multiset difference of two lists. */
function difference(expected: string[], actual: string[]): string[] {
  const rest = [...actual]
  return expected.filter((scalar) => {
    const index = rest.indexOf(scalar)
    if (index >= 0) rest.splice(index, 1)
    return index < 0
  })
}

/** Rewrites names and scalars as a careless client might. */
function writeCarelessly(value: Json, schema: JsonObject): Json {
  if (Array.isArray(value))
    return value.map((item) => writeCarelessly(item, (schema.items ?? {}) as JsonObject))
  if (!isJsonObject(value)) return writtenAs(value, schema)
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>
  const entries = Object.entries(value).map(([name, field]): [string, Json] => [
    name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, '_').toUpperCase(),
    writeCarelessly(field, properties[name] ?? {}),
  ])
  return Object.fromEntries(entries)
}

function writtenAs(value: Json, { type }: JsonObject): Json {
  if (type === 'integer' || type === 'number' || type === 'boolean') return String(value).toUpperCase()
  return value
}

describe('compileAdapter, for random schemas and inputs', () => {
  it('does not change a valid input that has all defaults', () => {
    fc.assert(
      fc.property(schemaAndValidInput, ([schema, input]) => {
        expect(compileStrictValidator(schema)(input)).toEqual([])
        expect(compileAdapter(schema)(input)).toEqual({ input, adaptations: [] })
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  it('only adds defaults to a valid input', () => {
    fc.assert(
      fc.property(wildSchemas, anyInputs, (schema, input) => {
        fc.pre(isValid(schema, input))
        const { adaptations } = compileAdapter(schema)(input)
        expect(adaptations.filter(({ kind }) => kind !== 'defaulted')).toEqual([])
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })

  it('restores an input rewritten by a careless client', () => {
    fc.assert(
      fc.property(schemaAndValidInput, ([schema, input]) => {
        const sent = writeCarelessly(input, schema) as JsonObject
        const { input: effective } = compileAdapter(schema)(sent)
        expect(compileStrictValidator(schema)(effective)).toEqual([])
        expect(effective).toEqual(input)
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  it('loses no value, is idempotent, and does not throw', () => {
    fc.assert(
      fc.property(wildSchemas, anyInputs, (schema, sent) => {
        const adapt = compileAdapter(schema)
        const before = JSON.stringify(sent)
        const { input, adaptations } = adapt(sent)
        expect(JSON.stringify(sent)).toBe(before)
        // Around the fields inside an envelope, others describe the envelope.
        if (!adaptations.some(({ kind }) => kind === 'unwrapped'))
          expect(difference(scalarsOf(sent), scalarsOf(input)).filter((text) => !isEmpty(text))).toEqual([])
        expect(adapt(input)).toEqual({ input, adaptations: [] })
        expect(JSON.parse(JSON.stringify(adaptations))).toEqual(adaptations)
      }),
      { numRuns: propertyRuns(10_000) },
    )
  })
})

/** False also for a schema that does not compile because of an unresolvable reference. */
function isValid(schema: JsonObject, input: JsonObject): boolean {
  try {
    return compileStrictValidator(schema)(input).length === 0
  } catch {
    return false
  }
}
