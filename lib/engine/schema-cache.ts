import { LRUCache } from 'lru-cache'
import type { Version } from '../core/agent.ts'
import type { JsonObject } from '../core/json.ts'

/** Compiles a schema of a version once, and caches the result in the process. */
export function cacheCompiled<T extends object>(
  schema: 'inputSchema' | 'outputSchema',
  compile: (declared: JsonObject) => T,
): (version: Version) => T {
  const compiled = new LRUCache<string, T>({ max: 500 })
  return (version) => {
    const known = compiled.get(version.id)
    if (known) return known
    const value = compile(version[schema])
    compiled.set(version.id, value)
    return value
  }
}
