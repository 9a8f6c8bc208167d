import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts'
import { normalizeName } from '../../similar-names.ts'
import { parseJsonText } from '../values/parse-json-text.ts'

const ENVELOPES = new Set('input data body payload params arguments json values fields'.split(' '))

/** Names of wrappers in JSON:API, Airtable, Stripe, webhooks and tool calls: envelopes only together with others. */
const WRAPPERS = new Set(
  'attributes records record object resource event variables args parameters kwargs toolinput actioninput'.split(
    ' ',
  ),
)

export const isEnvelope = (name: string): boolean => ENVELOPES.has(normalizeName(name))

export const isKnownWrapper = (name: string): boolean => isEnvelope(name) || WRAPPERS.has(normalizeName(name))

/** The object that a value contains: itself, the item of a list of one, or JSON in a text. `path` leads to it. */
export type Opened = { path: string[]; fields: JsonObject }

export function openValue(value: Json): Opened | undefined {
  if (isJsonObject(value)) return { path: [], fields: value }
  if (Array.isArray(value)) {
    const [item] = value
    return value.length === 1 && isJsonObject(item) ? { path: ['0'], fields: item } : undefined
  }
  const parsed = typeof value === 'string' ? parseJsonText(value) : undefined
  return parsed === undefined ? undefined : openValue(parsed)
}
