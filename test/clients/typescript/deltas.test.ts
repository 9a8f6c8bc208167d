import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Client, DeepPartial } from '../../../clients/typescript/src/index.ts'
import { parsePartial } from '../../../clients/typescript/src/runs/partial.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'

describe('stream with deltas', () => {
  it('has the types of the output, and those of deltas only with the option', () => {
    type Agents = { echo: { input: object; output: { kind: 'a' | 'b'; items: { n: number }[] } } }
    const client = null as unknown as Client<Agents>
    const [plain, live] = [() => client.stream('echo', {}), () => client.stream('echo', {}, { deltas: true })]
    type EventOf<T extends () => AsyncGenerator<unknown>> =
      ReturnType<T> extends AsyncGenerator<infer E> ? E : never
    expectTypeOf<Extract<EventOf<typeof plain>, { event: 'delta' | 'partial' }>>().toBeNever()
    type Partial = Extract<EventOf<typeof live>, { event: 'partial' }>['data']
    expectTypeOf<Partial>().toEqualTypeOf<{ kind?: string; items?: { n?: number }[] }>()
    expectTypeOf<DeepPartial<{ a: string | null }>>().toEqualTypeOf<{ a?: string | null }>()
  })
})

/** Whether one value can be the beginning of another. */
function begins(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part)
  if (typeof part !== 'object' || part === null || typeof whole !== 'object' || whole === null)
    return Object.is(part, whole)
  return Object.entries(part).every(([name, value]) =>
    begins(value, (whole as Record<string, unknown>)[name]),
  )
}

describe('parsePartial', () => {
  it('of each beginning is the beginning of the whole', () => {
    const value = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (given, indent) => {
        const whole = JSON.stringify(given, null, indent)
        const expected = JSON.parse(whole)
        for (let cut = 1; cut <= whole.length; cut++)
          expect(begins(parsePartial(whole.slice(0, cut), JSON.parse), expected)).toBe(true)
        expect(parsePartial(whole, JSON.parse)).toEqual(expected)
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})
