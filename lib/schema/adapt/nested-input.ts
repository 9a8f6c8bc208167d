import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { normalizeName, parseName } from '../similar-names.ts'
import { findField } from './names/find-field.ts'
import { canBeRenamed } from './names/match-names.ts'
import { type FieldShape, hasRequired, type Shape } from './shape.ts'
import { parseJsonText } from './values/parse-text.ts'

const ENVELOPES = new Set('input data body payload params arguments json values fields'.split(' '))

/** Names of wrappers in JSON:API, Airtable, Stripe, webhooks and tool calls: envelopes only together with others. */
const WRAPPERS = new Set(
  'attributes records record object resource event variables args parameters kwargs toolinput actioninput'.split(
    ' ',
  ),
)

export const isEnvelope = (name: string): boolean => ENVELOPES.has(normalizeName(name))

const isKnownWrapper = (name: string): boolean => isEnvelope(name) || WRAPPERS.has(normalizeName(name))

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

/** Levels of objects around the one that is looked for. */
const MAX_LEVELS = 3

/** An object with more fields is data, not an envelope. */
const MAX_NAMES = 1_000

/**
 * The only object inside an input that has all required fields, if no object around it has any declared field: the
 * resource in a webhook.
 */
export function findNestedInput(shape: Shape, sent: JsonObject): Opened | undefined {
  if (!shape.isClosed || hasRequired(shape, new Set())) return undefined
  const candidates = listCandidates(shape, { path: [], fields: sent }, true, MAX_LEVELS)
  const [candidate] = candidates
  return candidates.length === 1 && candidate?.isCertain ? candidate : undefined
}

type Candidate = Opened & { isCertain: boolean }

/** Stops at two. `isKnown`: whether all names on the way are those of envelopes. */
function listCandidates(
  shape: Shape,
  { path, fields }: Opened,
  isKnown: boolean,
  levels: number,
): Candidate[] {
  const names = Object.keys(fields)
  const candidates: Candidate[] = []
  if (levels === 0 || names.length > MAX_NAMES) return candidates
  for (const name of names) {
    const value = fields[name] ?? null
    const opened = typeof value !== 'string' || isEnvelope(name) ? openValue(value) : undefined
    if (!opened) continue
    const inner = { path: [...path, name, ...opened.path], fields: opened.fields }
    const isInnerKnown = isKnown && isKnownWrapper(name)
    const declared = findDeclaredFields(shape, inner.fields)
    if (hasRequired(shape, declared))
      candidates.push({ ...inner, isCertain: isInnerKnown || isSpecific(declared) })
    else if (declared.size === 0) candidates.push(...listCandidates(shape, inner, isInnerKnown, levels - 1))
    if (candidates.length > 1) break
  }
  return candidates
}

function findDeclaredFields(shape: Shape, fields: JsonObject): ReadonlySet<FieldShape> {
  const declared = new Set<FieldShape>()
  const names = Object.keys(fields)
  for (const name of names.length > MAX_NAMES ? [] : names) {
    const field = findField(shape, name)
    if (field && canBeRenamed(field, fields[name] ?? null)) declared.add(field)
  }
  return declared
}

/** A single field such as `name` occurs in many objects; several fields, or one such as `orderNumber`, do not. */
const isSpecific = (declared: ReadonlySet<FieldShape>) =>
  declared.size > 1 || [...declared].some(({ name }) => parseName(name).words.length > 1)
