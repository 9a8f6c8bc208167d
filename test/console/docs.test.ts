import { readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { findSections } from '../../console/docs/find-sections.ts'
import type { DocsIndex } from '../../lib/console-server/docs-index.ts'
import { PAGE_ORDER, renderDocs } from '../../lib/console-server/render-docs.ts'

/** API Gateway and Lambda return at most 6 MB. */
const MAX_FILE_BYTES = 4_000_000
const MAX_PICTURES_BYTES = 5_000_000

let files: Map<string, string>
let pages: Map<string, string>
let index: DocsIndex
const linksOf = (html: string) => [...html.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => href)
const picturesOf = (html: string) => [...html.matchAll(/<img src="([^"]*)"/g)].map(([, src = '']) => src)
const pageOf = (name: string) => pages.get(name) ?? ''

beforeAll(async () => {
  const rendered = await renderDocs({ stylesheet: 'main-HASH.css', script: 'docs-search-HASH.js' })
  files = new Map(rendered.map(({ name, content }) => [name, content]))
  pages = new Map([...files].filter(([name]) => name.endsWith('.html')))
  index = JSON.parse([...files].find(([name]) => name.startsWith('docs-index-'))?.[1] ?? '')
})

it('every link of the documentation has a target, and every anchor', () => {
  const broken = [...pages].flatMap(([name, html]) =>
    linksOf(html).filter((href) => {
      if (/^(?:https:\/\/|\.\.\/(?:console|v1\/openapi\.json)$)/.test(href)) return false
      const [page, anchor] = href.split('#')
      const target = files.get(page || name)
      return !target || (anchor !== undefined && !target.includes(`id="${anchor}"`))
    }),
  )
  expect(broken).toEqual([])
})

it('pages of the documentation contain no script and no style of their own', () => {
  for (const html of pages.values()) {
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/)
    expect(html.match(/<script[^>]*>[^<]*/g)).toEqual(['<script type="module" src="docs-search-HASH.js">'])
  }
})

describe('the navigation', () => {
  it('has every page of the documentation once', () => {
    const names = readdirSync(new URL('../../docs', import.meta.url)).filter((name) => name.endsWith('.md'))
    const expected = ['README', ...names.map((name) => name.replace('.md', ''))]
    expect(PAGE_ORDER.toSorted()).toEqual(expected.toSorted())
  })

  it('marks the current page, and leads to the previous and the next one, and to the parts of the page', () => {
    const html = pageOf('docs-runs.html')
    expect(html.match(/<a href="([^"]*)" aria-current="page">/)?.[1]).toBe('docs-runs.html')
    expect(html).toContain('<a href="docs-cli.html" rel="prev">')
    expect(html).toContain('<a href="docs-waiting.html" rel="next">')
    expect(html).toContain('<li class="docs-depth-2"><a href="#compare">Compare</a></li>')
    expect(pageOf('docs.html')).not.toContain('rel="prev"')
    expect(linksOf(pageOf('docs.html'))).toEqual(expect.arrayContaining(['../console', '../v1/openapi.json']))
  })
})

describe('pictures', () => {
  it('are served under names that change with them', () => {
    const html = pageOf('docs-console.html')
    const pictures = picturesOf(html)
    expect(pictures.length).toBeGreaterThan(5)
    expect(picturesOf(pageOf('docs.html'))).toHaveLength(1)
    for (const name of pictures) {
      expect(name).toMatch(/^docs-picture-[\w-]+-[\dA-F]{8}\.svg$/)
      expect(files.get(name)).toMatch(/^<svg .*href="data:image\/png;base64,/)
    }
    expect(html).not.toMatch(/<img(?![^>]*alt="[^"]+")/)
  })

  it('fit in a response, and together in a deployment', () => {
    const pictures = [...files].filter(([name]) => name.endsWith('.svg')).map(([, svg]) => svg.length)
    expect(pictures.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_PICTURES_BYTES)
    for (const content of files.values()) expect(content.length).toBeLessThan(MAX_FILE_BYTES)
  })
})

describe('the search', () => {
  const find = (query: string) => findSections(index, query).map(({ href }) => href)

  it('finds sections that have every word, by their headings first, then by their text', () => {
    expect(find('compare')[0]).toBe('docs-runs.html#compare')
    expect(find('idempotency key')).toContain('docs-runs.html#idempotency')
    expect(find('RERUN execution').slice(0, 3)).toContain('docs-runs.html#rerun')
    expect([find('compare xyzzy'), find('  ')]).toEqual([[], []])
  })

  it('shows the text around the first match without markup, and reads at most 150 kB, compressed', () => {
    const [found] = findSections(index, 'originalExecutionId')
    expect(found?.snippet).toMatch(/originalExecutionId/)
    for (const { page, id, text, heading } of index.sections) {
      expect(heading + text).not.toMatch(/<\/(?:code|a|p|td)>/)
      expect(pageOf(index.pages[page]?.name ?? '')).toContain(`id="${id}"`)
    }
    expect(gzipSync(JSON.stringify(index)).length).toBeLessThan(150_000)
  })
})
