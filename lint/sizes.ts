/**
 * `npm run sizes`: files, lines and words that git tracks, with their goals, for decisions about merging and splitting;
 * then fragments, and folders with few or many files. With a path, those of another checkout.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const ROOT = resolve(process.argv[2] ?? '.')
/** Product areas by the goal for their lines together. */
const PRODUCT = ['lib', 'functions', 'infra', 'local', 'cli', 'authoring', 'console']
const CODE = /\.(ts|tsx|mjs|css)$/
const GENERATED = ['openapi.json', 'clients/typescript/src/contract.ts']
const IMPORT =
  /\bfrom '(\..*?)'|^import '(\..*?)'|\bimport\(\s*'(\..*?)'\s*\)|new URL\('(\..*?)', import\.meta\.url\)/gm

/** A fragment is a file of at most this many lines with a single importer. */
const FRAGMENT = 40
const LARGE = 200
const [MIN_FILES, MAX_FILES] = [3, 12]

const list = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 })
const files = list.split('\0').filter((path) => path && existsSync(join(ROOT, path)))
const texts = new Map(files.filter((path) => /\.(ts|tsx|mjs|css|md|json)$/.test(path)).map(read))

const linesOf = (path: string) => (texts.get(path) ?? '').split('\n').length - 1
const sum = (paths: string[]) => paths.reduce((total, path) => total + linesOf(path), 0)
const codeIn = (...areas: string[]) =>
  files.filter((path) => CODE.test(path) && areas.includes(path.split('/')[0] ?? ''))
const product = codeIn(...PRODUCT)
const sizes = product.map(linesOf).sort((a, b) => a - b)
const pages = files.filter((path) => /^docs\/.*\.md$/.test(path)).map((path) => texts.get(path) ?? '')
const words = pages.join(' ').split(/\s+/).filter(Boolean).length

/** By what is counted: the figure and its goal. */
const rows: Record<string, [now: number, goal?: string]> = {
  'files in git': [files.length, '<= 1,700'],
  ...Object.fromEntries(PRODUCT.map((area) => [`lines of ${area}`, [sum(codeIn(area))] as [number]])),
  'product lines (the areas above, with styles)': [sum(product), '<= 84,000'],
  'committed lines of openapi.json and contract.ts': [sum(GENERATED.filter((path) => texts.has(path))), '0'],
  'lines of bench': [sum(codeIn('bench')), '<= 4,000'],
  'words in docs': [words, '<= 50,000'],
  'lines of the median product file': [sizes[Math.floor(sizes.length / 2)] ?? 0, '80 to 110'],
  [`product files above ${LARGE} lines`]: [sizes.filter((lines) => lines > LARGE).length, '<= 60'],
  'files of tests': [codeIn('test').length],
  'lines of tests': [sum(codeIn('test'))],
}
console.table(
  Object.fromEntries(Object.entries(rows).map(([name, [now, goal = '']]) => [name, { now, goal }])),
)

const importers = countImporters()
const fragments = [...product, ...codeIn('clients')].filter(
  (path) => !path.endsWith('.css') && linesOf(path) <= FRAGMENT && importers.get(path) === 1,
)
printList('Fragments', fragments)
const counts = Map.groupBy([...product, ...codeIn('clients')], dirname)
const odd = [...counts].filter(([, { length }]) => length < MIN_FILES || length > MAX_FILES)
console.log(`\nFolders of fewer than ${MIN_FILES} or more than ${MAX_FILES} files: ${odd.length}`)
for (const [folder, { length }] of odd) console.log(`  ${folder} (${length})`)
printList(
  `Product files above ${LARGE} lines`,
  product.filter((path) => linesOf(path) > LARGE),
)

function read(path: string): [path: string, text: string] {
  return [path, readFileSync(join(ROOT, path), 'utf8')]
}

function countImporters(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const path of codeIn(...PRODUCT, 'clients')) {
    const targets = [...(texts.get(path) ?? '').matchAll(IMPORT)].map(
      (match) => match.slice(1).find(Boolean) ?? '',
    )
    for (const target of new Set(targets.map((specifier) => join(dirname(path), specifier))))
      counts.set(target, (counts.get(target) ?? 0) + 1)
  }
  return counts
}

function printList(title: string, paths: string[]): void {
  console.log(`\n${title}: ${paths.length}`)
  for (const path of paths) console.log(`  ${path} (${linesOf(path)})`)
}
