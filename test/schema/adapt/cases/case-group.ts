import type { JsonObject } from '../../../../lib/core/json/json.ts'

/** Realistic inputs for one schema: unambiguous ones, each with its adapted form, and those to be left as sent. */
export type CaseGroup = {
  title: string
  schema: JsonObject
  adapted?: Adapted[]
  left?: JsonObject[]
}

type Adapted = [sent: JsonObject, effective: JsonObject]

/** Several forms of one input. */
export const formsOf = (effective: JsonObject, ...forms: JsonObject[]): Adapted[] =>
  forms.map((sent) => [sent, effective])

export const text = { type: 'string' }
export const integer = { type: 'integer' }
export const number = { type: 'number' }
export const boolean = { type: 'boolean' }
export const textOf = (keywords: JsonObject): JsonObject => ({ type: 'string', ...keywords })
export const listOf = (items: JsonObject): JsonObject => ({ type: 'array', items })
export const objectOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties })
export const optional = (field: JsonObject): JsonObject => ({ ...field, required: false })

/** Fields with these names that are optional texts. */
export const texts = (...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, optional(text)]))
