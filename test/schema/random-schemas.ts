import fc from 'fast-check'
import type { Json, JsonObject } from '../../lib/core/json.ts'

/** Names of which none is alike or near another, with several words. */
const NAMES = [
  'artistName',
  'line2',
  'tags',
  'id',
  'größe',
  'postal-code',
  'isOpen',
  '__proto__',
  'constructor',
]

/** Names that are alike, near or neither, and envelopes. */
const WILD_NAMES = [
  ...NAMES,
  'artist-name',
  'ARTIST_NAME',
  'artistNam',
  'artistNames',
  'line_2',
  'line3',
  'tag',
  'data',
  'input',
  'date',
  'toString',
  '',
]

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

const ownFields = (entries: [string, Json][]): JsonObject => Object.fromEntries(entries)

/** Any JSON object, with names and values that schemas know too. */
export const anyInputs: fc.Arbitrary<JsonObject> = fc.letrec<{ object: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalars, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.array(fc.tuple(fc.constantFrom(...WILD_NAMES), tie('value')), { maxLength: 5 }).map(ownFields),
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
    properties: ownFields(fields.map(([name, schema]) => [name, schema])),
    required,
    ...more,
  }
}

const fieldsOf = (names: string[], schemas: fc.Arbitrary<JsonObject>) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...names), schemas, fc.boolean()), {
    maxLength: 5,
    selector: ([name]) => name,
  })

/** Schemas of which `conformingInputs` can make inputs; closed or silent about other fields. */
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

/** Schemas with references, forms, patterns and open objects as well. */
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

/** Inputs that conform to a plain schema in strict mode, with every field that has a default. */
export function conformingInputs(schema: JsonObject): fc.Arbitrary<Json> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => conformingInputs({ type })))
  if (schema.type === 'array') return fc.array(conformingInputs(schema.items as JsonObject), { maxLength: 3 })
  if (schema.type === 'object') return conformingObjects(schema)
  if (schema.type === 'string') return texts
  if (schema.type === 'integer') return fc.maxSafeInteger()
  if (schema.type === 'number') return numbers
  if (schema.type === 'boolean') return fc.boolean()
  return schema.type === 'null' ? fc.constant(null) : scalars
}

function conformingObjects({ properties, required }: JsonObject): fc.Arbitrary<JsonObject> {
  const fields = Object.entries(properties as Record<string, JsonObject>)
  const isNeeded = ([name, field]: [string, JsonObject]) =>
    (required as string[]).includes(name) || field.default !== undefined
  const present = fc.tuple(...fields.map((field) => (isNeeded(field) ? fc.constant(true) : fc.boolean())))
  const values = fc.tuple(...fields.map(([, field]) => conformingInputs(field)))
  return fc
    .tuple(present, values)
    .map(([isPresent, all]) =>
      ownFields(fields.flatMap(([name], i) => (isPresent[i] ? [[name, all[i] ?? null]] : []))),
    )
}
