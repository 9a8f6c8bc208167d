import type { Json, JsonObject } from '../../../core/json/json.ts'
import { normalizeName } from '../../similar-names.ts'
import { type FieldShape, hasOnlyType, isValidScalar, type Shape } from '../shape.ts'
import { canFit } from '../values/convert-value.ts'
import type { FindFields, NameIndex } from './name-index.ts'

/** Above this number of unknown names, typos are not corrected: it would be slow, and they are unlikely to be typos. */
const MAX_TYPOS = 200

/** Renames by the name that was sent. */
export type Renames = Map<string, string>

type Params = {
  shape: Shape
  sent: JsonObject
  unknown: readonly string[]
  index: NameIndex
  /** Fields that other parts of the input already are. */
  taken?: ReadonlySet<string>
}

type Condition = (field: FieldShape, value: Json) => boolean

/**
 * Maps unknown names of an input to the declared fields that have the same name: except for case and separators, then
 * by synonyms. Ambiguous names are not matched, nor are fields that the input already has. If the object allows other
 * fields, only its required fields are matched, and only except for case and separators.
 */
export function matchNames(params: Params): Renames {
  const { shape, index } = params
  const matched: Renames = new Map()
  match(params, matched, index.findEqual, () => true)
  if (shape.isClosed) match(params, matched, index.findSynonyms, canBeRenamed)
  return matched
}

/**
 * Adds to the renames the names of lists in the singular or plural, misspelled names (`isMisspelling`), and the plural
 * of a text if no other name and no other required field is left. A misspelled name is never combined with a
 * conversion, nor is a plural.
 */
export function matchSimilarNames(params: Params, matched: Renames): void {
  const { shape, unknown, index } = params
  const count = unknown.length - matched.size
  if (!shape.isClosed || count === 0 || count > MAX_TYPOS) return
  match(params, matched, index.findPlural, canBeList)
  match(params, matched, index.findMisspelled, isValidFor)
  matchLastPlural(params, matched)
}

function matchLastPlural(params: Params, matched: Renames): void {
  const { shape, sent, unknown, index } = params
  const [name, ...otherNames] = unknown.filter((name) => !matched.has(name))
  if (name === undefined || otherNames.length > 0) return
  const [field, otherField] = index.findPlural(shape, name)
  if (!field || otherField || normalizeName(name).length < normalizeName(field.name).length) return
  const missing = [...shape.fields.values()]
    .filter((field) => field.isRequired)
    .filter(isFree(params, matched))
  if (missing.length === 1 && missing[0] === field && canBeText(field, sent[name] ?? null))
    matched.set(name, field.name)
}

/** Adds the pairs of a name and a field in which neither has another match. */
function match(params: Params, matched: Renames, find: FindFields, canBe: Condition): void {
  const { shape, sent, unknown } = params
  const pairs = uniquePairs(shape, unknown, matched, find)
  if (pairs.length === 0) return
  const isCandidate = isFree(params, matched)
  for (const [name, field] of pairs) {
    const mayMatch = (shape.isClosed || field.isRequired) && isCandidate(field)
    if (mayMatch && canBe(field, sent[name] ?? null)) matched.set(name, field.name)
  }
}

/** Tells the fields that the input does not have under any name. */
function isFree({ sent, taken }: Params, matched: Renames): (field: FieldShape) => boolean {
  const renamed = new Set(matched.values())
  return ({ name }) => !Object.hasOwn(sent, name) && !renamed.has(name) && !taken?.has(name)
}

function uniquePairs(shape: Shape, unknown: readonly string[], matched: Renames, find: FindFields) {
  const pairs: [name: string, field: FieldShape][] = []
  let counts: Map<FieldShape, number> | undefined
  for (const name of unknown) {
    const candidates = matched.has(name) ? [] : find(shape, name)
    const [field] = candidates
    if (!field) continue
    counts ??= new Map()
    for (const candidate of candidates) counts.set(candidate, (counts.get(candidate) ?? 0) + 1)
    if (candidates.length === 1) pairs.push([name, field])
  }
  return pairs.filter(([, field]) => counts?.get(field) === 1)
}

/**
 * A value that may be converted to the type of a field. But true and false do not become text (`desc` may mean
 * descending), nor numbers true or false (`active` may be a count).
 */
export const canBeRenamed: Condition = ({ shape }, value) => {
  if (typeof value === 'boolean') return isValidScalar(shape, value)
  if (typeof value === 'number' && shape.types?.has('boolean')) return isValidScalar(shape, value)
  return canFit(shape, value)
}

/** A number under a singular name may be a position or a count (`page` for `pages`). */
const canBeList: Condition = ({ shape }, value) =>
  hasOnlyType(shape, 'array') &&
  (typeof value === 'string' || typeof value === 'object') &&
  canFit(shape, value)

/** A list of texts is not one text. */
const canBeText: Condition = ({ shape }, value) =>
  hasOnlyType(shape, 'string') && typeof value === 'string' && isValidScalar(shape, value)

const isValidFor: Condition = ({ shape, accepts, isRequired }, value) => {
  if (!(shape.types || shape.choices) || !isValidScalar(shape, value)) return false
  return typeof value !== 'object' || isRequired || accepts(value)
}
