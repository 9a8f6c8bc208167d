import type { DocsSection } from './docs-index.ts'

/** A page as navigation refers to it. */
export type DocsLink = { name: string; title: string }

type Frame = {
  page: DocsLink
  /** HTML. */
  body: string
  sections: DocsSection[]
  topics: { topic: string; pages: DocsLink[] }[]
  start: string
  stylesheet: string
  script: string
  index: string
}

/**
 * The whole document of a page. On a phone, and without a style sheet, the list of all pages follows the text. Without
 * a script there is no search: its field stays invisible, and its place free.
 */
export function toDocument({
  page,
  body,
  sections,
  topics,
  start,
  stylesheet,
  script,
  index,
}: Frame): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Agent Execution Service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<header class="docs-head toolbar">
<nav aria-label="Documentation"><a href="../console">Console</a> <a href="${start}">Documentation</a> <a href="#pages">All pages</a></nav>
<search class="docs-search" data-index="${index}" inert>
<label class="visually-hidden" for="docs-query">Search the documentation</label>
<input id="docs-query" type="search" placeholder="Search the documentation" autocomplete="off" spellcheck="false">
</search>
</header>
<div class="docs-layout">
${toContents(sections)}<main class="docs">
${body}${toNeighbors(page, topics)}</main>
${toPages(page, topics)}</div>
<script type="module" src="${script}"></script>
</body>
</html>
`
}

const linkTo = ({ name, title }: DocsLink, attributes = '') =>
  `<a href="${name}"${attributes}>${escapeHtml(title)}</a>`

/** The headings of the page. */
function toContents(sections: DocsSection[]): string {
  const items = sections
    .filter(({ depth }) => depth === 2 || depth === 3)
    .map(
      ({ depth, id, heading }) =>
        `<li class="docs-depth-${depth}"><a href="#${id}">${escapeHtml(heading)}</a></li>\n`,
    )
  if (items.length < 2) return ''
  return `<nav class="docs-contents" aria-label="On this page"><details><summary>On this page</summary>
<ul>
${items.join('')}</ul></details></nav>
`
}

function toPages(page: DocsLink, topics: Frame['topics']): string {
  const parts = topics.map(({ topic, pages }) => {
    const items = pages.map(
      (each) => `<li>${linkTo(each, each.name === page.name ? ' aria-current="page"' : '')}</li>\n`,
    )
    return `<h2>${topic}</h2>\n<ul>\n${items.join('')}</ul>\n`
  })
  return `<nav class="docs-pages" id="pages" aria-label="All pages" tabindex="-1">\n${parts.join('')}</nav>\n`
}

function toNeighbors(page: DocsLink, topics: Frame['topics']): string {
  const pages = topics.flatMap((topic) => topic.pages)
  const position = pages.findIndex(({ name }) => name === page.name)
  const [previous, next] = [pages[position - 1], pages[position + 1]]
  return `<nav class="docs-neighbors toolbar" aria-label="Previous and next page">
${previous ? `<span>Previous: ${linkTo(previous, ' rel="prev"')}</span>\n` : ''}${next ? `<span>Next: ${linkTo(next, ' rel="next"')}</span>\n` : ''}</nav>
`
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
