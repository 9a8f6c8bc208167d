import { defineConfig } from 'vitest/config'
import { reportersWith } from '../../ci/results.ts'

/** For the tests that `npm run test:aws` runs on a deployed stack, in this order. The other tests leave them out. */
export default defineConfig({
  test: {
    reporters: reportersWith('default'),
    include: ['test/aws/{stack,proof}/*.test.ts'],
    // As the command has it.
    env: { POWERTOOLS_LOG_LEVEL: 'SILENT' },
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
})
