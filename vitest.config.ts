import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { reportersWith } from './test/ci/results.ts'

// Compiling what they import is most of the work of the services and commands that tests start.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/node', import.meta.url))

/**
 * `npm test` leaves out `*.slow.test.ts`, runs each property a few times, and the suites of the stores on one emulator.
 * `npm run test:all` (mode `all`) runs every file, each property ten times as often, and the stores on both emulators.
 * `npm run test:aws` and `npm run test:models` run the files of `test/aws` and `test/model-servers`.
 */
export default defineConfig(({ mode }) => {
  const isFullRun = mode === 'all'
  return {
    test: {
      reporters: reportersWith('default'),
      include: ['test/**/*.test.ts'],
      exclude: [
        'test/aws/**',
        'test/browser/**',
        'test/model-servers/**',
        ...(isFullRun ? [] : ['test/**/*.slow.test.ts']),
      ],
      globalSetup: 'test/support/service/global-setup.ts',
      setupFiles: ['test/support/data/property-runs.ts', 'test/support/processes/wait-limits.ts'],
      provide: { isFullRun },
      // Many tests make a run or a request fail. Those that check what is logged spy on the logger, or start a process.
      env: { POWERTOOLS_LOG_LEVEL: 'SILENT' },
      // Files share a worker's modules: loading them once per file took a third of the time.
      isolate: false,
      // Many tests wait for a process or a lease, so one worker more than processors keeps them busy.
      maxWorkers: availableParallelism() + 1,
      // What hangs ends. A busy machine takes several times as long as an idle one, and nothing is wrong with it.
      expect: { poll: { timeout: 60_000 } },
      testTimeout: isFullRun ? 300_000 : 120_000,
      hookTimeout: isFullRun ? 300_000 : 120_000,
    },
  }
})
