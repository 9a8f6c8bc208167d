import type { Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'

/** Every subschema by its absolute URI, as the validator's `dereference` lists them. */
export type Lookup = Record<string, Schema | boolean>

/** Keywords beside which other subschemas may declare fields of the same object. */
const COMPOSING = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas']

/** Keywords with which an author says which fields an object takes besides its `properties`. */
const OPENING = ['additionalProperties', 'patternProperties', 'unevaluatedProperties', 'propertyNames']

const DESCENDING = ['properties', 'items', 'prefixItems', ...OPENING]

export const isComposed = (schema: JsonObject): boolean => hasAny(schema, COMPOSING)

/** Whether a schema that composes nothing leaves open which fields it takes besides its `properties`. */
export const isSilent = (schema: JsonObject): boolean => !hasAny(schema, OPENING)

/** What the `$ref` of a schema refers to. */
export function targetOf(schema: JsonObject, lookup: Lookup): Schema | boolean | undefined {
  const { $ref, __absolute_ref__ } = schema as Schema
  return typeof $ref === 'string' ? lookup[__absolute_ref__ ?? $ref] : undefined
}

/** What a schema refers to when all that it says of a value's parts is a reference. */
export function referred(schema: JsonObject, lookup: Lookup): Schema | boolean | undefined {
  const { $ref: _, ...others } = schema
  return isComposed(others) || hasAny(others, DESCENDING) ? undefined : targetOf(schema, lookup)
}

/** The one form that a value may take besides null, where `anyOf` or `oneOf` says nothing more than that. */
export function formBesideNull(schema: JsonObject): Json | undefined {
  const { anyOf, oneOf, ...others } = schema
  const forms = anyOf ?? oneOf
  if (!Array.isArray(forms) || (anyOf && oneOf) || isComposed(others) || hasAny(others, DESCENDING))
    return undefined
  const substantial = forms.filter((form) => !(isJsonObject(form) && isNull(form)))
  return substantial.length === 1 ? substantial[0] : undefined
}

const isNull = ({ type, const: constant }: JsonObject) => type === 'null' || constant === null

const hasAny = (schema: JsonObject, keywords: string[]) =>
  keywords.some((keyword) => Object.hasOwn(schema, keyword))
