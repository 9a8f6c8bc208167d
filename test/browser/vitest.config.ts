import { defineConfig } from 'vitest/config'
import { reportersWith } from '../ci/results.ts'

/** For the tests of `npm run test:browser`, which need a browser. The other tests leave them out. */
export default defineConfig({
  test: {
    reporters: reportersWith('default'),
    include: ['test/browser/**/*.test.ts'],
    globalSetup: 'test/support/service/global-setup.ts',
    env: { POWERTOOLS_LOG_LEVEL: 'WARN' },
    // A browser uses both processors of a small machine, and some tests measure it.
    fileParallelism: false,
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
