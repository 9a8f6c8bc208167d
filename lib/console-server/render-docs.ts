import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Marked, type Tokens } from 'marked'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The page that the console links to: the README, whose table lists the others. */
const START = 'docs.html'

/** A page of the documentation. `name`: of its file. */
export type DocsPage = { name: string; html: string }

/**
 * The README and the pages in `docs`, as HTML: a deployment has the documentation of its own version, and needs no
 * other host for it. Links between them work; links to files that are not served become text.
 * @param stylesheet the name of the console's style sheet
 */
export async function renderDocs(stylesheet: string): Promise<DocsPage[]> {
  const names = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'))
  const pages = ['README.md', ...names.map((name) => `docs/${name}`)]
  return Promise.all(
    pages.map(async (path) => {
      const markdown = await readFile(join(ROOT, path), 'utf8')
      const title = /^# (.*)$/m.exec(markdown)?.[1] ?? basename(path)
      return { name: nameOf(path), html: toPage(title, renderMarkdown(markdown, pages), stylesheet) }
    }),
  )
}

const nameOf = (path: string): string => (path === 'README.md' ? START : `docs-${basename(path, '.md')}.html`)

function renderMarkdown(markdown: string, pages: string[]): string {
  const slugs = new Set<string>()
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${uniqueSlug(text, slugs)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      // They are not served.
      image: ({ text }: Tokens.Image) => text,
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens)
        const target = resolve(href, pages)
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
function resolve(href: string, pages: string[]): string | null {
  if (/^(?:https?:|#)/.test(href)) return href
  const [path = '', fragment] = href.split('#')
  const name = basename(path)
  if (name === 'openapi.json') return '../v1/openapi.json'
  const page = pages.find(
    (each) => basename(each) === name && !/(?:lib|examples|bench|decisions)\//.test(path),
  )
  return page ? `${nameOf(page)}${fragment === undefined ? '' : `#${fragment}`}` : null
}

const toPage = (title: string, body: string, stylesheet: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title.replace(/[`*]/g, '')} · Agent Execution Service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<header class="docs-head"><nav aria-label="Documentation"><a href="../console">Console</a> <a href="${START}">Documentation</a> <a href="${START}#documentation">All pages</a></nav></header>
<main class="docs">
${body}</main>
</body>
</html>
`
