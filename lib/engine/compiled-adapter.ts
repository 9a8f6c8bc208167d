import { compileAdapter } from '../schema/adapt/adapt-input.ts'
import { cacheCompiled } from './schema-cache.ts'

/** A version's compiled adapter, cached in the process. Separate from the validators: few functions need both. */
export const adapterOf = cacheCompiled('inputSchema', compileAdapter)
