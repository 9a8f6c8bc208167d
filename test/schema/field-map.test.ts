import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { isJsonSchema, toJsonSchema } from '../../lib/schema/field-map.ts'
import { compileValidator } from '../../lib/schema/validate/validate.ts'

describe('isJsonSchema', () => {
  it('distinguishes a field named type from the keyword', () => {
    expect(isJsonSchema({ type: { type: 'string' } })).toBe(false)
    expect(isJsonSchema({ type: 'object' })).toBe(true)
    expect(isJsonSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', anyOf: [] })).toBe(true)
  })
})

describe('toJsonSchema', () => {
  it('requires every field without a default or required: false, at each level', () => {
    const fields = {
      a: { type: 'string' },
      b: { type: 'string', required: false },
      c: { type: 'integer', default: 3 },
      d: { type: 'object', properties: { e: { type: 'string' }, f: { type: 'string', required: false } } },
      g: { type: 'array', items: { type: 'object', properties: { h: { type: 'number' } } } },
    }
    expect(toJsonSchema(fields as unknown as JsonObject)).toMatchObject({
      required: ['a', 'd', 'g'],
      additionalProperties: false,
      properties: {
        d: { required: ['e'], additionalProperties: false },
        g: { items: { required: ['h'], additionalProperties: false } },
      },
    })
  })

  it('returns a JSON Schema unchanged', () => {
    const schema = { type: 'object', patternProperties: { '^x': {} } }
    expect(toJsonSchema(schema)).toBe(schema)
  })
})

describe('bounds', () => {
  const validate = compileValidator({
    code: { type: 'string', minLength: 2, maxLength: 3, pattern: '^[a-z]+$' },
    day: { type: 'string', format: 'date' },
    score: { type: 'number', minimum: 0, maximum: 1 },
    tags: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', maxLength: 1 } },
  } as unknown as JsonObject)
  const valid = { code: 'ab', day: '2026-11-22', score: 0.5, tags: ['a'] }

  it.each([
    [{}, []],
    [{ code: 'a' }, ['/code']],
    [{ code: 'abcd' }, ['/code']],
    [{ code: 'AB' }, ['/code']],
    [{ day: '22.11.2026' }, ['/day']],
    [{ score: -0.1 }, ['/score']],
    [{ score: 1.1 }, ['/score']],
    [{ tags: [] }, ['/tags']],
    [{ tags: ['a', 'b', 'c'] }, ['/tags']],
    [{ tags: ['ab'] }, ['/tags/0']],
  ])('of a field map are checked: %j', (change, paths) => {
    expect(validate({ ...valid, ...change }).map(({ path }) => path)).toEqual(paths)
  })
})

describe('compileValidator', () => {
  const validate = compileValidator({
    name: { type: 'string' },
    kind: { type: 'string', enum: ['a', 'b'], required: false },
    'a/b~c': { type: 'integer', required: false },
    list: {
      type: 'array',
      items: { type: 'object', properties: { n: { type: 'integer' } } },
      required: false,
    },
  } as unknown as JsonObject)

  const cases: [value: unknown, paths: string[]][] = [
    [{ name: 'x' }, []],
    [{ name: 'x', kind: 'b', list: [{ n: 1 }] }, []],
    [{}, ['/name']],
    [{ name: 1 }, ['/name']],
    [{ name: 'x', kind: 'c' }, ['/kind']],
    [{ name: 'x', other: 1 }, ['/other']],
    [{ name: 'x', 'a/b~c': 'y' }, ['/a~1b~0c']],
    [{ name: 'x', 'o/~': 'y' }, ['/o~1~0']],
    [{ name: 'x', list: [{ n: 1 }, { n: 1.5 }, {}] }, ['/list/1/n', '/list/2/n']],
    [{ name: 'x', list: {} }, ['/list']],
    ['text', ['']],
  ]
  it.each(cases)('reports each violation of %j once, with its path', (value, paths) => {
    expect(
      validate(value)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(paths)
  })
})
