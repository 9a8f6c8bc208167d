import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, inject, it } from 'vitest'
import type { InputAdaptation } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { toCanonicalName } from '../../../lib/schema/adapt/names/find-field.ts'
import { parseName } from '../../../lib/schema/similar-names.ts'
import { countReads } from '../../support/data/count-reads.ts'
import { envelopes, formsAndTables } from './cases/envelopes.ts'
import { names } from './cases/names.ts'
import { values } from './cases/values.ts'
import { jsonSchemaCases } from './json-schema-cases.ts'
import { nameCases, valueCases } from './value-cases.ts'

function summarize({ kind, from, path }: InputAdaptation): string {
  if (kind === 'converted') return `converted ${path} from ${from}`
  return from === undefined ? `${kind} ${path}` : `${kind} ${from} -> ${path}`
}

describe.each([...nameCases, ...valueCases, ...jsonSchemaCases])(
  'compileAdapter: $title',
  ({ schema, cases }) => {
    const adapt = compileAdapter(schema)

    it.each(cases)('adapts %j to %j: %j', (sent, effective, adaptations) => {
      const before = JSON.stringify(sent)
      const result = adapt(sent)
      expect(result.adaptations.map(summarize)).toEqual(adaptations)
      expect(JSON.stringify(result.input)).toBe(JSON.stringify(effective))
      if (adaptations.length === 0) expect(result.input).toBe(sent)
      expect(JSON.stringify(sent)).toBe(before)
      expect(adapt(result.input)).toEqual({ input: result.input, adaptations: [] })
    })
  },
)

describe.each([...names, ...values, ...envelopes, ...formsAndTables])(
  'compileAdapter, realistic inputs: $title',
  ({ schema, adapted = [], left = [] }) => {
    const adapt = compileAdapter(schema)

    it.each(adapted)('adapts %j to %j', (sent, effective) => {
      const result = adapt(sent)
      expect(result.input).toEqual(effective)
      expect(result.adaptations).not.toEqual([])
      expect(adapt(result.input)).toEqual({ input: effective, adaptations: [] })
    })

    it.each(left)('leaves %j as sent', (sent) => {
      expect(adapt(sent)).toEqual({ input: sent, adaptations: [] })
    })
  },
)

/** The names of fields in the types of an AWS client, which are in use as they are. */
function publicNames(): string[] {
  const folder = 'node_modules/@aws-sdk/client-dynamodb/dist-types/models'
  const files = readdirSync(folder).filter((name) => name.endsWith('.d.ts'))
  const text = files.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join()
  return [...new Set([...text.matchAll(/^ {4}([A-Za-z]+)\??: /gm)].map(([, name]) => name as string))]
}

/** Equal except for the naming convention, or by the documented tables. */
function areEqual(a: string, b: string): boolean {
  const [first, second] = [parseName(a), parseName(b)]
  return (
    first.normalized === second.normalized || toCanonicalName(first.words) === toCanonicalName(second.words)
  )
}

describe('compileAdapter, names of fields in a public API', () => {
  it.each([
    ['string', 'x'],
    ['boolean', true],
  ])('never takes one for another: %s', (type, value) => {
    const every = publicNames()
    expect(every.length).toBeGreaterThan(200)
    const all = inject('isNightly') ? every : every.filter((_, index) => index % 4 === 0)
    const matched = all.flatMap((declared) => {
      const adapt = compileAdapter({ [declared]: { type, required: false } })
      return all
        .filter((sent) => adapt({ [sent]: value }).adaptations.length > 0 && !areEqual(sent, declared))
        .map((sent) => `${sent} -> ${declared}`)
    })
    expect(matched).toEqual([])
  })
})

