import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { reportersWith } from './test/ci/results.ts'
import { TEST_SEED } from './test/support/data/seed.ts'

// Compiling what they import is most of the work of the services and commands that tests start.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/node', import.meta.url))

/**
 * Properties, and suites that run on several databases, or in memory: the night runs these again, ten times as often
 * and on all.
 */
const DRAWS_LOTS =
  /fast-check|propertyRuns|isNightly|tables\/(emulators|memory-table)|(scripted-engine|code-run|replays)\.ts/

/**
 * `npm test` runs the files that need neither seconds nor processes of their own. `npm run test:ci` (mode `ci`) adds
 * `*.slow.test.ts`. `npm run nightly` (mode `nightly`) runs `test/nightly`, and with other lots what draws lots. A
 * single file runs in the mode that includes it: `npx vitest run --mode ci <file>`.
 */
export default defineConfig(({ mode }) => {
  const isNightly = mode === 'nightly'
  return {
    test: {
      reporters: reportersWith('default'),
      include: isNightly ? nightlyFiles() : ['test/**/*.test.ts'],
      exclude: [
        'test/aws/**',
        'test/browser/**',
        'test/model-servers/**',
        'test/nightly/browser/**',
        ...(isNightly ? [] : ['test/nightly/**']),
        ...(mode === 'test' ? ['test/**/*.slow.test.ts'] : []),
      ],
      globalSetup: 'test/support/service/global-setup.ts',
      setupFiles: ['test/support/data/property-runs.ts', 'test/support/processes/wait-limits.ts'],
      provide: { isNightly },
      // Many tests make a run or a request fail. Those that check what is logged spy on the logger, or start a process.
      // Receivers and tools of tests are on this machine.
      // By day every run draws the same lots, so what fails is the change; the night draws new ones.
      env: {
        POWERTOOLS_LOG_LEVEL: 'SILENT',
        WEBHOOK_HOSTS: '127.0.0.1, localhost',
        ...(!isNightly && { [TEST_SEED]: process.env[TEST_SEED] ?? '1' }),
      },
      // Files share a worker's modules: loading them once per file took a third of the time.
      isolate: false,
      // Many tests wait for a process or a lease, so one worker more than processors keeps them busy.
      maxWorkers: availableParallelism() + 1,
      // What hangs ends. A busy machine takes several times as long as an idle one, and nothing is wrong with it.
      expect: { poll: { timeout: 60_000 } },
      testTimeout: 300_000,
      hookTimeout: 300_000,
    },
  }
})

function nightlyFiles(): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((path) => `test/${path}`)
  const drawing = files.filter(
    (path) => path.endsWith('.test.ts') && DRAWS_LOTS.test(readFileSync(path, 'utf8')),
  )
  return ['test/nightly/**/*.test.ts', ...drawing]
}
