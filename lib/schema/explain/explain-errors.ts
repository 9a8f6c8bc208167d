import type { OutputUnit } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { parseJsonPointer, toJsonPointer } from '../json-pointer.ts'
import { truncate } from '../message-text.ts'
import { findSimilarName } from '../similar-names.ts'
import { getRefTarget, type Lookup } from '../subschemas.ts'
import { errorMessage } from './error-message.ts'
import { type ErrorNode, toErrorTree } from './error-tree.ts'
import { explainTypes, matchingAlternatives } from './explain-alternatives.ts'

export const MAX_VIOLATIONS = 100

/** Converts validator errors to one violation per mistake. The validator also reports every enclosing keyword. */
export function explainErrors(errors: OutputUnit[], schema: JsonObject, lookup: Lookup): Violation[] {
  const violations = new Map<string, Violation>()
  for (const violation of explainAll(toErrorTree(errors))) {
    violations.set(JSON.stringify(violation), violation)
    if (violations.size === MAX_VIOLATIONS) break
  }
  return [...violations.values()]

  function* explainAll(nodes: ErrorNode[]): Generator<Violation> {
    const highest = new Map<string, number>()
    for (const { unit } of nodes)
      highest.set(subjectOf(unit), Math.max(priorityOf(unit), highest.get(subjectOf(unit)) ?? 0))
    for (const node of nodes)
      if (priorityOf(node.unit) === highest.get(subjectOf(node.unit))) yield* explain(node)
  }

  function* explain(node: ErrorNode): Generator<Violation> {
    const { unit, children } = node
    const { keyword, error } = unit
    const path = parseLocation(unit.instanceLocation)
    const childPath = children[0] ? parseLocation(children[0].unit.instanceLocation) : path
    if (keyword === 'required' || keyword === 'dependentRequired') {
      yield toViolation([...path, lastQuotedName(error)], 'is required.')
    } else if (keyword === 'propertyNames') {
      yield toViolation(childPath, 'is not an allowed field name.')
    } else if (isUnknownField(node)) {
      yield toViolation(childPath, explainUnknownField(childPath.at(-1) ?? '', unit))
    } else if (keyword === 'anyOf' || keyword === 'oneOf') {
      yield* explainAlternatives(node, path)
    } else if (children.length > 0 && keyword !== 'contains') {
      yield* explainAll(children)
    } else {
      yield toViolation(path, errorMessage(unit, schemaAt(unit.keywordLocation)))
    }
  }

  function* explainAlternatives(node: ErrorNode, path: string[]): Generator<Violation> {
    const [alternative, ...others] = matchingAlternatives(node)
    if (alternative && others.length === 0) yield* explainAll(alternative)
    else yield toViolation(path, explainTypes(node, schemaAt) ?? errorMessage(node.unit, undefined))
  }

  function explainUnknownField(name: string, { keywordLocation }: OutputUnit): string {
    const properties = schemaAt(`${keywordLocation.slice(0, keywordLocation.lastIndexOf('/'))}/properties`)
    const similar = findSimilarName(name, isJsonObject(properties) ? Object.keys(properties) : [])
    return `is not defined in the schema${similar === undefined ? '.' : `; did you mean ${similar}?`}`
  }

  /** The part of the schema at a keyword location, which passes through references. */
  function schemaAt(location: string): Json | undefined {
    let part: Json | undefined = schema
    for (const name of parseLocation(location)) {
      if (typeof part !== 'object' || part === null || !Object.hasOwn(part, name)) return undefined
      const parent = part as JsonObject
      part =
        (name === '$ref' ? (getRefTarget(parent, lookup) as Json | undefined) : undefined) ?? parent[name]
    }
    return part
  }
}

export function toViolation(names: readonly string[], message: string): Violation {
  const path = toJsonPointer(names)
  return { path, message: `${path === '' ? 'The value' : truncate(path, 100)} ${message}` }
}

/** Errors with the same subject concern the same value and schema; only those of the highest priority are reported. */
const subjectOf = ({ keywordLocation, instanceLocation }: OutputUnit) =>
  `${keywordLocation.slice(0, keywordLocation.lastIndexOf('/'))} ${instanceLocation}`

function priorityOf({ keyword }: OutputUnit): number {
  if (keyword === 'enum' || keyword === 'const') return 2
  return keyword === 'type' ? 1 : 0
}

const isUnknownField = ({ unit, children }: ErrorNode) =>
  /^(additional|unevaluated)Properties$/.test(unit.keyword) && children[0]?.unit.keyword === 'false'

/** The validator's locations are JSON Pointers as URI fragments (RFC 6901, section 6). */
const parseLocation = (location: string) => parseJsonPointer(decodeURIComponent(location))

const lastQuotedName = (error: string) =>
  /(?:required property|does not have) "(.*)"\.$/s.exec(error)?.[1] ?? ''
