import { defineConfig } from 'vitest/config'
import { reportersWith } from '../../ci/results.ts'

/** For the restore drill, which needs moto. The other tests leave it out. */
export default defineConfig({
  test: {
    reporters: reportersWith('default'),
    include: ['test/aws/restore/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
})
