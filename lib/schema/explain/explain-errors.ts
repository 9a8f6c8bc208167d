import type { OutputUnit } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { pointerOf, shortened } from '../json-pointer.ts'
import { nearestName } from '../spelling.ts'
import { type Lookup, targetOf } from '../subschemas.ts'
import { type ErrorNode, toErrorTree } from './error-tree.ts'
import { formsLeft, kindsWanted } from './explain-forms.ts'
import { sentence } from './wording.ts'

/** A value can be wrong in a million places; a list of this many says enough. */
const MAX_VIOLATIONS = 100

/** What the validator found as one violation per thing wrong; the validator names every enclosing keyword as well. */
export function explainErrors(errors: OutputUnit[], schema: JsonObject, lookup: Lookup): Violation[] {
  const found = new Map<string, Violation>()
  for (const violation of explainAll(toErrorTree(errors))) {
    found.set(JSON.stringify(violation), violation)
    if (found.size === MAX_VIOLATIONS) break
  }
  return [...found.values()]

  function* explainAll(nodes: ErrorNode[]): Generator<Violation> {
    const told = new Map<string, number>()
    for (const { unit } of nodes)
      told.set(subject(unit), Math.max(weight(unit), told.get(subject(unit)) ?? 0))
    for (const node of nodes) if (weight(node.unit) === told.get(subject(node.unit))) yield* explain(node)
  }

  function* explain(node: ErrorNode): Generator<Violation> {
    const { unit, children } = node
    const { keyword, error } = unit
    const place = namesOf(unit.instanceLocation)
    const below = children[0] ? namesOf(children[0].unit.instanceLocation) : place
    if (keyword === 'required' || keyword === 'dependentRequired') {
      yield violation([...place, lastQuoted(error)], 'is required.')
    } else if (keyword === 'propertyNames') {
      yield violation(below, 'has a name that the schema does not allow.')
    } else if (isUnknownField(node)) {
      yield violation(below, unknownField(below.at(-1) ?? '', unit))
    } else if (keyword === 'anyOf' || keyword === 'oneOf') {
      yield* explainForms(node, place)
    } else if (children.length > 0 && keyword !== 'contains') {
      yield* explainAll(children)
    } else {
      yield violation(place, sentence(unit, at(unit.keywordLocation)))
    }
  }

  function* explainForms(node: ErrorNode, place: string[]): Generator<Violation> {
    const left = formsLeft(node)
    const wanted = kindsWanted(node, at)
    if (left.length === 1 && left[0]) yield* explainAll(left[0])
    else yield violation(place, wanted ?? sentence(node.unit, undefined))
  }

  function unknownField(name: string, { keywordLocation }: OutputUnit): string {
    const properties = at(`${keywordLocation.slice(0, keywordLocation.lastIndexOf('/'))}/properties`)
    const nearest = nearestName(name, isJsonObject(properties) ? Object.keys(properties) : [])
    return `is not a field of the schema${nearest === undefined ? '.' : `; did you mean ${nearest}?`}`
  }

  /** What the schema says at a location of the validator's, which passes through references. */
  function at(location: string): Json | undefined {
    let part: Json | undefined = schema
    for (const name of namesOf(location)) {
      if (typeof part !== 'object' || part === null || !Object.hasOwn(part, name)) return undefined
      const whole = part as JsonObject
      part = (name === '$ref' ? (targetOf(whole, lookup) as Json | undefined) : undefined) ?? whole[name]
    }
    return part
  }
}

function violation(place: string[], message: string): Violation {
  const path = pointerOf(place)
  return { path, message: `${path === '' ? 'The value' : shortened(path, 100)} ${message}` }
}

/** Errors with the same subject are about one value and one schema: the weightiest says it all. */
const subject = ({ keywordLocation, instanceLocation }: OutputUnit) =>
  `${keywordLocation.slice(0, keywordLocation.lastIndexOf('/'))} ${instanceLocation}`

function weight({ keyword }: OutputUnit): number {
  if (keyword === 'enum' || keyword === 'const') return 2
  return keyword === 'type' ? 1 : 0
}

const isUnknownField = ({ unit, children }: ErrorNode) =>
  /^(additional|unevaluated)Properties$/.test(unit.keyword) && children[0]?.unit.keyword === 'false'

/** The names of a location of the validator's: a JSON Pointer as a URI fragment (RFC 6901, section 6). */
const namesOf = (location: string) =>
  location
    .split('/')
    .slice(1)
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'))

const lastQuoted = (error: string) => /(?:required property|does not have) "(.*)"\.$/s.exec(error)?.[1] ?? ''
