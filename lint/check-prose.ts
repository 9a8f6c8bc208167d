/**
 * Checks Markdown pages and comments; part of `npm run lint`. Links, anchors, npm scripts, and paths in backticks must
 * exist. A file may be named by the end of its path, such as `table/keys.ts`. The index of decisions is complete.
 * Comments end at column 120.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const WIDTH = 120
const DECISIONS = 'docs/decisions/README.md'

const FENCE = /^ *```[\s\S]*?^ *```$/gm
const LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g
const PATH = /`(\w[\w.-]*(?:\/[\w.-]+)*\/?)`/g
const DECISION = /docs\/decisions\/\d{4}/g
const SCRIPT = /npm run (?:-s )?([a-z][\w:-]*)/g
const COMMENT = /^\s*(?:\/\/|\/?\*)/
/** A URL cannot be wrapped. */
const URL_LINE = /^\s*(?:\/\/|\*) https?:\S+$/
/** Agents of the reader, and files that commands write. */
const EXAMPLES = /^(?:agents\/|agents?\.ts$|src\/agents\.ts$|index\.mjs$|recordings\/|agent_types\.py$)/
/** Its comments are descriptions of schemas, one a line. */
const GENERATED = /(?:agent\.types|contract|examples\/typescript\/agents)\.ts$/

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')
const paths = new Set(
  files.flatMap((file) => file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))),
)
const { scripts } = JSON.parse(read('package.json'))

const pages = files.filter((file) => file.endsWith('.md') && !/^(?:agents|test)\//.test(file))
const sources = files.filter((file) => /\.(?:tsx?|mjs|css)$/.test(file) && !file.startsWith('test/fixtures/'))
const problems = [...pages.flatMap(checkPage), ...checkDecisions(), ...sources.flatMap(checkComments)]
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

function checkPage(page: string): string[] {
  const text = read(page)
  const prose = text.replace(FENCE, '')
  const links = [...prose.matchAll(LINK)].flatMap(([, target = '', anchor]) => {
    const file = target === '' ? page : join(page, '..', target).replace(/\/$/, '')
    if (!paths.has(file)) return [`the link to ${target} leads nowhere.`]
    return anchor && !readAnchors(file).has(anchor) ? [`${file} has no heading for #${anchor}.`] : []
  })
  const commands = [...text.matchAll(SCRIPT)]
    .filter(([, script = '']) => !(script in scripts))
    .map(([command]) => `there is no script for "${command}".`)
  return [...links, ...commands, ...checkPaths(prose, page)].map((problem) => `${page}: ${problem}`)
}

function checkDecisions(): string[] {
  const index = read(DECISIONS)
  return pages
    .filter((page) => /\/decisions\/\d/.test(page) && !index.includes(`](${basename(page)})`))
    .map((page) => `${DECISIONS}: ${page} is missing.`)
}

function checkComments(source: string): string[] {
  return read(source)
    .split('\n')
    .flatMap((line, index) => {
      const wide =
        COMMENT.test(line) && line.length > WIDTH && !URL_LINE.test(line) && !GENERATED.test(source)
          ? [`the comment has ${line.length} columns.`]
          : []
      const missing = COMMENT.test(line) ? checkPaths(line, source) : []
      return [...wide, ...missing].map((problem) => `${source}:${index + 1}: ${problem}`)
    })
}

function checkPaths(text: string, source: string): string[] {
  const named = [...text.matchAll(PATH)].map(([, path = '']) => path).filter(isPath)
  const decisions = (text.match(DECISION) ?? []).filter(
    (start) => !files.some((file) => file.startsWith(start)),
  )
  return [...named.filter((path) => !exists(path, source)), ...decisions].map(
    (path) => `${path} does not exist.`,
  )
}

/** Has an extension of the repository, or is below one of its folders. */
function isPath(name: string): boolean {
  if (EXAMPLES.test(name)) return false
  return (
    /\.(?:tsx?|mts|mjs|md|grit|py)$/.test(name) || (name.includes('/') && paths.has(name.split('/')[0] ?? ''))
  )
}

function exists(name: string, source: string): boolean {
  const path = name.replace(/\/$/, '')
  if (paths.has(path) || paths.has(join(source, '..', path))) return true
  return files.some((file) => file.endsWith(`/${path}`))
}

/** As GitHub derives them from headings. */
function readAnchors(page: string): Set<string> {
  const headings = [
    ...read(page)
      .replace(FENCE, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, title = '']) => title)
  return new Set(
    headings.map((title) =>
      title
        .replace(/\[(.*?)\]\(.*?\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}
