import type { Version } from '../core/agent.ts'
import { compileStrictValidator, compileValidator, type Validator } from '../schema/validate/validate.ts'
import { cacheCompiled } from './schema-cache.ts'

/** A version's compiled schemas, cached in the process. */
export const inputValidatorOf: (version: Version) => Validator = cacheCompiled(
  'inputSchema',
  compileStrictValidator,
)
export const outputValidatorOf: (version: Version) => Validator = cacheCompiled(
  'outputSchema',
  compileValidator,
)
