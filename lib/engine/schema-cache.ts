import { LRUCache } from 'lru-cache'
import type { Version } from '../core/agent.ts'
import type { JsonObject } from '../core/json/json.ts'

/** Compiles a schema of a version once, and caches the result in the process. */
export function cacheCompiled<T extends object>(
  schema: 'inputSchema' | 'outputSchema',
  compile: (declared: JsonObject) => T,
): (version: Version) => T {
  const compiled = new LRUCache<string, T, Version>({
    max: 500,
    memoMethod: (_id, _previous, { context: version }) => compile(version[schema]),
  })
  return (version) => compiled.memo(version.id, { context: version })
}
