import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'

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
