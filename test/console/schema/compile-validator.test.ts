import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CheckMode, compileValidator as compileForPage } from '../../../console/schema/check-text.ts'
import { parseJson } from '../../../lib/core/json/parse-json.ts'
import { loadPatternEngine } from '../../../lib/schema/patterns/load-pattern-engine.ts'
import { compileStrictValidator, compileValidator } from '../../../lib/schema/validate/validate.ts'
import { anyInputs, wildSchemas } from '../../schema/random-schemas.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'

const SERVICE = { strict: compileStrictValidator, adapting: compileValidator }

describe.each(['strict', 'adapting'] as CheckMode[])('compileValidator of the console, %s', (mode) => {
  beforeAll(() => loadPatternEngine())

  it('finds what the service finds, in the same words', () => {
    fc.assert(
      fc.property(wildSchemas, anyInputs, (schema, input) => {
        fc.pre(!JSON.stringify(schema).includes('nowhere'))
        expect(compileForPage(schema, mode)(input)).toEqual(SERVICE[mode](schema)(input))
      }),
      { numRuns: propertyRuns(500) },
    )
  })

  it.each([
    [{ id: { type: 'string', pattern: '^(a|b)+c$' } }, '{"id":"abd"}'],
    [{ tags: { type: 'array', items: { type: 'string' } } }, '{"tags":["a",1]}'],
    [{ type: 'object', properties: { a: { type: 'array', uniqueItems: true } } }, '{"a":[1]}'],
    [{ size: { type: 'integer' } }, '{"size":12345678901234567890}'],
  ])('agrees with the service about %j and %s', (schema, text) => {
    const input = parseJson(text)
    expect(compileForPage(schema, mode)(input)).toEqual(SERVICE[mode](schema)(input))
  })
})
