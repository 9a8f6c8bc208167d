import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))

/** What an agent is made with: how documents are checked and bundled, and which packages are installed. */
const MADE_WITH = ['lib', 'package-lock.json', 'tsconfig.json'].map((name) => join(PROJECT, name))

/** The sources of an agent that are neither in its folder nor of a package: packages are as the lock file says. */
export function outsideOf(folder: string, sources: string[]): string[] {
  const isInside = (path: string) => !relative(resolve(folder), path).startsWith('..')
  return sources
    .map((path) => resolve(path))
    .filter((path) => !isInside(path) && !path.split(sep).includes('node_modules'))
}

/** A hash of the names and contents of all that an agent is made of, and made with. */
export async function fingerprintOf(folder: string, sources: string[]): Promise<string> {
  const files = (await Promise.all([folder, ...sources, ...MADE_WITH].map(filesBelow))).flat().sort()
  const contents = await Promise.all(files.map((file) => readFile(file).catch(() => 'gone')))
  const hash = createHash('sha256')
  for (const [index, file] of files.entries()) {
    const content = contents[index] ?? ''
    hash.update(JSON.stringify([file, content.length])).update(content)
  }
  return hash.digest('hex')
}

/** The file itself, when the path is no folder. */
async function filesBelow(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return [path]
  }
}
