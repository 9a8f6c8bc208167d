import { rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import wordListPath from 'word-list'
import { buildConsole } from '../../lib/console-server/build-console.ts'
import {
  builtInsPlugin,
  mcpSdkPlugin,
  recordSchemasPlugin,
  settingsPlugin,
  zodMiniPlugin,
} from './bundle-plugins.ts'
import { AGENT_FUNCTIONS, FUNCTION_NAMES, type FunctionName } from './function-settings.ts'

const EXTENSION = extname(import.meta.url)
const FUNCTIONS = fileURLToPath(new URL('../../functions', import.meta.url))

/** Shared by all bundles. */
export const BUNDLE_OPTIONS = {
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none',
  plugins: [builtInsPlugin, mcpSdkPlugin, zodMiniPlugin, settingsPlugin],
  logLevel: 'warning',
  metafile: true,
} satisfies BuildOptions

const THREAD_ENTRY = fileURLToPath(
  new URL(`../../lib/engine/code-agent/thread/entry${EXTENSION}`, import.meta.url),
)

/** What runs in a code agent's thread. */
const bundleThread = (outdir: string) =>
  build({ ...BUNDLE_OPTIONS, entryPoints: [{ in: THREAD_ENTRY, out: 'thread-entry' }], outdir })

/** The words that misspelled names are compared with. The module that reads them expects them next to itself. */
const copyWords = (outdir: string) =>
  build({ ...BUNDLE_OPTIONS, entryPoints: [wordListPath], outdir, loader: { '.txt': 'copy' } })

/** Functions that adapt input to its schema. */
const ADAPTING_FUNCTIONS: FunctionName[] = [
  ...AGENT_FUNCTIONS,
  'deliver-events',
  'get-execution',
  'manage-batches',
  'manage-schedules',
  'manage-trials',
  'publish-agent',
  'rerun-execution',
]

/**
 * Functions that load the SDKs of models and tools, prices, the engine for the patterns of schemas, the checks of
 * documents, the verification of JSON Web Tokens, the OpenAPI document of agents, or what sends traces on demand.
 */
export const SPLIT_FUNCTIONS: FunctionName[] = [
  ...ADAPTING_FUNCTIONS,
  'authorize-request',
  'get-version',
  'give-feedback',
  'list-agents',
  'manage-limits',
  'manage-webhooks',
]

/** Functions whose answers describe records by their schemas. */
const DESCRIBING_FUNCTIONS: FunctionName[] = ['list-agents', 'serve-mcp']

/** Functions that call models. */
const CALLING_FUNCTIONS: FunctionName[] = [...AGENT_FUNCTIONS, 'give-feedback']

/**
 * What only models and secrets load, on demand. Functions that call none of them name models: esbuild removes the code
 * that loads these packages, but would still write a chunk for each, and divide the others by them.
 */
const AGENT_PACKAGES = ['@ai-sdk/*', 'aws4fetch', '@aws-lambda-powertools/parameters/*']

/** Deliveries need signatures for the event bus, and the secret with the headers of traces. */
const getUnused = (name: FunctionName) => (name === 'deliver-events' ? ['@ai-sdk/*'] : AGENT_PACKAGES)

const sourceOf = (name: FunctionName) => `${FUNCTIONS}/${name}${EXTENSION}`

/**
 * Writes `<folder>/<function>/index.mjs` for every function. Bundles contain the AWS SDK, because the SDK of the Lambda
 * runtime loads slower and changes without notice, and no source maps, because they slow down every cold start. Some
 * functions are split into chunks, so that they load what few requests need on demand. Each of them is a separate
 * build: esbuild writes shared chunks outside the folders of the entry points.
 * @returns the outputs in esbuild's metafiles
 */
export async function bundleFunctions(folder: string): Promise<Metafile['outputs']> {
  await rm(folder, { recursive: true, force: true })
  const unsplit = FUNCTION_NAMES.filter((name) => !SPLIT_FUNCTIONS.includes(name))
  const results = await Promise.all([
    build({
      ...BUNDLE_OPTIONS,
      entryPoints: unsplit.map((name) => ({ in: sourceOf(name), out: `${name}/index` })),
      outdir: folder,
    }),
    ...SPLIT_FUNCTIONS.map((name) =>
      build({
        ...BUNDLE_OPTIONS,
        plugins: [
          ...BUNDLE_OPTIONS.plugins,
          ...(DESCRIBING_FUNCTIONS.includes(name) ? [] : [recordSchemasPlugin]),
        ],
        entryPoints: [{ in: sourceOf(name), out: 'index' }],
        outdir: join(folder, name),
        splitting: true,
        chunkNames: 'chunk-[hash]',
        external: CALLING_FUNCTIONS.includes(name) ? [] : getUnused(name),
      }),
    ),
    ...AGENT_FUNCTIONS.map((name) => bundleThread(join(folder, name))),
    ...ADAPTING_FUNCTIONS.map((name) => copyWords(join(folder, name))),
  ])
  const consoleFiles = await buildConsole(join(folder, 'serve-console', 'console'), { quality: 11 })
  return Object.assign(consoleFiles, ...results.map(({ metafile }) => metafile.outputs))
}
