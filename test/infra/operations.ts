import { readFileSync } from 'node:fs'

const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

/** Reads a second-level section of docs/operations.md. @throws an Error when it does not exist */
export function readSection(title: string): string {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`))
  if (!section) throw new Error(`docs/operations.md has no section "${title}".`)
  return section.slice(title.length)
}
