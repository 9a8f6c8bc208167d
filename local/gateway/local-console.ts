import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a build reads: also of `lib`, from which the console imports, and the versions of packages. */
const SOURCES = [
  'console',
  'docs',
  'lib',
  'README.md',
  'package-lock.json',
  'node_modules/.package-lock.json',
]

/** In the folder of a build: its files, and a hash of them. */
const FILES = 'files'
const HASH = 'hash'

/** Services of so many versions can share a data folder. */
const MAX_BUILDS = 3
/** A build that has not ended after this time was killed. */
const MAX_BUILD_MS = 3_600_000

type Options = { root?: string; build?: (folder: string) => Promise<unknown> }

/**
 * Builds the console, unless an earlier start has built it from the same sources. Other services may use the folder at
 * the same time, and any of them may be killed: a build gets its name when it is complete, and is checked before it is
 * used.
 * @param folder where builds are kept
 * @param options for tests
 * @returns the folder of the files
 */
export async function openLocalConsole(
  folder: string,
  { root = ROOT, build = buildFiles }: Options = {},
): Promise<string> {
  const kept = join(folder, await hashOf(SOURCES.map((name) => join(root, name))))
  if (await isIntact(kept)) {
    await utimes(kept, new Date(), new Date())
    return join(kept, FILES)
  }
  const own = `${kept}.${randomUUID()}`
  try {
    await mkdir(own, { recursive: true })
    await build(join(own, FILES))
    await writeFile(join(own, HASH), await hashOf([join(own, FILES)]))
    await rename(own, kept).catch(async () => {
      // Another service has built it meanwhile, or what is there is damaged.
      if (await isIntact(kept)) return
      await rm(kept, { recursive: true, force: true })
      await rename(own, kept)
    })
  } finally {
    await rm(own, { recursive: true, force: true })
  }
  await removeOthers(folder).catch(() => undefined)
  return join(kept, FILES)
}

async function buildFiles(folder: string): Promise<void> {
  const { buildConsole, stopBuilder } = await import('../../lib/console-server/build-console.ts')
  await buildConsole(folder, { quality: 5 })
  await stopBuilder()
}

async function isIntact(build: string): Promise<boolean> {
  const hash = await readFile(join(build, HASH), 'utf8').catch(() => null)
  return hash !== null && hash === (await hashOf([join(build, FILES)]).catch(() => null))
}

/** Of the paths in files and folders, and of contents. What does not exist has none. */
async function hashOf(paths: string[]): Promise<string> {
  const files = await Promise.all(paths.map(listFiles))
  const contents = files.map((list) =>
    list.map(async ([name, path]) => [name, digest(await readFile(path))] as const),
  )
  return digest(JSON.stringify(await Promise.all(contents.flat())))
}

const digest = (content: string | Buffer) => createHash('sha256').update(content).digest('hex').slice(0, 32)

/** Names below the path, and paths, in the order of names. */
async function listFiles(path: string): Promise<[name: string, path: string][]> {
  const found = await stat(path).catch(() => null)
  if (!found) return []
  if (!found.isDirectory()) return [['', path]]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
    .map((file) => [file.slice(path.length), file])
}

/** Leaves the builds that were used last, and those that may be in progress. */
async function removeOthers(folder: string): Promise<void> {
  const names = await readdir(folder)
  const entries = await Promise.all(
    names.map(async (name) => ({ name, usedAt: (await stat(join(folder, name))).mtimeMs })),
  )
  const builds = entries
    .filter(({ name }) => /^[0-9a-f]{32}$/.test(name))
    .toSorted((a, b) => b.usedAt - a.usedAt)
    .slice(0, MAX_BUILDS)
  const inProgress = entries.filter(
    ({ name, usedAt }) => /^[0-9a-f]{32}\./.test(name) && usedAt > Date.now() - MAX_BUILD_MS,
  )
  const kept = new Set([...builds, ...inProgress].map(({ name }) => name))
  const others = names.filter((name) => !kept.has(name))
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
