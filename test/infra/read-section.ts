import { readFileSync } from 'node:fs'

const read = (page: string): string => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')

/** Reads a second-level section of a page in docs/, or what precedes the first. @throws an Error if there is none */
export function readSection(page: string, title?: string): string {
  const [introduction = '', ...sections] = read(page).split(/^## /m)
  if (title === undefined) return introduction
  const section = sections.find((part) => part.startsWith(`${title}\n`))
  if (!section) throw new Error(`docs/${page} has no section "${title}".`)
  return section.slice(title.length)
}

/** The titles of the second-level sections of a page. */
export const readHeadings = (page: string): string[] =>
  [...read(page).matchAll(/^## (.*)$/gm)].map(([, title = '']) => title)
