/**
 * `npm run ci`: runs scripts of package.json one after the other until one fails, and records their results. A script
 * that runs no tests of vitest counts as one check.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { CI_RESULTS, recordResult, sizeOfResults } from './results.ts'

for (const name of process.argv.slice(2)) {
  const before = sizeOfResults()
  const child = spawn('npm', ['run', name], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  const recorded = resultsFrom(before)
  if (code === 0) {
    if (recorded === '') recordResult('passed', `npm run ${name}`)
    continue
  }
  if (!/^failed\t/m.test(recorded)) recordResult('failed', `npm run ${name}`)
  process.exit(code ?? 1)
}

function resultsFrom(start: number): string {
  const file = process.env[CI_RESULTS]
  return sizeOfResults() > start && file ? readFileSync(file).subarray(start).toString() : ''
}
