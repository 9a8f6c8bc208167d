import './check-node.mjs'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import module from 'node:module'
import { dirname, join, resolve } from 'node:path'

/**
 * Entry point of `npm start`. Caches compiled code in the data folder, for this process and the runner: the next start
 * is faster, and neither process loads Node's TypeScript compiler. This file is JavaScript so that it does not need the
 * compiler itself.
 *
 * `npm start` passes two flags of V8, which the runner inherits. `--max-semi-space-size=16`: with the default, 64 on
 * large machines, each process grows by 100 MB while many runs are in progress; 8 and less cost processor time.
 * `--heap-growing-percent=30`: with the default, objects of finished runs fill the gateway's old space up to three
 * times its live size, another 80 MB (`npm run bench`).
 */
const { DATA_DIR = '', HOST = '', PORT = '' } = process.env
const dataFolder = DATA_DIR || '.local'
const folder = join(dataFolder, 'compile-cache')

// A start that fails leaves no folder. In an existing one, the service that has the port may be stopping.
if (!existsSync(dataFolder)) {
  const { assertPortIsFree } = await import('./gateway/free-port.ts')
  await assertPortIsFree(HOST || '127.0.0.1', Number(PORT || 3000)).catch(({ message }) => {
    console.error(message)
    process.exit(1)
  })
}

/** Node never removes a file, and every run of a changed code agent adds one: a large cache is deleted. */
const MAX_FILES = 3_000

try {
  if (readdirSync(folder, { recursive: true }).length > MAX_FILES) rmSync(folder, { recursive: true })
} catch {
  // The folder does not exist yet, or another process is deleting it.
}
try {
  if (!process.env.NODE_COMPILE_CACHE) createFolder(resolve(folder))
  process.env.NODE_COMPILE_CACHE ||= folder
  module.enableCompileCache()
} catch {
  // There is no cache. The start says why the data folder cannot be written.
}
await import('./start.ts')

/** Node's own way, which the cache uses, too, never returns in a folder that refuses with ENOENT, as /proc does. */
function createFolder(path) {
  if (existsSync(path)) return
  createFolder(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}
