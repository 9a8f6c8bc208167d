import './check-node.mjs'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openCompileCache, SHARED_CACHE } from './compile-cache.mjs'

/**
 * Entry point of `npm start`. JavaScript, so that what it does before the compile cache is open needs no compiler.
 *
 * `npm start` passes a flag of V8, which the runner inherits. `--max-semi-space-size=16`: with the default, 64 on large
 * machines, each process grows by 100 MB while many runs are in progress; 8 and less cost processor time.
 * `--heap-growing-percent=30` saved 80 MB at 64 in flight and cost an eighth of the processor time of a run
 * (`npm run bench`).
 */
const { DATA_DIR = '', HOST = '', PORT = '' } = process.env
const dataFolder = DATA_DIR || '.local'

// A start that fails leaves no folder. In an existing one, the service that has the port may be stopping.
if (!existsSync(dataFolder)) {
  const { assertPortIsFree } = await import('./gateway/listen.ts')
  await assertPortIsFree(HOST || '127.0.0.1', Number(PORT || 3000)).catch(({ message }) => {
    console.error(message)
    process.exit(1)
  })
}
openCompileCache(SHARED_CACHE, join(dataFolder, 'compile-cache'))
await import('./start.ts')