describe('compileAdapter, edge cases', () => {
  it('returns an input that exceeds the maximum depth unchanged', () => {
    const adapt = compileAdapter({
      type: 'object',
      properties: { n: { type: 'integer' }, child: { $ref: '#' } },
    })
    let deep: JsonObject = { n: '1' }
    for (let depth = 0; depth < 20_000; depth += 1) deep = { child: deep }
    const { input, adaptations } = adapt(deep)
    expect(input === deep).toBe(true)
    expect(adaptations).toEqual([])
  })

  it('lists at most 100 adaptations, but makes all of them', () => {
    const adapt = compileAdapter({ list: { type: 'array', items: { type: 'integer' } } })
    const { input, adaptations } = adapt({ list: Array.from({ length: 5_000 }, (_, i) => `${i}`) })
    expect(input).toEqual({ list: Array.from({ length: 5_000 }, (_, i) => i) })
    expect(adaptations).toHaveLength(100)
  })

  it('leaves a default unchanged that would be adapted twice', () => {
    const names = { type: 'array', items: { type: 'string' } }
    const value = { 'artist-names': ['a'], other: true, artistNames: null }
    const group = { type: 'object', properties: { artistNames: names }, additionalProperties: false }
    const adapt = compileAdapter({ type: 'object', properties: { group: { ...group, default: value } } })
    const { input, adaptations } = adapt({})
    expect(input).toEqual({ group: value })
    expect(adaptations).toMatchObject([{ kind: 'defaulted', path: '/group' }])
    expect(adapt(input)).toEqual({ input, adaptations: [] })
  })

  it('copies defaults for each input', () => {
    const adapt = compileAdapter({ paging: { type: 'object', default: { sizes: [1] } } })
    const first = adapt({}).input
    Object.assign(first.paging as JsonObject, { sizes: [2] })
    expect(adapt({}).input).toEqual({ paging: { sizes: [1] } })
  })

  it('never includes a value in an adaptation', () => {
    const adapt = compileAdapter({
      artistName: { type: 'integer' },
      mode: { type: 'string', enum: ['secret-b'] },
    })
    const { adaptations } = adapt({ data: { 'artist-name': '987654', Mode: 'Secret B' } })
    expect(adaptations).toHaveLength(5)
    expect(JSON.stringify(adaptations)).not.toMatch(/987654|secret/i)
  })
})

const fieldMap = {
  text: { type: 'string' },
  limit: { type: 'integer', default: 5 },
  list: { type: 'array', items: { type: 'integer' }, required: false },
  rows: {
    type: 'array',
    required: false,
    items: { type: 'object', properties: { id: { type: 'integer' } } },
  },
}
const dictionary = {
  type: 'object',
  properties: { text: { type: 'string' } },
  additionalProperties: { type: 'integer' },
}

const keys = (count: number, value: number | string): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, value]))

describe('compileAdapter, many keys', () => {
  it('leaves an object with more than 1,000 unknown keys as sent', () => {
    const adapt = compileAdapter(fieldMap)
    const sent = { Text: 'a', list: ['1'], ...keys(999, 1) }
    expect(adapt(sent).input).toMatchObject({ text: 'a', list: [1], limit: 5 })
    const tooMany = { ...sent, more: 1 }
    expect(adapt(tooMany)).toEqual({ input: tooMany, adaptations: [] })
    expect(
      adapt({ text: 'a', rows: [{ ID: '1', ...keys(1_000, 1) }, { ID: '2' }] }).input.rows,
    ).toMatchObject([{ ID: '1' }, { id: 2 }])
  })

  it('adapts every value of a dictionary, however many it has', () => {
    const { input } = compileAdapter(dictionary)({ text: 'a', ...keys(5_000, '1') })
    expect(input).toEqual({ text: 'a', ...keys(5_000, 1) })
  })
})

describe('compileAdapter, large inputs', () => {
  const repeat = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i))
  const kinds: [string, JsonObject, (count: number) => JsonObject][] = [
    ['converted items', fieldMap, (count) => ({ text: 'a', list: repeat(count, (i) => `${i}`) })],
    ['misspelled names', fieldMap, (count) => ({ text: 'a', rows: repeat(count, (i) => ({ ID: `${i}` })) })],
    ['values of a dictionary', dictionary, (count) => ({ text: 'a', ...keys(count, '1') })],
    ['unknown keys', dictionary, (count) => ({ text: 'a', ...keys(count, 1) })],
  ]

  it.each(kinds)('reads %s a number of times that is linear in their number', (_, schema, make) => {
    const adapt = compileAdapter(schema)
    const readsOf = (count: number) => {
      let reads = 0
      adapt(countReads(make(count), () => reads++))
      return reads
    }
    expect(readsOf(4_000)).toBeLessThanOrEqual(2.1 * readsOf(2_000))
  })
})
