import { LRUCache } from 'lru-cache'
import type { Version } from '../core/agent.ts'
import type { JsonObject } from '../core/json.ts'
import { type Adapter, compileAdapter } from '../schema/adapt/adapt-input.ts'
import { compileStrictValidator, compileValidator, type Validator } from '../schema/validate/validate.ts'

/** What a version's schemas are compiled to, once a process. */
export const inputCheckOf: (version: Version) => Validator = compiledOnce(
  'inputSchema',
  compileStrictValidator,
)
export const outputCheckOf: (version: Version) => Validator = compiledOnce('outputSchema', compileValidator)
export const adapterOf: (version: Version) => Adapter = compiledOnce('inputSchema', compileAdapter)

function compiledOnce<T extends object>(
  schema: 'inputSchema' | 'outputSchema',
  compile: (declared: JsonObject) => T,
): (version: Version) => T {
  const compiled = new LRUCache<string, T>({ max: 500 })
  return (version) => {
    const known = compiled.get(version.id)
    if (known) return known
    const made = compile(version[schema])
    compiled.set(version.id, made)
    return made
  }
}
