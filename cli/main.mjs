#!/usr/bin/env node
import '../local/check-node.mjs'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Entry point of `npx agent-execution`: JavaScript, so that a Node.js without TypeScript can say what it needs. The
 * repository has the sources beside it, and the package what they are compiled to.
 */

// Read before the imports, during which the parent may exit.
const parent = process.ppid

const hasSources = existsSync(new URL('program.ts', import.meta.url))
const load = (name) => import(hasSources ? `../${name}.ts` : `../dist/${name}.js`)

const args = process.argv.slice(2)
if (args[0] === 'start' && args.length === 1)
  await import(hasSources ? '../local/start.mjs' : '../dist/local/start.mjs')
else {
  // Compiling the imports dominates short commands: the cache halves their time. It must be on before the first import.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)))

  // Stdout is for results: the commands report errors.
  process.env.POWERTOOLS_LOG_LEVEL ||= 'SILENT'

  const [{ runProgram }, { handleSignals }] = await Promise.all([load('cli/program'), load('cli/terminal')])
  handleSignals(parent)
  // An agent may leave timers or sockets open, which would keep the process alive.
  process.exit(await runProgram(args))
}
