import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Most of a short command's time is Node compiling what it imports: kept, it takes half as long. */
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)))

const { runProgram } = await import('./run-program.ts')
// What an agent has left running must not keep the command from ending.
process.exit(await runProgram())
