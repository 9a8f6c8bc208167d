import { compileStrictValidator, compileValidator } from '../schema/validate/validate.ts'
import { cacheCompiled } from './schema-cache.ts'

/** A version's compiled schemas, cached in the process. */
export const inputValidatorOf = cacheCompiled('inputSchema', compileStrictValidator)
export const outputValidatorOf = cacheCompiled('outputSchema', compileValidator)
