import type { OutputUnit } from '@cfworker/json-schema'

/** An error of the validator with those found below its keyword. */
export type ErrorNode = { unit: OutputUnit; children: ErrorNode[] }

/** The validator lists errors flat, an enclosing keyword's before those below it. */
export function toErrorTree(errors: OutputUnit[]): ErrorNode[] {
  const root: ErrorNode[] = []
  const open: ErrorNode[] = []
  for (const unit of errors) {
    while (open.length > 0 && !isBelow(unit, open.at(-1)?.unit)) open.pop()
    const siblings = open.at(-1)?.children ?? root
    if (isCountOfContained(unit)) dropItems(siblings, unit)
    const node = { unit, children: [] }
    siblings.push(node)
    open.push(node)
  }
  return root
}

function isBelow(unit: OutputUnit, parent: OutputUnit | undefined): boolean {
  if (parent === undefined) return false
  // The unit of a schema that is `false` says where the value is instead; it follows its parent.
  if (unit.keyword === 'false') return parent.keyword !== 'false'
  const { keywordLocation: location } = parent
  if (unit.keywordLocation.startsWith(`${location}/`)) return true
  if (parent.keyword !== 'if') return false
  const schema = location.slice(0, -'if'.length)
  return ['then/', 'else/'].some((branch) => unit.keywordLocation.startsWith(schema + branch))
}

/** These two come after the errors of the items that do not count. */
const isCountOfContained = ({ keyword }: OutputUnit) => keyword === 'minContains' || keyword === 'maxContains'

function dropItems(siblings: ErrorNode[], { keyword, keywordLocation }: OutputUnit): void {
  const items = `${keywordLocation.slice(0, -keyword.length)}contains/`
  while (siblings.at(-1)?.unit.keywordLocation.startsWith(items)) siblings.pop()
}
