import { maskMacs } from './callback-mac.ts'
import type { Execution } from './execution.ts'
import { type ExactNumber, isNumber, isSameNumber } from './json/exact-number.ts'
import { isJsonObject, type Json } from './json/json.ts'
import { escapeName, type PointerTree } from './json/pointer.ts'
import type { Difference } from './trial.ts'

/** An innermost value that differs. `path`: a JSON Pointer (RFC 6901). A side is undefined if it has no such value. */
export type Differing = { path: string; left: Json | undefined; right: Json | undefined }

type Options = {
  path?: string
  /** Of what is not compared, with everything below it. */
  ignored?: PointerTree | undefined
  /** Objects of the right side may have more members. */
  isPartial?: boolean
  /** Of two values that are not both objects, and not both arrays. */
  isSame?: (left: Json | undefined, right: Json | undefined) => boolean
}

/** Longer pointers are not reported: what they point into is. */
const MAX_POINTER_CHARACTERS = 500

/** The differences of two JSON values, in the order of the left one. Arrays are compared item by item. */
export function findDifferences(
  left: Json | undefined,
  right: Json | undefined,
  { path = '', ignored, isPartial = false, isSame = isEquivalent }: Options = {},
): Generator<Differing> {
  return find(left, right, path, ignored)

  function* find(
    left: Json | undefined,
    right: Json | undefined,
    path: string,
    ignored: PointerTree | undefined,
  ): Generator<Differing> {
    if (ignored?.isEnd) return
    const names = namesOf(left, right, isPartial)
    if (!names) {
      if (!isSame(left, right)) yield { path, left, right }
      return
    }
    let hasLongPointers = false
    for (const name of names) {
      const [a, b] = [memberOf(left, name), memberOf(right, name)]
      if (a === b) continue
      const inner = `${path}/${escapeName(String(name))}`
      const isLong = inner.length > MAX_POINTER_CHARACTERS
      if (isLong && hasLongPointers) continue
      const found = find(a, b, inner, ignored?.members.get(String(name)))
      if (isLong) hasLongPointers = !found.next().done
      else yield* found
    }
    if (hasLongPointers) yield { path, left, right }
  }
}

/** Of two arrays, or of two objects; null for any other values. */
function namesOf(left: Json | undefined, right: Json | undefined, isPartial: boolean) {
  if (Array.isArray(left) && Array.isArray(right)) return Array(Math.max(left.length, right.length)).keys()
  if (!isJsonObject(left) || !isJsonObject(right)) return null
  return new Set([...Object.keys(left), ...(isPartial ? [] : Object.keys(right))])
}

function memberOf(value: Json | undefined, name: string | number): Json | undefined {
  const members = value as { [name: string | number]: Json }
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/** Of numbers. */
const RELATIVE_TOLERANCE = 1e-6

/** Numbers may differ a little, and texts in white space and in the composition of their characters. */
function isEquivalent(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true
  if (isNumber(left) && isNumber(right)) return isSameNumber(left, right) || isClose(left, right)
  return typeof left === 'string' && typeof right === 'string' && normalize(left) === normalize(right)
}

/** Not safe integers, which count or name something, and not numbers whose doubles are 0: these can have any ratio. */
function isClose(left: number | ExactNumber, right: number | ExactNumber): boolean {
  const [a, b] = [toDouble(left), toDouble(right)]
  if (a === 0 || b === 0) return false
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return a === b
  return Math.abs(a - b) <= RELATIVE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b))
}

const toDouble = (number: number | ExactNumber): number =>
  typeof number === 'number' ? number : number.toDouble()

/** White space other than a single space, so that few texts are copied. */
const WHITE_SPACE = /[^\S ]\s*| \s+/g

const normalize = (text: string): string => text.normalize('NFC').trim().replace(WHITE_SPACE, ' ')

/** Whether two values have no differences but those that are ignored. */
export const isSameJson = (left: Json, right: Json, ignored?: PointerTree): boolean =>
  findDifferences(left, right, { ignored }).next().done === true

/** Differences that are kept of two values. */
export const MAX_DIFFERENCES = 20

export type Comparison = { differences: Difference[]; isCut?: true }

/** The numbers of a step in both executions; null in the one that has no such step. */
export type ComparedStep = Comparison & {
  left: number | null
  right: number | null
  /** Of a code agent. */
  name: string | null
  isSame: boolean
}

/** `hasMoreSteps`: there are more than were compared. */
export type ComparedSteps = { steps: ComparedStep[]; hasMoreSteps: boolean }

/**
 * Two executions, as `original` and `trial`. Pointers lead into the records of executions and steps; those of
 * `request` into `input` and `options`.
 */
export type ExecutionComparison = Comparison &
  ComparedSteps & { left: Execution; right: Execution; request: Comparison }

/** The first differences of two values, whose values are cut. */
export function compareValues(
  original: Json | undefined,
  trial: Json | undefined,
  { ignored, max = MAX_DIFFERENCES }: { ignored?: PointerTree | undefined; max?: number } = {},
): Comparison {
  const differences: Difference[] = []
  for (const { path, left, right } of findDifferences(original, trial, { ignored })) {
    if (differences.length === max) return { differences, isCut: true }
    differences.push({
      path: maskMacs(path),
      ...(left !== undefined && { original: cutValue(left) }),
      ...(right !== undefined && { trial: cutValue(right) }),
    })
  }
  return { differences }
}

export const MAX_VALUE_CHARACTERS = 200

/** Masking makes a text shorter, at most to a third. */
const READ_CHARACTERS = 4 * MAX_VALUE_CHARACTERS

/** A value without the MACs of callback URLs. That of a long text, object or array is the beginning of the text. */
export function cutValue(value: Json): Json {
  const text =
    typeof value === 'string' ? value.slice(0, READ_CHARACTERS) : startOfJson(value, READ_CHARACTERS)
  const shown = maskMacs(text)
  if (shown.length <= MAX_VALUE_CHARACTERS && text.length < READ_CHARACTERS) return maskMacs(value)
  return `${shown.slice(0, MAX_VALUE_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** The JSON of a value, or at least so many characters of it: it may be large. */
function startOfJson(value: Json, characters: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, characters))
  if (!Array.isArray(value) && !isJsonObject(value)) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  let text = `${open}`
  for (const [name, member] of Object.entries(value)) {
    if (text.length >= characters) return text
    if (text.length > 1) text += ','
    if (!Array.isArray(value)) text += `${startOfJson(name, characters)}:`
    text += startOfJson(member, Math.max(characters - text.length, 1))
  }
  return text + close
}
