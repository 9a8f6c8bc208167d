import { LRUCache } from 'lru-cache'
import type { Version } from '../core/agent.ts'
import type { JsonObject } from '../core/json.ts'
import { type Adapter, compileAdapter } from '../schema/adapt/adapt-input.ts'
import { compileStrictValidator, compileValidator, type Validator } from '../schema/validate/validate.ts'

/** A version's compiled schemas, cached in the process. */
export const inputValidatorOf: (version: Version) => Validator = cached('inputSchema', compileStrictValidator)
export const outputValidatorOf: (version: Version) => Validator = cached('outputSchema', compileValidator)
export const adapterOf: (version: Version) => Adapter = cached('inputSchema', compileAdapter)

function cached<T extends object>(
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
