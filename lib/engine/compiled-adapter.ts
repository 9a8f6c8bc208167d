import type { Version } from '../core/agent.ts'
import { type Adapter, compileAdapter } from '../schema/adapt/adapt-input.ts'
import { cacheCompiled } from './schema-cache.ts'

/** A version's compiled adapter, cached in the process. Separate from the validators: few functions need both. */
export const adapterOf: (version: Version) => Adapter = cacheCompiled('inputSchema', compileAdapter)
