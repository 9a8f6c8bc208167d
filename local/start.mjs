import { readdirSync, rmSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/**
 * What `npm start` runs. Keeps compiled code in the data folder, for this process and the runner: the next start is
 * faster, and neither process loads Node's compiler of TypeScript. That is why this one file is plain JavaScript.
 */
const folder = join(process.env.DATA_DIR || '.local', 'compile-cache')

/** Code agents are added to it at every start that runs them, and nothing is taken away: then it is begun anew. */
const MAX_FILES = 3_000

try {
  if (readdirSync(folder, { recursive: true }).length > MAX_FILES) rmSync(folder, { recursive: true })
} catch {
  // There is none yet, or another process is at it.
}
process.env.NODE_COMPILE_CACHE ||= folder
enableCompileCache()
await import('./start.ts')
