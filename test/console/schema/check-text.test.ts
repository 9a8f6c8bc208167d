import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type CheckMode,
  check,
  compileValidator as compileForPage,
} from '../../../console/schema/check-text.ts'
import { parseJson } from '../../../lib/core/json/parse-json.ts'
import { loadPatternEngine } from '../../../lib/schema/patterns/load-pattern-engine.ts'
import { compileStrictValidator, compileValidator } from '../../../lib/schema/validate/validate.ts'
import { anyInputs, wildSchemas } from '../../schema/random-schemas.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'

const schema = {
  text: { type: 'string', minLength: 1 },
  count: { type: 'integer', required: false },
  items: {
    type: 'array',
    required: false,
    items: { type: 'object', properties: { name: { type: 'string' }, size: { type: 'number' } } },
  },
}

const issuesOf = (text: string, mode: CheckMode = 'strict') =>
  check({ text, schema, mode }).map(({ kind, path, line, column, message }) => [
    kind,
    path,
    line,
    column,
    message,
  ])

describe('check', () => {
  it('names the line of what does not match the schema', () => {
    const text =
      '{\n  "text": "",\n  "items": [\n    { "name": "a", "size": 1 },\n    { "name": 2, "extra": true }\n  ]\n}'
    expect(issuesOf(text)).toEqual([
      ['schema', '/text', 2, 3, '/text must not be empty.'],
      ['schema', '/items/1/size', 5, 5, '/items/1/size is required.'],
      ['schema', '/items/1/name', 5, 7, '/items/1/name must be a string, not a number.'],
      ['schema', '/items/1/extra', 5, 18, '/items/1/extra is not defined in the schema.'],
    ])
  })

  it('names the line of what the service would reject whatever the schema', () => {
    expect(issuesOf('{\n  "text": "a"\n  "count": 1\n}')).toEqual([
      ['syntax', '', 3, 3, 'Expected a comma or a closing brace.'],
    ])
    expect(issuesOf('{"text": "a",\n "text": "b"}')).toEqual([
      ['syntax', '/text', 2, 2, 'The field "text" occurs more than once.'],
    ])
    expect(issuesOf('[1]')).toEqual([
      ['syntax', '', 1, 1, 'The JSON is an array; it must be an object: { … }'],
    ])
  })

  it('reads numbers as the service does: in strict mode they must be exact', () => {
    const text = '{"text": "a", "count": 12345678901234567890}'
    expect(issuesOf(text).map(([, path]) => path)).toEqual(['/count'])
    expect(issuesOf(text, 'adapting')).toEqual([])
    expect(issuesOf('{"text": "a", "items": [{"name": "b", "size": 1.5}]}')).toEqual([])
  })
})

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
