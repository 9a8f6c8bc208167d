import fc from 'fast-check'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'

/** Names that are not similar to each other. */
const NAMES = 'artistName line2 tags id größe postal-code isOpen __proto__ constructor'.split(' ')

/** Names that are equal, similar and different, and envelopes. */
const SIMILAR_NAMES = 'artist-name ARTIST_NAME artistNam artistNames line_2 line3 tag'.split(' ')
const WILD_NAMES = [...NAMES, ...SIMILAR_NAMES, 'data', 'input', 'date', 'toString', '']

const TEXTS = [
  'small',
  'Medium',
  'extra-large',
  '1',
  '-1',
  'true',
  '3.0',
  '1e3',
  '007',
  '[1]',
  '{"tags": "x"}',
  '',
]

const texts = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 6 }))
const numbers = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.integer().map((n) => n / 8),
  fc.maxSafeInteger(),
)
const scalars: fc.Arbitrary<Json> = fc.oneof(texts, numbers, fc.boolean(), fc.constant(null))

const toObject = (entries: [string, Json][]): JsonObject => Object.fromEntries(entries)

/** Random objects, whose names and values also occur in schemas. */
export const anyInputs: fc.Arbitrary<JsonObject> = fc.letrec<{ object: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalars, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.array(fc.tuple(fc.constantFrom(...WILD_NAMES), tie('value')), { maxLength: 5 }).map(toObject),
})).object

const choices = fc.uniqueArray(scalars, {
  minLength: 1,
  maxLength: 4,
  selector: (value) => JSON.stringify(value),
})

const leaves: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom('string', 'number', 'integer', 'boolean', 'null').map((type) => ({ type })),
  fc.constantFrom<JsonObject>({ type: ['string', 'null'] }, { type: ['integer', 'boolean'] }, {}),
  choices.map((values) => ({ enum: values })),
)

function objectSchema(fields: [string, JsonObject, boolean][], more: JsonObject): JsonObject {
  const required = fields.filter(([, , isRequired]) => isRequired).map(([name]) => name)
  return {
    type: 'object',
    properties: toObject(fields.map(([name, schema]) => [name, schema])),
    required,
    ...more,
  }
}

const fieldsOf = (names: string[], schemas: fc.Arbitrary<JsonObject>) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...names), schemas, fc.boolean()), {
    maxLength: 5,
    selector: ([name]) => name,
  })

/** Schemas for which `validInputs` generates inputs. */
export const plainSchemas: fc.Arbitrary<JsonObject> = fc.letrec<{ object: JsonObject; field: JsonObject }>(
  (tie) => ({
    field: fc.oneof(
      { maxDepth: 3 },
      leaves,
      tie('field').map((items) => ({ type: 'array', items })),
      tie('object'),
      fc
        .tuple(leaves, scalars)
        .map(([schema, value]) => ({ ...schema, default: schema.enum ? null : value })),
    ),
    object: fc
      .tuple(fieldsOf(NAMES, tie('field')), fc.constantFrom<JsonObject>({}, { additionalProperties: false }))
      .map(([fields, more]) => objectSchema(fields, more)),
  }),
).object

/** Schemas that also have references, alternatives, patterns and additional properties. */
export const wildSchemas: fc.Arbitrary<JsonObject> = fc
  .letrec<{ object: JsonObject; field: JsonObject }>((tie) => ({
    field: fc.oneof(
      { maxDepth: 4 },
      leaves,
      tie('field').map((items) => ({ type: 'array', items })),
      tie('object'),
      fc.constantFrom<JsonObject>({ $ref: '#' }, { $ref: '#/$defs/other' }, { $ref: '#/$defs/nowhere' }),
      fc.tuple(tie('field'), anyInputs).map(([schema, value]) => ({ ...schema, default: value })),
      tie('field').map((form) => ({ anyOf: [form, { type: 'null' }] })),
      fc.tuple(tie('field'), tie('field')).map((forms) => ({ oneOf: forms })),
      fc.tuple(tie('field'), tie('field')).map((prefixItems) => ({ type: ['array', 'object'], prefixItems })),
    ),
    object: fc
      .tuple(
        fieldsOf(WILD_NAMES, tie('field')),
        fc.oneof(
          fc.constantFrom<JsonObject>({}, { additionalProperties: true }, { unevaluatedProperties: false }),
          fc.constant<JsonObject>({ patternProperties: { '^line': { type: 'integer' } } }),
          fc.constant<JsonObject>({ anyOf: [{ required: ['id'] }, { required: ['tags'] }] }),
          tie('field').map((additionalProperties) => ({ additionalProperties })),
        ),
      )
      .map(([fields, more]) => objectSchema(fields, more)),
  }))
  .object.chain((schema) => plainSchemas.map((other) => ({ ...schema, $defs: { other } })))

/** Inputs that a plain schema accepts in strict mode, with a value for every field that has a default. */
export function validInputs(schema: JsonObject): fc.Arbitrary<Json> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => validInputs({ type })))
  if (schema.type === 'array') return fc.array(validInputs(schema.items as JsonObject), { maxLength: 3 })
  if (schema.type === 'object') return validObjects(schema)
  if (schema.type === 'string') return texts
  if (schema.type === 'integer') return fc.maxSafeInteger()
  if (schema.type === 'number') return numbers
  if (schema.type === 'boolean') return fc.boolean()
  return schema.type === 'null' ? fc.constant(null) : scalars
}

function validObjects({ properties, required }: JsonObject): fc.Arbitrary<JsonObject> {
  const fields = Object.entries(properties as Record<string, JsonObject>)
  const isAlwaysPresent = ([name, field]: [string, JsonObject]) =>
    (required as string[]).includes(name) || field.default !== undefined
  const present = fc.tuple(
    ...fields.map((field) => (isAlwaysPresent(field) ? fc.constant(true) : fc.boolean())),
  )
  const values = fc.tuple(...fields.map(([, field]) => validInputs(field)))
  return fc
    .tuple(present, values)
    .map(([isPresent, all]) =>
      toObject(fields.flatMap(([name], i) => (isPresent[i] ? [[name, all[i] ?? null]] : []))),
    )
}
