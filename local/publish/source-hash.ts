import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** What checks and bundles agents, and the versions of the packages that they import. */
const TOOLCHAIN = ['lib', 'package-lock.json', 'tsconfig.json'].map((name) => join(PROJECT, name))

/** The sources of an agent outside its folder. Packages are left out: the lock file has their versions. */
export function sourcesOutside(folder: string, sources: string[]): string[] {
  const isInside = (path: string) => !relative(resolve(folder), path).startsWith('..')
  return sources
    .map((path) => resolve(path))
    .filter((path) => !isInside(path) && !path.split(sep).includes('node_modules'))
}

/** A hash of the names and contents of everything that a version of the agent depends on. */
export async function hashSources(folder: string, sources: string[]): Promise<string> {
  const files = (await Promise.all([folder, ...sources, ...TOOLCHAIN].map(listFiles))).flat().sort()
  const contents = await Promise.all(files.map((file) => readFile(file).catch(() => 'missing')))
  const hash = createHash('sha256')
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
