/** A part of a page, from one heading to the next. `depth`: of the heading, 1 to 6. `text`: plain. */
export type DocsSection = { depth: number; id: string; heading: string; text: string }

/** What the search of the documentation reads: the sections of all pages, with the position of theirs in `pages`. */
export type DocsIndex = {
  pages: { name: string; title: string }[]
  sections: { page: number; id: string; heading: string; text: string }[]
}

type Page = { name: string; title: string; sections: DocsSection[] }

export function toIndex(pages: Page[]): DocsIndex {
  return {
    pages: pages.map(({ name, title }) => ({ name, title })),
    sections: pages.flatMap(({ sections }, page) =>
      sections.map(({ id, heading, text }) => ({ page, id, heading, text })),
    ),
  }
}

/** The sections of a rendered page. @param html of `renderMarkdown`, whose headings have ids */
export function splitSections(html: string): DocsSection[] {
  const headings = [...html.matchAll(/<h([1-6]) id="([^"]*)">(.*?)<\/h\1>/gs)]
  return headings.map((match, index) => {
    const [whole, depth = '1', id = '', heading = ''] = match
    const end = headings[index + 1]?.index ?? html.length
    const text = toText(html.slice(match.index + whole.length, end))
    return { depth: Number(depth), id, heading: toText(heading), text }
  })
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The text of HTML that `marked` has written. */
const toText = (html: string): string =>
  html
    .replace(/<\/?(?:p|li|tr|td|th|pre|h\d|blockquote|ul|ol|table|br)\b[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&(\w+|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/\s+/g, ' ')
    .trim()
