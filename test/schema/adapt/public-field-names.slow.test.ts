import { describe, expect, it } from 'vitest'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { toCanonicalName } from '../../../lib/schema/adapt/names/find-field.ts'
import { parseName } from '../../../lib/schema/similar-names.ts'
import { PUBLIC_FIELD_NAMES } from './cases/public-field-names.ts'

const names = Object.values(PUBLIC_FIELD_NAMES).flatMap((text) => text.trim().split(/\s+/))

/** Equal except for the naming convention, or by the documented tables. */
function areEqual(a: string, b: string): boolean {
  const [first, second] = [parseName(a), parseName(b)]
  return (
    first.normalized === second.normalized || toCanonicalName(first.words) === toCanonicalName(second.words)
  )
}

describe('compileAdapter, 500 names of fields in public APIs', () => {
  it('has at least 500 names', () => {
    expect(new Set(names).size).toBeGreaterThanOrEqual(500)
  })

  it.each([
    ['string', 'x'],
    ['integer', 3],
    ['boolean', true],
  ])(
    'never takes one for another: %s',
    (type, value) => {
      const matched: string[] = []
      for (const declared of names) {
        const adapt = compileAdapter({ [declared]: { type, required: false } })
        for (const sent of names)
          if (adapt({ [sent]: value }).adaptations.length > 0 && !areEqual(sent, declared))
            matched.push(`${sent} -> ${declared}`)
      }
      expect(matched).toEqual([])
    },
    300_000,
  )
})
