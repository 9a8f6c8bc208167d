import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TSC = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url))

/** Compiles one TypeScript file in strict mode. Returns the compiler's messages, empty if there are none. */
export async function typeCheck(source: string, options: object = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'aes-types-'))
  try {
    const defaults = { strict: true, noEmit: true, target: 'es2024', module: 'nodenext', types: [] }
    const compilerOptions = { ...defaults, ...options }
    await writeFile(join(folder, 'index.ts'), source)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }))
    return await new Promise((resolve) => {
      execFile(process.execPath, [TSC, '-p', folder, '--pretty', 'false'], (_, stdout, stderr) =>
        resolve(stdout + stderr),
      )
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
