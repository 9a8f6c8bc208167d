import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import module from 'node:module'
import { dirname, join, resolve } from 'node:path'

/** Beside the code that it is compiled from, as other tools have theirs: a new data folder compiles nothing again. */
export const SHARED_CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'agent-execution')

/** Node never removes a file, and every run of a changed code agent adds one: a large cache is deleted. */
const MAX_FILES = 3_000

/**
 * Caches compiled code for this process, its threads and the runner, in the first of these folders that can be written:
 * the next start is faster, and no process loads Node's TypeScript compiler. JavaScript, so that this needs none.
 */
export function openCompileCache(...folders) {
  if (process.env.NODE_COMPILE_CACHE) return void module.enableCompileCache()
  const folder = folders.map((path) => resolve(path)).find(isWritable)
  // Without a cache. The start says why the data folder cannot be written.
  if (!folder) return
  process.env.NODE_COMPILE_CACHE = folder
  module.enableCompileCache()
}

function isWritable(folder) {
  try {
    if (existsSync(folder) && readdirSync(folder, { recursive: true }).length > MAX_FILES)
      rmSync(folder, { recursive: true })
    createFolder(folder)
    // A folder of another user, which can be read, gets no files.
    mkdirSync(join(folder, `.${process.pid}`))
    rmSync(join(folder, `.${process.pid}`), { recursive: true })
    return true
  } catch {
    return false
  }
}

/** Node's own way, which the cache uses, too, never returns in a folder that refuses with ENOENT, as /proc does. */
function createFolder(path) {
  if (existsSync(path)) return
  createFolder(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}
