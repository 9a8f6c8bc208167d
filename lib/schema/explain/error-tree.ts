import type { OutputUnit } from '@cfworker/json-schema'

/** A validator error with the errors of nested keywords. */
export type ErrorNode = { unit: OutputUnit; children: ErrorNode[] }

/** The validator returns a flat list in which the error of a keyword precedes the errors nested below it. */
export function toErrorTree(errors: OutputUnit[]): ErrorNode[] {
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
