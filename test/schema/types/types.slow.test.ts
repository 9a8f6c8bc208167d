import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { toTypes } from '../../../lib/schema/types/to-types.ts'
import { writeTypeScript } from '../../../lib/schema/types/write-typescript.ts'
import { compileValidator } from '../../../lib/schema/validate/validate.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { typeCheck } from '../../support/data/type-check.ts'
import { anyInputs, plainSchemas, validInputs, wildSchemas } from '../random-schemas.ts'

const typesOf = (declared: JsonObject, options = {}) =>
  writeTypeScript(toTypes(declared, { name: 'Value', ...options }))

/** A value as an expression. A literal `__proto__` would set the prototype, as a computed name it does not. */
function toExpression(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map(toExpression).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(
      ([name, part]) =>
        `${name === '__proto__' ? "['__proto__']" : JSON.stringify(name)}: ${toExpression(part)}`,
    )
    .join(', ')} }`
}

const text = { type: 'string' }
const number = { type: 'number' }
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})

describe('writeTypeScript', () => {
  it('writes a field map with its descriptions, defaults and optional fields', () => {
    const declared = {
      text: { type: 'string', description: 'The text.\nIn any language.' },
      mode: { type: 'string', enum: ['fast', "it's"], default: 'fast' },
      'max-words': { type: 'integer', required: false, description: 'Ends a comment: */ alert(1)' },
      lines: {
        type: 'array',
        items: { type: 'object', properties: { number: { type: 'number' }, note: { type: 'null' } } },
      },
    }
    expect(typesOf(declared)).toBe(`export type Value = {
  /**
   * The text.
   * In any language.
   */
  text: string
  /** @default "fast" */
  mode?: 'fast' | 'it\\'s'
  /** Ends a comment: *\\/ alert(1) */
  'max-words'?: number
  lines: {
    number: number
    note: null
  }[]
}
`)
  })

  it('writes the type of an input as the agent receives it, with defaults set', () => {
    const declared = {
      mode: { type: 'string', default: 'fast' },
      nested: { type: 'object', required: false, properties: { size: { type: 'integer', default: 1 } } },
    }
    expect(typesOf(declared, { withDefaults: true })).toBe(`export type Value = {
  /** @default "fast" */
  mode: string
  nested?: {
    /** @default 1 */
    size: number
  }
}
`)
  })

  it('names the types of references and takes no name twice', () => {
    const node = { $ref: '#/$defs/tree-node' }
    const $defs = { 'tree-node': object({ children: { type: 'array', items: node } }) }
    const schema = object({ root: node, self: { $ref: '#' } }, { $defs })
    const taken = new Set(['ValueTreeNode'])
    expect(typesOf(schema, { taken })).toBe(`export type Value = {
  root: ValueTreeNode2
  self: Value
}

