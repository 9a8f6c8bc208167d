import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { compileStrictValidator, compileValidator } from '../../../lib/schema/validate/validate.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anyInputs, wildSchemas } from '../random-schemas.ts'
import { openGroups, strictGroups } from './strict-violation-cases.ts'
import { groups } from './violation-cases.ts'

const messagesOf = (violations: { message: string }[]) => violations.map(({ message }) => message)

describe.each(groups)('compileValidator: $title', ({ schema, cases }) => {
  it.each(cases)('reports for %j: %j', (value, messages) => {
    const violations = compileValidator(schema)(value)
    expect(messagesOf(violations).sort()).toEqual([...messages].sort())
    for (const { path, message } of violations)
      expect(message.startsWith(`${path || 'The value'} `)).toBe(true)
  })
})

describe.each(strictGroups)('compileStrictValidator: $title', ({ schema, cases }) => {
  it.each(cases)('reports for %j: %j', (value, messages) => {
    const before = JSON.stringify(schema)
    expect(messagesOf(compileStrictValidator(schema)(value))).toEqual(messages)
    expect(compileValidator(schema)(value)).toEqual([])
    expect(JSON.stringify(schema)).toBe(before)
  })
})

describe.each(openGroups)('compileStrictValidator, undeclared fields with $title', ({ schema, cases }) => {
  it.each(cases)('allows %j', (value) => {
    expect(compileStrictValidator(schema)(value)).toEqual([])
  })
})

describe('compileValidator, edge cases', () => {
  const list: JsonObject = { list: { type: 'array', items: { type: 'string' } } }

  it('reports at most 100 violations', () => {
    expect(compileValidator(list)({ list: Array.from({ length: 5_000 }, () => 1) })).toHaveLength(100)
  })

  // More than a function call takes as arguments.
  const MANY = inject('isNightly') ? 1_000_000 : 200_000
  it(`reports at least one of ${MANY} violations`, () => {
    const [first] = compileValidator(list)({ list: Array.from({ length: MANY }, () => 1) })
    expect(first?.message).toBe('/list/0 must be a string, not a number.')
  })

  it('truncates a long name', () => {
    const [violation] = compileValidator({})({ ['x'.repeat(100_000)]: 1 })
    expect(JSON.stringify(violation).length).toBeLessThan(500)
  })

  it('rejects a field name with an unpaired surrogate', () => {
    expect(messagesOf(compileValidator({})({ '\ud800': 1 }))).toEqual([
      'The value contains a field name with an unpaired surrogate.',
    ])
  })

  it('accepts field names such as __proto__', () => {
    const validate = compileValidator(JSON.parse('{"__proto__": {"type": "integer"}}'))
    expect(validate(JSON.parse('{"__proto__": 1}'))).toEqual([])
    expect(messagesOf(validate(JSON.parse('{"__proto__": "x", "constructor": 1}')))).toEqual([
      '/__proto__ must be an integer, not a string.',
      '/constructor is not defined in the schema.',
    ])
  })
})

describe('compileStrictValidator, for random schemas and inputs', () => {
  it('reports every invalid input that compileValidator reports, with its path', () => {
    fc.assert(
      fc.property(wildSchemas, anyInputs, (schema, input) => {
        fc.pre(!JSON.stringify(schema).includes('nowhere'))
        const found = compileValidator(schema)(input)
        const strictly = compileStrictValidator(schema)(input)
        if (found.length > 0) expect(strictly.length).toBeGreaterThan(0)
        for (const { path, message } of [...found, ...strictly])
          expect(message.startsWith(`${path || 'The value'} `)).toBe(true)
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })
})
