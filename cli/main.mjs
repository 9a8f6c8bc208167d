#!/usr/bin/env node
import '../local/check-node.mjs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

/** Entry point of `npx agent-execution`: JavaScript, so that a Node.js without TypeScript can say what it needs. */

// Read before the imports, during which the parent may exit.
const parent = process.ppid

// Compiling the imports dominates short commands: the cache halves their time. It must be on before the first import.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)))

// Stdout is for results: the commands report errors.
process.env.POWERTOOLS_LOG_LEVEL ||= 'SILENT'

const [{ runProgram }, { handleSignals }] = await Promise.all([
  import('./program.ts'),
  import('./terminal.ts'),
])
handleSignals(parent)
// An agent may leave timers or sockets open, which would keep the process alive.
process.exit(await runProgram(process.argv.slice(2)))
