import { readFileSync } from 'node:fs'

const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

/** What stands in docs/operations.md below a heading of the second level. @throws an Error when there is none */
export function sectionOf(title: string): string {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`))
  if (!section) throw new Error(`docs/operations.md has no section "${title}".`)
  return section.slice(title.length)
}
