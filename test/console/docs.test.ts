import { beforeAll, expect, it } from 'vitest'
import { type DocsPage, renderDocs } from '../../lib/console-server/render-docs.ts'

let pages: Map<string, string>
const linksOf = (html: string) => [...html.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => href)

beforeAll(async () => {
  const rendered: DocsPage[] = await renderDocs('main-HASH.css')
  pages = new Map(rendered.map(({ name, html }) => [name, html]))
})

it('the start page of the documentation leads to the others', () => {
  const links = linksOf(pages.get('docs.html') ?? '')
  expect(links).toEqual(expect.arrayContaining(['../console', 'docs-runs.html', '../v1/openapi.json']))
})

it('every link of the documentation has a target, and every anchor', () => {
  const broken = [...pages].flatMap(([name, html]) =>
    linksOf(html).filter((href) => {
      if (/^(?:https:\/\/|\.\.\/(?:console|v1\/openapi\.json)$)/.test(href)) return false
      const [page, anchor] = href.split('#')
      const target = pages.get(page || name)
      return !target || (anchor !== undefined && !target.includes(`id="${anchor}"`))
    }),
  )
  expect(broken).toEqual([])
})

it('pages of the documentation contain no script and no style of their own', () => {
  for (const html of pages.values()) expect(html).not.toMatch(/<script|<style|\sstyle=|\son\w+=/)
})
