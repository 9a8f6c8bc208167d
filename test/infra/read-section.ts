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

/** The third-level sections of a section, by title. */
export const readEntries = (page: string, title: string): Map<string, string> =>
  new Map(
    readSection(page, title)
      .split(/^### /m)
      .slice(1)
      .map((entry) => [entry.slice(0, entry.indexOf('\n')), entry]),
  )
