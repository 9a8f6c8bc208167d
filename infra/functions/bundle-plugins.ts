import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'esbuild'
import { DEFAULTS } from '../../lib/contract/settings/defaults.ts'

/**
 * Modules that are loaded when an export is first used. middy imports both for responses with a stream as body, which
 * no function returns: together 6 ms of processor time of a cold start.
 */
const LAZY = ['node:stream/promises', 'node:stream/web']

/**
 * Loads the built-in modules of Node.js with `process.getBuiltinModule()`. Importing `node:http` from an ES module
 * evaluates all of its exports, undici included, and takes 12 times as long (measured on Node 24). CommonJS
 * dependencies load theirs the same way, so that the ES module contains no `require`.
 */
export const builtInsPlugin: Plugin = {
  name: 'built-ins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?[a-z_]+(?:\/[a-z/]+)?$/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace: 'built-in' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'built-in' }, ({ path }) => {
      const load = `process.getBuiltinModule(${JSON.stringify(path)})`
      if (!LAZY.includes(path)) return { contents: `module.exports = ${load}` }
      const names = Object.keys(process.getBuiltinModule(path) ?? {})
      return {
        contents: `module.exports = { ${names.map((name) => `get ${name}() { return ${load}.${name} }`)} }`,
      }
    })
  },
}

/**
 * Leaves out what the MCP SDK loads and the service does not use: Ajv, in place of which the SDK has a validator a
 * tenth of the size for other runtimes, and the error messages of zod in 50 languages. Together 390 KB of a cold start.
 */
export const mcpSdkPlugin: Plugin = {
  name: 'mcp-sdk',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@modelcontextprotocol\/(?:server|client)\/_shims$/ }, ({ path }) => ({
      path: join(dirname(fileURLToPath(import.meta.resolve(path))), 'shimsBrowser.mjs'),
    }))
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {}' }))
  },
}

/**
 * Bundles `zod/mini` separately from the zod that the SDKs of models and tools load on demand. Otherwise esbuild moves
 * the files that both import into one chunk, with everything that either of them needs, and a cold start loads 410 KB
 * of zod instead of 20.
 */
export const zodMiniPlugin: Plugin = {
  name: 'zod-mini',
  setup({ onResolve, onLoad, resolve }) {
    const namespace = 'zod-mini'
    onResolve({ filter: /^zod\/mini$/ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === namespace) return undefined
      const resolved = await resolve(path, { ...options, pluginData: namespace })
      return { ...resolved, namespace, sideEffects: false }
    })
    onResolve({ filter: /^\./, namespace }, ({ path, importer }) => ({
      path: join(dirname(importer), path),
      namespace,
      sideEffects: false,
    }))
    onLoad({ filter: /.*/, namespace }, async ({ path }) => ({ contents: await readFile(path, 'utf8') }))
  },
}

/** Replaces the table of settings, with its texts, by the defaults that functions need. */
export const settingsPlugin: Plugin = {
  name: 'settings',
  setup({ onLoad }) {
    onLoad({ filter: /\/lib\/contract\/settings\/defaults\.[jt]s$/ }, () => ({
      contents: `export const DEFAULTS = ${JSON.stringify(DEFAULTS)}`,
    }))
  },
}

/**
 * Leaves out the zod of record schemas, next to which the mappers are that functions use: few functions describe
 * records. esbuild drops the unused import by itself, but keeps zod in a chunk that it shares with SDKs.
 */
export const recordSchemasPlugin: Plugin = {
  name: 'record-schemas',
  setup({ onResolve }) {
    onResolve({ filter: /^zod$/ }, ({ path, importer }) =>
      importer.includes('/lib/contract/records/') ? { path, external: true, sideEffects: false } : undefined,
    )
  },
}
