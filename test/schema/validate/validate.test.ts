import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json.ts'
import { compileCheck, compileStrictCheck } from '../../../lib/schema/validate/validate.ts'
import { anyInputs, wildSchemas } from '../random-schemas.ts'
import { groups, openGroups, strictGroups } from './mismatch-cases.ts'

const messagesOf = (violations: { message: string }[]) => violations.map(({ message }) => message)

describe.each(groups)('compileCheck: $title', ({ schema, cases }) => {
  it.each(cases)('says of %j: %j', (value, messages) => {
    const violations = compileCheck(schema)(value)
    expect(messagesOf(violations).sort()).toEqual([...messages].sort())
    for (const { path, message } of violations)
      expect(message.startsWith(`${path || 'The value'} `)).toBe(true)
  })
})

describe.each(strictGroups)('compileStrictCheck: $title', ({ schema, cases }) => {
  it.each(cases)('says of %j: %j', (value, messages) => {
    const before = JSON.stringify(schema)
    expect(messagesOf(compileStrictCheck(schema)(value))).toEqual(messages)
    expect(compileCheck(schema)(value)).toEqual([])
    expect(JSON.stringify(schema)).toBe(before)
  })
})

describe.each(openGroups)('compileStrictCheck: other fields by $title', ({ schema, cases }) => {
  it.each(cases)('are allowed in %j', (value) => {
    expect(compileStrictCheck(schema)(value)).toEqual([])
  })
})

describe('compileCheck, for what is out of the ordinary', () => {
  const list: JsonObject = { list: { type: 'array', items: { type: 'string' } } }

  it('lists a hundred violations at most', () => {
    expect(compileCheck(list)({ list: Array.from({ length: 5_000 }, () => 1) })).toHaveLength(100)
  })

  it('lists at least one of a million', () => {
    const [first] = compileCheck(list)({ list: Array.from({ length: 1_000_000 }, () => 1) })
    expect(first?.message).toBe('/list/0 must be a text, not a number.')
  })

  it('cuts a long name', () => {
    const [violation] = compileCheck({})({ ['x'.repeat(100_000)]: 1 })
    expect(JSON.stringify(violation).length).toBeLessThan(500)
  })

  it('finds half a character in a name', () => {
    expect(messagesOf(compileCheck({})({ '\ud800': 1 }))).toEqual([
      'A field has a name with half a character (an unpaired surrogate).',
    ])
  })

  it('knows fields with names that JavaScript knows', () => {
    const check = compileCheck(JSON.parse('{"__proto__": {"type": "integer"}}'))
    expect(check(JSON.parse('{"__proto__": 1}'))).toEqual([])
    expect(messagesOf(check(JSON.parse('{"__proto__": "x", "constructor": 1}')))).toEqual([
      '/__proto__ must be a whole number, not a text.',
      '/constructor is not a field of the schema.',
    ])
  })
})

describe('compileStrictCheck, for any schema and input', () => {
  it('finds whatever compileCheck finds, and tells its place', () => {
    fc.assert(
      fc.property(wildSchemas, anyInputs, (schema, input) => {
        fc.pre(!JSON.stringify(schema).includes('nowhere'))
        const found = compileCheck(schema)(input)
        const strictly = compileStrictCheck(schema)(input)
        if (found.length > 0) expect(strictly.length).toBeGreaterThan(0)
        for (const { path, message } of [...found, ...strictly])
          expect(message.startsWith(`${path || 'The value'} `)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})
