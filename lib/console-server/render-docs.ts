import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DocsLink, toDocument } from './docs-frame.ts'
import { splitSections, toIndex } from './docs-index.ts'
import { renderMarkdown } from './docs-markdown.ts'
import { readPictures, withHash } from './docs-pictures.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The page that the console links to: the README. */
const START = 'docs.html'

/** A file of the documentation: a page, a picture, or what the search reads. */
type DocsFile = { name: string; content: string }

/** Names of files of the console that pages refer to. */
type References = { stylesheet: string; script: string }

/**
 * The README and the pages in `docs`, as HTML: a deployment has the documentation of its own version, and needs no
 * other host for it.
 */
export async function renderDocs({ stylesheet, script }: References): Promise<DocsFile[]> {
  const names = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'))
  const paths = ['README.md', ...names.map((name) => `docs/${name}`)]
  const pictures = await readPictures(join(ROOT, 'docs'))
  const rendered = await Promise.all(
    paths.map(async (path) => {
      const markdown = await readFile(join(ROOT, path), 'utf8')
      const body = renderMarkdown(markdown, { pages: paths, nameOf, pictures })
      const sections = splitSections(body)
      const title = sections[0]?.heading ?? basename(path)
      return { key: basename(path, '.md'), name: nameOf(path), title, body, sections }
    }),
  )
  // Pages that no topic names come last.
  const positionOf = (key: string) => PAGE_ORDER.indexOf(key) + 1 || PAGE_ORDER.length + 1
  const pages = rendered.toSorted((a, b) => positionOf(a.key) - positionOf(b.key))
  const content = JSON.stringify(toIndex(pages))
  const index = { name: withHash('docs-index', '.json', content), content }
  const linkOf = (key: string): DocsLink[] =>
    pages.filter((page) => page.key === key).map(({ name, title }) => ({ name, title }))
  const topics = TOPICS.map(([topic, keys]) => ({ topic, pages: keys.flatMap(linkOf) }))
  return [
    ...pages.map(({ name, title, body, sections }) => {
      const frame = { page: { name, title }, body, sections, topics, start: START }
      return { name, content: toDocument({ ...frame, stylesheet, script, index: index.name }) }
    }),
    ...[...pictures.values()].map(({ name, svg }) => ({ name, content: svg })),
    index,
  ]
}

const nameOf = (path: string): string => (path === 'README.md' ? START : `docs-${basename(path, '.md')}.html`)

/** The pages of the documentation by topic, in the order in which they are read. Those of `docs` by their names. */
export const TOPICS: [topic: string, pages: string[]][] = [
  ['Start', ['README', 'first-day', 'authoring', 'console', 'cli']],
  [
    'Run agents',
    [
      'runs',
      'waiting',
      'errors',
      'adaptation',
      'files',
      'batches',
      'schedules',
      'webhooks',
      'clients',
      'mcp',
    ],
  ],
  ['Write agents', ['agents', 'models', 'tools', 'code-agents', 'learning']],
  ['Release agents', ['releases', 'scorers']],
  ['Serve customers', ['tenants', 'limits']],
  ['Deploy', ['deploy', 'settings', 'identity']],
  ['Operate', ['operations', 'traces', 'recovery', 'costs', 'proof']],
  ['How it works', ['architecture']],
]

/** All pages, in the order of the topics. */
export const PAGE_ORDER: string[] = TOPICS.flatMap(([, pages]) => pages)
