import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

const COMPILER = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

const run = (...args: string[]) =>
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })

/** Empties the folder, and writes what sources import that is not in git. */
export function prepare(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  run('lib/contract/write-openapi.ts')
}

/**
 * Compiles a project to JavaScript and declarations.
 * @param folder where it writes them
 * @param options of the compiler, besides those of the project
 */
export function compile(project: string, folder: string, ...options: string[]): void {
  run(COMPILER, '--project', join(ROOT, project), '--outDir', folder, ...options)
  // The compiler leaves the extensions of sources in declarations.
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue
    const text = readFileSync(join(folder, name), 'utf8')
    writeFileSync(join(folder, name), text.replaceAll(/(["'])(\.{1,2}\/[^"'\n]+)\.ts\1/g, '$1$2.js$1'))
  }
}
