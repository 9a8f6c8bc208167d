import type { OutputUnit } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { parseJsonPointer } from '../../core/json/pointer.ts'
import { MAX_VIOLATIONS } from '../../core/limits.ts'
import { joinWithOr, toViolation } from '../message-text.ts'
import { findSimilarName } from '../similar-names.ts'
import { getRefTarget, type Lookup } from '../subschemas.ts'
import { describeActualType, describeExpected, errorMessage } from './error-message.ts'

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

/** A validator error with the errors of nested keywords. */
type ErrorNode = { unit: OutputUnit; children: ErrorNode[] }

/** The validator returns a flat list in which the error of a keyword precedes the errors nested below it. */
function toErrorTree(errors: OutputUnit[]): ErrorNode[] {
  const root: ErrorNode[] = []
  const ancestors: ErrorNode[] = []
  for (const unit of errors) {
    while (ancestors.length > 0 && !isNestedIn(unit, ancestors.at(-1)?.unit)) ancestors.pop()
    const siblings = ancestors.at(-1)?.children ?? root
    if (unit.keyword === 'minContains' || unit.keyword === 'maxContains') removeItemErrors(siblings, unit)
    const node = { unit, children: [] }
    siblings.push(node)
    ancestors.push(node)
  }
  return root
}

function isNestedIn(unit: OutputUnit, parent: OutputUnit | undefined): boolean {
  if (parent === undefined) return false
  // The error of a `false` schema has the location of the value instead. It directly follows its parent.
  if (unit.keyword === 'false') return parent.keyword !== 'false'
  const { keywordLocation: location } = parent
  if (unit.keywordLocation.startsWith(`${location}/`)) return true
  if (parent.keyword !== 'if') return false
  const schema = location.slice(0, -'if'.length)
  return ['then/', 'else/'].some((branch) => unit.keywordLocation.startsWith(schema + branch))
}

/** `minContains` and `maxContains` follow the errors of the items that do not match. */
function removeItemErrors(siblings: ErrorNode[], { keyword, keywordLocation }: OutputUnit): void {
  const items = `${keywordLocation.slice(0, -keyword.length)}contains/`
  while (siblings.at(-1)?.unit.keywordLocation.startsWith(items)) siblings.pop()
}

/** The errors of each alternative of `anyOf` or `oneOf` whose type and tags the value matches. */
function matchingAlternatives(node: ErrorNode): ErrorNode[][] {
  return alternativesOf(node).filter((alternative) => {
    const errors = errorsOfValue(alternative)
    const properties = errors.filter(({ unit }) => unit.keyword === 'properties')
    const hasWrongTag = properties.some(({ children }) => errorsOfValue(children).some(isChoiceError))
    return !errors.some(isTypeError) && !hasWrongTag
  })
}

/** The message for a value that has the wrong type for every alternative; undefined when a type matches. */
function explainTypes(node: ErrorNode, schemaAt: (location: string) => Json | undefined): string | undefined {
  const alternatives = alternativesOf(node)
  const units = alternatives.flatMap((nodes) => errorsOfValue(nodes).find(isTypeError)?.unit ?? [])
  if (units.length === 0 || units.length < alternatives.length) return undefined
  const expected = units.map(({ keyword, keywordLocation }) =>
    describeExpected(keyword, schemaAt(keywordLocation)),
  )
  const areTypes = units.every(({ keyword }) => keyword === 'type')
  return `must be ${joinWithOr(expected)}${areTypes ? describeActualType(units[0]?.error ?? '') : ''}.`
}

/** Empty when the value matches several alternatives of `oneOf`: the errors of the others are irrelevant then. */
function alternativesOf({ unit, children }: ErrorNode): ErrorNode[][] {
  if (unit.keyword === 'oneOf' && !unit.error.includes('(0 matches)')) return []
  const alternatives = Object.groupBy(
    children,
    (child) => child.unit.keywordLocation.slice(unit.keywordLocation.length + 1).split('/', 1)[0] ?? '',
  )
  return Object.values(alternatives).map((nodes) => nodes ?? [])
}

/** The errors about the value itself rather than its parts, with references and `allOf` resolved. */
function errorsOfValue(nodes: ErrorNode[]): ErrorNode[] {
  const location = nodes[0]?.unit.instanceLocation
  return nodes
    .filter(({ unit }) => unit.instanceLocation === location)
    .flatMap((node) => (/^(\$ref|allOf)$/.test(node.unit.keyword) ? errorsOfValue(node.children) : [node]))
}

const isChoiceError = ({ unit }: ErrorNode) => unit.keyword === 'const' || unit.keyword === 'enum'

const isTypeError = (node: ErrorNode) => node.unit.keyword === 'type' || isChoiceError(node)
