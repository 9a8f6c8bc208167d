import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../../lib/core/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { compileStrictCheck } from '../../../lib/schema/validate/validate.ts'
import { anyInputs, conformingInputs, plainSchemas, wildSchemas } from '../random-schemas.ts'

const withConforming = plainSchemas.chain((schema) =>
  conformingInputs(schema).map((input) => [schema, input as JsonObject] as const),
)

/** The values in a value, in a text form that the documented conversions do not change. */
function leavesOf(value: Json): string[] {
  if (typeof value === 'object' && value !== null) {
    const parts = Object.values(value).flatMap(leavesOf)
    return Array.isArray(value) && value.length === 0 ? ['[]'] : parts
  }
  const text = String(value)
  const inside = typeof value === 'string' ? parsed(text) : value
  if (typeof inside === 'object' && inside !== null) return leavesOf(inside)
  if (typeof inside === 'number') return [String(inside)]
  return [
    text
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[\s_.-]/g, ''),
  ]
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Those of a list that another does not hold as often. */
function missing(wanted: string[], found: string[]): string[] {
  const left = [...found]
  return wanted.filter((leaf) => {
    const index = left.indexOf(leaf)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

/** Names and scalars as a careless client might write them. */
function careless(value: Json, schema: JsonObject): Json {
  if (Array.isArray(value)) return value.map((item) => careless(item, (schema.items ?? {}) as JsonObject))
  if (!isJsonObject(value)) return writtenAs(value, schema)
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>
  const entries = Object.entries(value).map(([name, field]): [string, Json] => [
    name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, '_').toUpperCase(),
    careless(field, properties[name] ?? {}),
  ])
  return Object.fromEntries(entries)
}

function writtenAs(value: Json, { type }: JsonObject): Json {
  if (type === 'integer' || type === 'number' || type === 'boolean') return String(value).toUpperCase()
  return value
}

describe('compileAdapter, for any schema and input', () => {
  it('changes nothing of an input that conforms', () => {
    fc.assert(
      fc.property(withConforming, ([schema, input]) => {
        expect(compileStrictCheck(schema)(input)).toEqual([])
        expect(compileAdapter(schema)(input)).toEqual({ input, adaptations: [] })
      }),
      { numRuns: 2_000 },
    )
  })

  it('adds only defaults to an input that conforms', () => {
    fc.assert(
      fc.property(wildSchemas, anyInputs, (schema, input) => {
        fc.pre(conforms(schema, input))
        const { adaptations } = compileAdapter(schema)(input)
        expect(adaptations.filter(({ kind }) => kind !== 'defaulted')).toEqual([])
      }),
      { numRuns: 1_000 },
    )
  })

  it('restores what a careless client wrote', () => {
    fc.assert(
      fc.property(withConforming, ([schema, input]) => {
        const sent = careless(input, schema) as JsonObject
        const { input: effective } = compileAdapter(schema)(sent)
        expect(compileStrictCheck(schema)(effective)).toEqual([])
        expect(effective).toEqual(input)
      }),
      { numRuns: 2_000 },
    )
  })

  it('loses no value, changes nothing more the second time, and ends without an error', () => {
    fc.assert(
      fc.property(wildSchemas, anyInputs, (schema, sent) => {
        const adapt = compileAdapter(schema)
        const before = JSON.stringify(sent)
        const { input, adaptations } = adapt(sent)
        expect(JSON.stringify(sent)).toBe(before)
        expect(missing(leavesOf(sent), leavesOf(input))).toEqual([])
        expect(adapt(input)).toEqual({ input, adaptations: [] })
        expect(JSON.parse(JSON.stringify(adaptations))).toEqual(adaptations)
      }),
      { numRuns: 10_000 },
    )
  })
})

/** Not every random schema can be checked: its references may lead nowhere. */
function conforms(schema: JsonObject, input: JsonObject): boolean {
  try {
    return compileStrictCheck(schema)(input).length === 0
  } catch {
    return false
  }
}
