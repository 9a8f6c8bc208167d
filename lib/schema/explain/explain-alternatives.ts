import type { Json } from '../../core/json.ts'
import { joinWithOr } from '../message-text.ts'
import { describeActualType, describeExpected } from './error-message.ts'
import type { ErrorNode } from './error-tree.ts'

/** The errors of each alternative of `anyOf` or `oneOf` whose type and tags the value matches. */
export function matchingAlternatives(node: ErrorNode): ErrorNode[][] {
  return alternativesOf(node).filter((alternative) => {
    const errors = errorsOfValue(alternative)
    const properties = errors.filter(({ unit }) => unit.keyword === 'properties')
    const hasWrongTag = properties.some(({ children }) => errorsOfValue(children).some(isChoiceError))
    return !errors.some(isTypeError) && !hasWrongTag
  })
}

/** The message for a value that has the wrong type for every alternative; undefined when a type matches. */
export function explainTypes(
  node: ErrorNode,
  schemaAt: (location: string) => Json | undefined,
): string | undefined {
  const alternatives = alternativesOf(node)
  const units = alternatives.flatMap(
    (alternative) => errorsOfValue(alternative).find(isTypeError)?.unit ?? [],
  )
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
