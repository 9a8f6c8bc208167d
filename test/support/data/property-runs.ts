import fc from 'fast-check'
import { inject } from 'vitest'
import { TEST_SEED } from './seed.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** True in `npm run nightly`. */
    isNightly: boolean
  }
}

const DEFAULT_SHARE = 0.1

/** How often a property runs: `runs` times in `npm run nightly`, a tenth as often otherwise. */
export const propertyRuns = (runs: number) => Math.ceil(inject('isNightly') ? runs : runs * DEFAULT_SHARE)

const seed = process.env[TEST_SEED]
fc.configureGlobal({ numRuns: propertyRuns(500), ...(seed && { seed: Number(seed) }) })
