import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { FUNCTION_NAMES, type FunctionName, RUNS_AGENTS } from '../functions/function-settings.ts'
import { builtInsPlugin } from './built-ins-plugin.ts'
import { zodMiniPlugin } from './zod-mini-plugin.ts'

const FUNCTIONS = fileURLToPath(new URL('../../functions', import.meta.url))

/** Of every bundle. */
export const BUNDLE_OPTIONS = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none',
  plugins: [builtInsPlugin, zodMiniPlugin],
  logLevel: 'warning',
  metafile: true,
} satisfies BuildOptions

const sourceOf = (name: FunctionName) => `${FUNCTIONS}/${name}.ts`

/**
 * Writes `<folder>/<function>/index.mjs` for every function. The AWS SDK goes in, since the runtime's own loads slower
 * and changes under us; source maps stay out, since they cost every cold start. Functions that run agents are split, one
 * build each so that their chunks lie in their own folder: the SDKs of models and tools load only when an agent has them.
 * @returns what esbuild says of all files that it wrote
 */
export async function bundleFunctions(folder: string): Promise<Metafile['outputs']> {
  await rm(folder, { recursive: true, force: true })
  const whole = FUNCTION_NAMES.filter((name) => !RUNS_AGENTS.includes(name))
  const results = await Promise.all([
    build({
      ...BUNDLE_OPTIONS,
      entryPoints: whole.map((name) => ({ in: sourceOf(name), out: `${name}/index` })),
      outdir: folder,
    }),
    ...RUNS_AGENTS.map((name) =>
      build({
        ...BUNDLE_OPTIONS,
        entryPoints: [{ in: sourceOf(name), out: 'index' }],
        outdir: join(folder, name),
        splitting: true,
        chunkNames: 'chunk-[hash]',
      }),
    ),
  ])
  return Object.assign({}, ...results.map(({ metafile }) => metafile.outputs))
}
