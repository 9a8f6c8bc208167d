/**
 * `npm run test:browser`: the console in a real browser. Arguments are those of vitest. Without a browser it fails, but
 * the night skips it.
 */
import { runCommand } from '../support/processes/processes.ts'
import { findChromium } from './support/launch.ts'

if (findChromium()) {
  await runCommand('npx', [
    ...['vitest', '--run', '--config', 'test/browser/vitest.config.ts', '--silent=passed-only'],
    ...process.argv.slice(2),
  ])
} else {
  const isNightly = process.argv.includes('nightly')
  console.error(
    `test:browser: ${isNightly ? 'skipped, ' : ''}no browser found. Install Debian's package "chromium" (.ci/run does), or set CHROMIUM to the path of a Chromium.`,
  )
  if (!isNightly) process.exitCode = 1
}
