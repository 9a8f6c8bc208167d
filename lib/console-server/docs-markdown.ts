import { basename } from 'node:path'
import { Marked, type Tokens } from 'marked'
import type { DocsPicture } from './docs-pictures.ts'

type Served = {
  /** Paths of the pages, such as `docs/runs.md`. */
  pages: string[]
  nameOf: (page: string) => string
  /** By their path, as pages refer to them. */
  pictures: ReadonlyMap<string, DocsPicture>
}

/** A page as HTML. Links between pages work; links to files that are not served become text. */
export function renderMarkdown(markdown: string, { pages, nameOf, pictures }: Served): string {
  const slugs = new Set<string>()
  // The README is outside of `docs`.
  const findPicture = (href: string) => pictures.get(href.replace(/^docs\//, ''))
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${uniqueSlug(text, slugs)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      image({ href, text }: Tokens.Image) {
        const picture = findPicture(href)
        if (!picture) return text
        const { name, width, height } = picture
        return `<img src="${name}" width="${width}" height="${height}" alt="${text}" loading="lazy">`
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens)
        const target = findPicture(href)?.name ?? resolve(href, pages, nameOf)
        return target === null ? text : `<a href="${target}">${text}</a>`
      },
    },
  })
  // Tables of which the first column has no name.
  return marked.parse(markdown, { async: false }).replaceAll('<th></th>', '<td></td>')
}

/** As on GitHub, whose anchors the links of our pages use. */
function uniqueSlug(heading: string, taken: Set<string>): string {
  const slug = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
  let unique = slug
  for (let number = 1; taken.has(unique); number += 1) unique = `${slug}-${number}`
  taken.add(unique)
  return unique
}

/** The URL of a link from one of our pages to another; null if its target is not served. */
function resolve(href: string, pages: string[], nameOf: Served['nameOf']): string | null {
  if (href.endsWith('/v1/openapi.json')) return '../v1/openapi.json'
  if (/^(?:https?:|#)/.test(href)) return href
  const [path = '', fragment] = href.split('#')
  const name = basename(path)
  const page = pages.find(
    (each) => basename(each) === name && !/(?:lib|examples|bench|decisions)\//.test(path),
  )
  return page ? `${nameOf(page)}${fragment === undefined ? '' : `#${fragment}`}` : null
}
