import { isBuiltin } from 'node:module'
import type { Plugin } from 'esbuild'

/**
 * Modules that are loaded when an export is first used. middy imports both for responses with a stream as body, which no
 * function returns: together 6 ms of processor time of a cold start.
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
