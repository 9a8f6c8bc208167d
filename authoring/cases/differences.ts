import * as compare from '../../lib/core/compare.ts'
import { isNumber, isSameNumber } from '../../lib/core/json/exact-number.ts'
import { isJsonObject, type Json, type JsonObject } from '../../lib/core/json/json.ts'
import { checkDeclaredSchema, type SchemaProblem } from '../../lib/schema/check-declared-schema.ts'
import { compileValidator } from '../../lib/schema/validate/validate.ts'

/** A difference between what was expected and what a run returned. An absent side means that there is no value. */
export type Difference = {
  /** JSON Pointer (RFC 6901) into the output; empty for the run as a whole. */
  pointer: string
  /** Instead of the values, if these do not explain it. */
  message?: string
  expected?: Json | undefined
  actual?: Json | undefined
}

type Options = {
  pointer?: string
  /** Objects may have more fields than expected. */
  isPartial: boolean
}

/** Compares an output with what is expected: the innermost differing values are reported. Texts must be equal. */
export function findDifferences(
  expected: Json | undefined,
  actual: Json | undefined,
  { pointer = '', isPartial }: Options,
): Difference[] {
  const differing = compare.findDifferences(expected, actual, { path: pointer, isPartial, isSame })
  return [...differing].map(({ path, left, right }) => ({ pointer: path, expected: left, actual: right }))
}

/** The value at a JSON Pointer; undefined if there is none. */
export function valueAt(value: Json, names: readonly string[]): Json | undefined {
  let part: Json | undefined = value
  for (const name of names) {
    if (Array.isArray(part)) part = /^(?:0|[1-9]\d*)$/.test(name) ? part[Number(name)] : undefined
    else part = isJsonObject(part) ? own(part, name) : undefined
  }
  return part
}

const own = (object: { [name: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return isNumber(a) && isNumber(b) ? isSameNumber(a, b) : a === b
}

/** Under which name the value is validated. */
const VALUE = 'value'

/** Problems of an assertion: an object is a JSON Schema, and any other value has to be equal. */
export function checkAssertion(assertion: Json): SchemaProblem[] {
  if (!isJsonObject(assertion)) return []
  return checkDeclaredSchema(wrap(assertion), { strictTypes: false }).map(({ path, message }) => ({
    path: path.slice(0, 2).join() === `properties,${VALUE}` ? path.slice(2) : [],
    message,
  }))
}

/** How the value at a JSON Pointer of an output violates an assertion; `undefined` if there is no value. */
export function findViolations(pointer: string, actual: Json | undefined, assertion: Json): Difference[] {
  if (!isJsonObject(assertion)) return findDifferences(assertion, actual, { pointer, isPartial: false })
  if (actual === undefined) return [{ pointer, expected: assertion, actual }]
  return compileValidator(wrap(assertion))({ [VALUE]: actual }).map(({ path, message }) => {
    const inside = path.slice(`/${VALUE}`.length)
    return {
      pointer: `${pointer}${inside}`,
      message: message.replaceAll(`/${VALUE}`, pointer || 'output'),
      actual,
    }
  })
}

const wrap = (assertion: JsonObject): JsonObject => ({
  type: 'object',
  properties: { [VALUE]: assertion },
  required: [VALUE],
})

/** What a score has to be: an operator and a number from 0 to 1, such as `>= 0.8`. */
const CONDITION_PATTERN = /^([<>])(=?) ?(0(?:\.\d+)?|1(?:\.0+)?)$/

/** The error of a text that is no condition, as a predicate. */
export const CONDITION = 'must be >=, >, <= or < and a number from 0 to 1 in quotes, such as ">= 0.8"'

export const isCondition = (text: string): boolean => CONDITION_PATTERN.test(text)

export function isMet(condition: string, score: number): boolean {
  const [, operator, equal, bound] = CONDITION_PATTERN.exec(condition) ?? []
  if (score === Number(bound)) return equal === '='
  return operator === '>' ? score > Number(bound) : score < Number(bound)
}