export type ValueTreeNode2 = {
  children: ValueTreeNode2[]
}
`)
  })
})

/** Schemas with values that their type has to accept, and values that it should reject. */
const CASES: { schema: JsonObject; valid: Json[]; invalid: Json[] }[] = [
  {
    schema: object({ a: { type: 'string' }, b: { type: ['integer', 'null'] } }, { required: ['a'] }),
    valid: [{ a: 'x' }, { a: 'x', b: null }, { a: '', b: 2 }],
    invalid: [{}, { a: 1 }, { a: 'x', b: 'y' }, { a: 'x', c: 1 }],
  },
  {
    schema: object({ a: { const: 'x' }, b: { enum: [1, 'two', null, { deep: [true] }] } }),
    valid: [
      { a: 'x', b: 1 },
      { a: 'x', b: null },
      { a: 'x', b: { deep: [true] } },
    ],
    invalid: [
      { a: 'y', b: 1 },
      { a: 'x', b: 2 },
      { a: 'x', b: { deep: [false] } },
    ],
  },
  {
    schema: object(
      { shape: { anyOf: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/square' }, { type: 'null' }] } },
      {
        $defs: {
          circle: object({ kind: { const: 'circle' }, radius: number }),
          square: object({ kind: { const: 'square' }, side: number }),
        },
      },
    ),
    valid: [null, { kind: 'circle', radius: 2 }, { kind: 'square', side: 2 }].map((shape) => ({ shape })),
    invalid: [{ shape: { kind: 'circle', side: 2 } }, { shape: {} }],
  },
  {
    schema: object({
      pair: { type: 'array', prefixItems: [text, number], minItems: 2, items: false },
      open: { type: 'array', prefixItems: [text, number], minItems: 1 },
      rest: { type: 'array', prefixItems: [{ type: 'boolean' }], minItems: 1, items: { type: 'string' } },
      none: { type: 'array', items: false },
    }),
    valid: [
      { pair: ['a', 1], open: ['a'], rest: [true], none: [] },
      { pair: ['a', 1], open: ['a', 1, null], rest: [true, 'a', 'b'], none: [] },
    ],
    invalid: [
      { pair: ['a'], open: ['a'], rest: [true], none: [] },
      { pair: ['a', 1], open: [], rest: [true], none: [] },
      { pair: ['a', 1], open: ['a'], rest: [true, 1], none: [] },
      { pair: ['a', 1], open: ['a'], rest: [true], none: [1] },
    ],
  },
  {
    schema: object(
      { id: { type: 'string' }, count: { type: 'integer' } },
      {
        required: ['id'],
        additionalProperties: { type: 'boolean' },
        patternProperties: { '^n': { type: 'null' } },
      },
    ),
    valid: [{ id: 'a' }, { id: 'a', count: 1, isOpen: true, note: null }],
    invalid: [{ id: 'a', other: [1] }],
  },
  {
    schema: {
      type: 'object',
      properties: { kind: { type: 'string' } },
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] },
      ],
      anyOf: [{ required: ['kind'] }, { required: ['other'] }],
    },
    valid: [
      { kind: 'x', a: 'a', b: 1 },
      { other: 1, a: 'a', b: 1 },
    ],
    invalid: [
      { a: 'a', b: 1 },
      { kind: 'x', a: 'a' },
    ],
  },
  {
    schema: {
      type: 'object',
      $defs: {
        tree: {
          type: 'object',
          properties: { value: number, left: { $ref: '#/$defs/tree' }, right: { $ref: '#/$defs/tree' } },
          required: ['value'],
          unevaluatedProperties: false,
        },
        loop: { anyOf: [{ $ref: '#/$defs/loop' }, { type: 'string' }] },
      },
      properties: { tree: { $ref: '#/$defs/tree' } },
    },
    valid: [{ tree: { value: 1, left: { value: 2, right: { value: 3 } } } }, {}, { more: 1 }],
    invalid: [{ tree: { value: 1, left: { value: '2' } } }, { tree: { value: 1, middle: {} } }],
  },
  {
    schema: object(
      {
        'kebab-case': { type: 'string' },
        '1st': {},
        'quote\'"\\': {},
        __proto__: { type: 'number' },
        'line\nbreak': {},
      },
      { required: ['kebab-case'], description: '*/ export type Value = never /*' },
    ),
    valid: [{ 'kebab-case': 'a', '1st': 1, 'quote\'"\\': 2, 'line\nbreak': 3 }],
    invalid: [{ 'kebab-case': 1 }],
  },
  {
    schema: object({ constructor: number, toString: text }, { required: ['toString'] }),
    valid: [{ toString: 'a' }, { toString: 'a', constructor: 1 }],
    invalid: [{ toString: 1 }],
  },
  { schema: { type: 'object' }, valid: [{}, { a: 1 }], invalid: [1] },
  { schema: object({}), valid: [{}], invalid: [{ a: 1 }] },
  {
    schema: object(
      { n: { type: 'number', anyOf: [{ type: 'integer' }, { minimum: 5 }] }, any: {}, no: false },
      { required: ['n'] },
    ),
    valid: [{ n: 1 }, { n: 5.5, any: [{}] }],
    invalid: [{ n: 'x' }, { n: 1, no: 1 }],
  },
]

describe('toTypes', () => {
  it.each([true, false])('accepts and rejects values (exactOptionalPropertyTypes: %s)', async (isExact) => {
    const lines = CASES.flatMap(({ schema, valid, invalid }, index) => {
      const validate = compileValidator(schema)
      expect(valid.flatMap(validate)).toEqual([])
      expect(invalid.filter((value) => validate(value).length === 0)).toEqual([])
      const type = `Value${index}`
      return [
        writeTypeScript(toTypes(schema, { name: type })),
        ...valid.map((value) => `;(${toExpression(value)}) satisfies ${type}`),
        ...invalid.map((value) => `// @ts-expect-error\n;(${toExpression(value)}) satisfies ${type}`),
      ]
    })
    expect(await typeCheck(lines.join('\n'), { exactOptionalPropertyTypes: isExact })).toBe('')
  })

  it('accepts what a random schema accepts', async () => {
    const plain = plainSchemas.chain((schema) => fc.tuple(fc.constant(schema), fc.array(validInputs(schema))))
    const samples = fc.sample(fc.oneof(plain, wildSamples), propertyRuns(1000))
    const lines = samples.flatMap(([schema, values], index) => {
      const validate = compileValidator(schema)
      const valid = values.filter((value) => isValid(validate, value))
      return [
        writeTypeScript(toTypes(schema, { name: `Value${index}` })),
        ...valid.map((value) => `;(${toExpression(value)}) satisfies Value${index}`),
      ]
    })
    expect(lines.length).toBeGreaterThan(samples.length * 2)
    expect(await typeCheck(lines.join('\n'))).toBe('')
  })
})

const wildSamples = fc.tuple(
  wildSchemas,
  fc.array(anyInputs.filter(hasOnlyOwnNames), { minLength: 20, maxLength: 20 }),
)

/** TypeScript takes undeclared fields with these names for the methods of every object. */
function hasOnlyOwnNames(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(
    ([name, part]) =>
      (name === '__proto__' || !Object.hasOwn(Object.prototype, name)) && hasOnlyOwnNames(part),
  )
}

/** The validator throws for a reference to nowhere; publishing rejects such a schema. */
function isValid(validate: (value: unknown) => unknown[], value: Json): boolean {
  try {
    return validate(value).length === 0
  } catch {
    return false
  }
}
