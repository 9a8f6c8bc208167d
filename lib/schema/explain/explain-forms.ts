import type { Json } from '../../core/json.ts'
import { oneOfThese } from '../type-names.ts'
import type { ErrorNode } from './error-tree.ts'
import { actualType, expectation } from './wording.ts'

/** The forms of `anyOf` or `oneOf` for which the value is of the right kind, each with its errors: one of them was meant. */
export function formsLeft(node: ErrorNode): ErrorNode[][] {
  return formsOf(node).filter((form) => {
    const found = ofOneValue(form)
    const tags = found.filter(({ unit }) => unit.keyword === 'properties')
    return !found.some(isKind) && !tags.some(({ children }) => ofOneValue(children).some(isTag))
  })
}

/** What to say of a value that is of another kind than every form; undefined when it is not as simple as that. */
export function kindsWanted(
  node: ErrorNode,
  schemaAt: (location: string) => Json | undefined,
): string | undefined {
  const kinds = formsOf(node).flatMap((form) => ofOneValue(form).find(isKind)?.unit ?? [])
  if (kinds.length === 0 || kinds.length < formsOf(node).length) return undefined
  const wanted = kinds.map(({ keyword, keywordLocation }) => expectation(keyword, schemaAt(keywordLocation)))
  const actual = kinds.every(({ keyword }) => keyword === 'type') ? actualType(kinds[0]?.error ?? '') : ''
  return `must be ${oneOfThese(wanted)}${actual}.`
}

/** None when the value fits several forms of `oneOf`: then it does not matter what is wrong with the others. */
function formsOf({ unit, children }: ErrorNode): ErrorNode[][] {
  if (unit.keyword === 'oneOf' && !unit.error.includes('(0 matches)')) return []
  const forms = new Map<string, ErrorNode[]>()
  for (const child of children) {
    const [index = ''] = child.unit.keywordLocation.slice(unit.keywordLocation.length + 1).split('/', 1)
    forms.set(index, [...(forms.get(index) ?? []), child])
  }
  return [...forms.values()]
}

/** The errors about the value itself, not about its parts, seen through references. */
function ofOneValue(nodes: ErrorNode[]): ErrorNode[] {
  const place = nodes[0]?.unit.instanceLocation
  return nodes
    .filter(({ unit }) => unit.instanceLocation === place)
    .flatMap((node) => (/^(\$ref|allOf)$/.test(node.unit.keyword) ? ofOneValue(node.children) : [node]))
}

const isTag = ({ unit }: ErrorNode) => unit.keyword === 'const' || unit.keyword === 'enum'

const isKind = (node: ErrorNode) => node.unit.keyword === 'type' || isTag(node)
