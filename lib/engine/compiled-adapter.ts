import { compileAdapter } from '../schema/adapt/adapt-input.ts'
import { compileFileMapper } from '../schema/files/map-files.ts'
import { cacheCompiled } from './schema-cache.ts'

/** A version's compiled adapter, cached in the process. Separate from the validators: few functions need both. */
export const adapterOf = cacheCompiled('inputSchema', compileAdapter)

/** Finds and replaces the files of an input. */
export const fileMapperOf = cacheCompiled('inputSchema', compileFileMapper)
