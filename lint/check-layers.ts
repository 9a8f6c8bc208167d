/**
 * Checks all imports against the diagram of layers in `docs/architecture.md`; part of `npm run lint`. A file can import
 * its own layer and every layer that arrows lead to. Biome's `noRestrictedImports` matches the text of an import and
 * not the file that it resolves to: it cannot tell `lib/mcp` from `test/mcp`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Folders that are missing in the diagram can only import themselves. `test` can import everything. */
const FOLDERS = [
  'agents',
  'authoring',
  'bench',
  'cli',
  'clients',
  'console',
  'examples',
  'functions',
  'infra',
  'lib',
  'lint',
  'local',
  'packages',
]
const IMPORT = /^(?:import|export)\b[^'"`]*?\bfrom '(\..*?)'|^import '(\..*?)'|\bimport\('(\..*?)'\)/gm

const layers = readLayers(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8'))
const violations = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => checkFile(join(folder, file))),
)
if (violations.length > 0) {
  console.error(`${violations.join('\n')}\nSee "Layers" in docs/architecture.md.`)
  process.exit(1)
}

/** Each layer of the diagram with all layers that arrows lead to. Statements: `a[label] & b --> c --> d`. */
function readLayers(page: string): Map<string, Set<string>> {
  const [, diagram] = /^## Layers$[\s\S]*?^```mermaid\nflowchart \w+\n([\s\S]*?)^```/m.exec(page) ?? []
  if (!diagram) throw new Error('docs/architecture.md has no diagram under "Layers".')
  const labels = new Map(
    [...diagram.matchAll(/([\w-]+)\["?(.+?)"?\]/g)].map(([, id = '', label = '']) => [id, label]),
  )
  const arrows = new Map<string, Set<string>>()
  for (const line of diagram.trim().split('\n')) {
    const groups = line.split('-->').map((group) =>
      group.split('&').map((node) => {
        const id = node.trim().replace(/\[.*/, '')
        return labels.get(id) ?? id
      }),
    )
    for (const [index, group] of groups.entries())
      for (const from of group) {
        const targets = arrows.get(from) ?? new Set()
        arrows.set(from, targets)
        for (const to of groups[index + 1] ?? []) targets.add(to)
      }
  }
  for (const targets of arrows.values())
    for (const to of targets) for (const next of arrows.get(to) ?? []) targets.add(next)
  return arrows
}

/** `lib/*.ts` are the files directly in `lib`; other layers include their subfolders. */
function findLayer(file: string): string {
  const folder = dirname(file)
  if (layers.has(`${folder}/*.ts`)) return `${folder}/*.ts`
  for (let layer = folder; layer !== '.'; layer = dirname(layer)) if (layers.has(layer)) return layer
  return folder.startsWith('lib/') ? folder : (folder.split('/')[0] ?? '')
}

function checkFile(file: string): string[] {
  const layer = findLayer(file)
  const specifiers = [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)].map(
    ([, from, sideEffect, dynamic]) => from ?? sideEffect ?? dynamic ?? '',
  )
  return specifiers
    .map((specifier) => join(dirname(file), specifier))
    .filter((target) => /\.tsx?$/.test(target))
    .filter((target) => ![layer, ...(layers.get(layer) ?? [])].includes(findLayer(target)))
    .map((target) => `${file} imports ${target}, but ${layer} is not above ${findLayer(target)}.`)
}
