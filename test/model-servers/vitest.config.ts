import { defineConfig } from 'vitest/config'

/** For the tests that `npm run test:models` runs when Python is available. The other tests leave them out. */
export default defineConfig({
  test: {
    include: ['test/model-servers/*.test.ts'],
    globalSetup: 'test/support/service/global-setup.ts',
    testTimeout: 60_000,
    // Installs packages once.
    hookTimeout: 600_000,
  },
})
