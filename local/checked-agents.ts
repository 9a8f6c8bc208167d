import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LoadedAgent } from '../lib/agents/load-folder.ts'
import { tryParseJson } from '../lib/core/json/json.ts'

/** An agent that can be published, and what it was checked and bundled from. */
export type Checked = { agent: LoadedAgent; sources: string[]; sourceHash: string }

/** By the path of the agent's folder, which its bundle contains. */
const fileOf = (cache: string, folder: string): string =>
  join(cache, 'agents', `${createHash('sha256').update(folder).digest('hex')}.json`)

/** What was checked last; null if nothing was, or the file is invalid. */
export async function readChecked(cache: string, folder: string): Promise<Checked | null> {
  const text = await readFile(fileOf(cache, folder), 'utf8').catch(() => '')
  const checked = tryParseJson(text) as Partial<Checked> | null | undefined
  return checked?.agent && checked.sources && checked.sourceHash ? (checked as Checked) : null
}

/** Best effort. Whether an agent with variables loads depends on their values: it is checked again. */
export async function writeChecked(cache: string, folder: string, checked: Checked): Promise<void> {
  if (checked.agent.document.env.length > 0) return
  const file = fileOf(cache, folder)
  const written = `${file}.${process.pid}`
  try {
    await mkdir(join(cache, 'agents'), { recursive: true, mode: 0o700 })
    await writeFile(written, JSON.stringify(checked), { mode: 0o600 })
    await rename(written, file)
  } catch {
    // The next start checks it again.
  }
}

/** What checks and bundles agents, and the versions of the packages that they import. */
const TOOLCHAIN = [
  fileURLToPath(new URL('../lib', import.meta.url)),
  ...['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'tsconfig.json'].map((name) => resolve(name)),
]

export const hashToolchain = (): Promise<string> => hashFiles(TOOLCHAIN)

/** The sources of an agent outside its folder. Packages are left out: the lock file has their versions. */
export function sourcesOutside(folder: string, sources: string[]): string[] {
  const isInside = (path: string) => !relative(resolve(folder), path).startsWith('..')
  return sources
    .map((path) => resolve(path))
    .filter((path) => !isInside(path) && !path.split(sep).includes('node_modules'))
}

/**
 * A hash of the names and contents of everything that a version of the agent depends on.
 * @param toolchain the hash of what all agents depend on
 */
export const hashSources = async (
  folder: string,
  sources: string[],
  toolchain = hashToolchain(),
): Promise<string> => hashFiles([folder, ...sources], await toolchain)

async function hashFiles(paths: string[], others = ''): Promise<string> {
  const files = (await Promise.all(paths.map(listFiles))).flat().sort()
  const contents = await Promise.all(files.map((file) => readFile(file).catch(() => 'missing')))
  const hash = createHash('sha256').update(others)
  for (const [index, file] of files.entries()) {
    const content = contents[index] ?? ''
    hash.update(JSON.stringify([file, content.length])).update(content)
  }
  return hash.digest('hex')
}

/** All files below a folder; the path itself if it is a file. */
async function listFiles(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return [path]
  }
}
