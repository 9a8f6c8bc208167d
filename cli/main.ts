import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Compiling the imports dominates short commands: the cache halves their time. It must be on before the first import.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)))

const { runProgram } = await import('./program.ts')
// An agent may leave timers or sockets open, which would keep the process alive.
process.exit(await runProgram())
