import type { JsonObject } from '../../lib/core/json/json.ts'

/** A JSON Schema of an object; all fields are required by default, and others are not allowed. */
export const object = (properties: JsonObject, keywords: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...keywords,
})

const field = (schema: JsonObject | boolean) => object({ value: schema })
const text = { type: 'string', maxLength: 12 }
const person = object({ name: text, age: { type: 'integer', minimum: 0, maximum: 120 } })
const range = (length: number) => Array.from({ length }, (_, index) => index)

/** Kinds of output schemas that the grammar of llama.cpp enforces: a random model can follow them. */
export const OUTPUT_SCHEMAS: Record<string, JsonObject> = {
  'a string': field({ type: 'string' }),
  'an enum': field({ type: 'string', enum: ['low', 'normal', 'high', 'urgent'] }),
  'an enum of 300 values': field({ type: 'string', enum: range(300).map((index) => `v${index}`) }),
  'a constant': field({ const: 'yes' }),
  'limits of an integer': field({ type: 'integer', minimum: 5, exclusiveMaximum: 121 }),
  'a pattern': field({ type: 'string', pattern: '^[A-Z]{2}-[0-9]{4}$' }),
  'a UUID': field({ type: 'string', format: 'uuid' }),
  'a list': field({ type: 'array', items: { type: 'string' } }),
  'lengths of lists': field({ type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 4 }),
  'a list of objects': field({ type: 'array', items: person, maxItems: 3 }),
  'a list of two types': field({
    type: 'array',
    prefixItems: [text, { type: 'integer' }],
    items: false,
    minItems: 2,
  }),
  'optional fields': object({ a: text, b: { type: 'integer' }, c: { type: 'boolean' } }, { required: ['a'] }),
  '60 fields': object(Object.fromEntries(range(60).map((index) => [`field${index}`, text]))),
  'a map': field({ type: 'object', additionalProperties: { type: 'integer' } }),
  alternatives: object({
    any: { anyOf: [text, { type: 'integer' }] },
    one: { oneOf: [person, { type: 'null' }] },
  }),
  'references to definitions, one of them recursive': object(
    { owner: { $ref: '#/$defs/person' }, tree: { $ref: '#/$defs/tree' } },
    {
      $defs: {
        person,
        tree: object({
          label: text,
          children: { type: 'array', items: { $ref: '#/$defs/tree' }, maxItems: 2 },
        }),
      },
    },
  ),
  'any value': object({ empty: {}, open: true }),
  'names of fields that are no identifiers': object({ größe: text, 'two words': text, 'a "quote"': text }),
}

/** Schemas with boolean subschemas, which llama.cpp does not know. */
export const BOOLEAN_SCHEMAS = ['a list of two types', 'any value']
