/**
 * `npm run sizes`: files, lines and fragments by area, for decisions about merging and splitting. Generated files and
 * styles do not count. With a path, those of another checkout.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const ROOT = resolve(process.argv[2] ?? '.')
const AREAS = ['lib', 'functions', 'infra', 'local', 'cli', 'authoring', 'console', 'clients']
const IMPORT =
  /\bfrom '(\..*?)'|^import '(\..*?)'|\bimport\(\s*'(\..*?)'\s*\)|new URL\('(\..*?)', import\.meta\.url\)/gm
const GENERATED = /^clients\/.*\/(dist|generated)\/|\/contract\.ts$|\.d\.ts$/

/** A short file is one of at most this many lines; a fragment also has a single importer. */
const SHORT = 25
const FRAGMENT = 40
const [MIN_FILES, MAX_FILES] = [3, 12]

type Source = { path: string; lines: number; importers: number }

const sources = new Map<string, Source>()
const texts = new Map<string, string>()
for (const area of AREAS)
  for (const entry of list(area)) {
    const path = join(entry.parentPath, entry.name).slice(ROOT.length + 1)
    if (!entry.isFile() || !/\.(ts|tsx|mjs)$/.test(path) || /node_modules/.test(path) || GENERATED.test(path))
      continue
    const text = readFileSync(join(ROOT, path), 'utf8')
    texts.set(path, text)
    sources.set(path, { path, lines: text.split('\n').length - 1, importers: 0 })
  }
for (const [path, text] of texts) {
  const targets = [...text.matchAll(IMPORT)].map((match) => match.slice(1).find(Boolean) ?? '')
  for (const target of new Set(targets.map((specifier) => join(dirname(path), specifier)))) {
    const source = sources.get(target)
    if (source) source.importers += 1
  }
}

const rows = [...AREAS, ''].map((area) => summarize(area || 'all', area ? `${area}/` : ''))
console.table(Object.fromEntries(rows))
printList(
  'Fragments',
  [...sources.values()].filter(isFragment).map(({ path, lines }) => `${path} (${lines})`),
)
const odd = foldersOf([...sources.values()]).filter(([, files]) => files < MIN_FILES || files > MAX_FILES)
printList(
  `Folders of fewer than ${MIN_FILES} or more than ${MAX_FILES} files`,
  odd.map(([folder, files]) => `${folder} (${files})`),
)

function list(area: string) {
  try {
    return readdirSync(join(ROOT, area), { recursive: true, withFileTypes: true })
  } catch {
    return []
  }
}

function summarize(name: string, prefix: string): [string, Record<string, number>] {
  const files = [...sources.values()].filter(({ path }) => path.startsWith(prefix))
  const lines = files.map((file) => file.lines).sort((a, b) => a - b)
  const folders = foldersOf(files).map(([, count]) => count)
  return [
    name,
    {
      files: files.length,
      lines: lines.reduce((sum, count) => sum + count, 0),
      median: lines[Math.floor(lines.length / 2)] ?? 0,
      [`<= ${SHORT} lines`]: lines.filter((count) => count <= SHORT).length,
      fragments: files.filter(isFragment).length,
      folders: folders.length,
      '<= 3 files': folders.filter((count) => count <= 3).length,
      [`> ${MAX_FILES} files`]: folders.filter((count) => count > MAX_FILES).length,
    },
  ]
}

function isFragment({ lines, importers }: Source): boolean {
  return lines <= FRAGMENT && importers === 1
}

/** Folders with their number of files, without those of subfolders. */
function foldersOf(files: Source[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a.localeCompare(b))
}

function printList(title: string, items: string[]): void {
  console.log(`\n${title}: ${items.length}`)
  for (const item of items) console.log(`  ${item}`)
}
