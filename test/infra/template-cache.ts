import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/templates')
const MAX_AGE_MS = 86_400_000

/** What a template depends on, beside its settings. */
const SOURCES = ['cdk.json', 'package-lock.json', 'infra', 'lib', 'test/infra/synthesize.ts']

const filesIn = (path: string): string[] =>
  statSync(join(ROOT, path)).isFile()
    ? [path]
    : readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') || name.endsWith('.json'))
        .map((name) => join(path, name))

let folder: string | undefined

/** The folder of the present sources. Those of others are deleted after a day. */
function openFolder(): string {
  const files = SOURCES.flatMap(filesIn).sort()
  const name = hash(
    'sha256',
    files.map((file) => `${file}\n${readFileSync(join(ROOT, file), 'utf8')}`).join('\n'),
  )
  mkdirSync(join(CACHE, name), { recursive: true })
  for (const other of readdirSync(CACHE).filter((other) => other !== name)) {
    const isOld =
      (statSync(join(CACHE, other), { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - MAX_AGE_MS
    if (isOld) rmSync(join(CACHE, other), { recursive: true, force: true })
  }
  return join(CACHE, name)
}

/**
 * A template that any worker, and any earlier run with the same sources, has created with these settings. Two that need
 * it at the same moment both create it, with the same result.
 */
export function readTemplate(settings: string, create: () => object): object {
  folder ??= openFolder()
  const file = join(folder, `${hash('sha256', settings)}.json`)
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    const template = create()
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(template))
    renameSync(`${file}.${process.pid}`, file)
    return template
  }
}
