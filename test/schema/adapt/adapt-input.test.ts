import { describe, expect, it } from 'vitest'
import type { InputAdaptation } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { groups } from './adapt-cases.ts'

function inShort({ kind, from, path }: InputAdaptation): string {
  if (kind === 'converted') return `converted ${path} from ${from}`
  return from === undefined ? `${kind} ${path}` : `${kind} ${from} -> ${path}`
}

describe.each(groups)('compileAdapter: $title', ({ schema, cases }) => {
  const adapt = compileAdapter(schema)

  it.each(cases)('adapts %j to %j: %j', (sent, effective, adaptations) => {
    const before = JSON.stringify(sent)
    const result = adapt(sent)
    expect(result.adaptations.map(inShort)).toEqual(adaptations)
    expect(JSON.stringify(result.input)).toBe(JSON.stringify(effective))
    if (adaptations.length === 0) expect(result.input).toBe(sent)
    expect(JSON.stringify(sent)).toBe(before)
    expect(adapt(result.input)).toEqual({ input: result.input, adaptations: [] })
  })
})

describe('compileAdapter, for what is out of the ordinary', () => {
  it('passes on what nests deeper than any input may', () => {
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

  it('lists a hundred adaptations at most, and makes them all', () => {
    const adapt = compileAdapter({ list: { type: 'array', items: { type: 'integer' } } })
    const { input, adaptations } = adapt({ list: Array.from({ length: 5_000 }, (_, i) => `${i}`) })
    expect(input).toEqual({ list: Array.from({ length: 5_000 }, (_, i) => i) })
    expect(adaptations).toHaveLength(100)
  })

  it('gives each input defaults of its own', () => {
    const adapt = compileAdapter({ paging: { type: 'object', default: { sizes: [1] } } })
    const first = adapt({}).input
    Object.assign(first.paging as JsonObject, { sizes: [2] })
    expect(adapt({}).input).toEqual({ paging: { sizes: [1] } })
  })

  it('never tells a value', () => {
    const adapt = compileAdapter({
      artistName: { type: 'integer' },
      mode: { type: 'string', enum: ['secret-b'] },
    })
    const { adaptations } = adapt({ data: { 'artist-name': '987654', Mode: 'Secret B' } })
    expect(adaptations).toHaveLength(5)
    expect(JSON.stringify(adaptations)).not.toMatch(/987654|secret/i)
  })
})
