import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { builtInsPlugin } from './built-ins-plugin.ts'
import { FUNCTION_NAMES } from './function-settings.ts'

const FUNCTIONS = fileURLToPath(new URL('../functions', import.meta.url))

/**
 * Writes `<folder>/<function>/index.mjs` for every function, all in one pass of esbuild. The AWS SDK goes in, since the
 * runtime's own loads slower and changes under us; source maps stay out, since they cost every cold start.
 */
export async function bundleFunctions(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await build({
    entryPoints: FUNCTION_NAMES.map((name) => ({ in: `${FUNCTIONS}/${name}.ts`, out: `${name}/index` })),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    legalComments: 'none',
    plugins: [builtInsPlugin],
    logLevel: 'warning',
  })
}
