import { defineConfig } from 'vitest/config'
import { reportersWith } from '../ci/results.ts'

/**
 * For the tests in a browser: `npm run test:browser` has one flow per page, and the mode `nightly` runs
 * `test/nightly/browser`. All files share the browser and the service of global-setup.ts.
 */
export default defineConfig(({ mode }) => ({
  test: {
    reporters: reportersWith('default'),
    include: [mode === 'nightly' ? 'test/nightly/browser/**/*.test.ts' : 'test/browser/**/*.test.ts'],
    globalSetup: 'test/browser/global-setup.ts',
    env: { POWERTOOLS_LOG_LEVEL: 'WARN' },
    // A page mostly waits. By night, some tests measure it.
    maxWorkers: mode === 'nightly' ? 1 : 2,
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
}))
