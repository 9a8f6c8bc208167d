import fc from 'fast-check'
import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** True in `npm run test:all`. */
    isFullRun: boolean
  }
}

const DEFAULT_SHARE = 0.1

/** How often a property runs: `runs` times in `npm run test:all`, a tenth as often in `npm test`. */
export const propertyRuns = (runs: number) => Math.ceil(inject('isFullRun') ? runs : runs * DEFAULT_SHARE)

fc.configureGlobal({ numRuns: propertyRuns(500) })
