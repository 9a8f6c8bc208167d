/**
 * `npm run ci`: runs scripts of package.json one after the other until one fails, and records their results. A script
 * that runs no tests of vitest counts as one check. In the end, prints how long each script and the slowest files took.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CI_RESULTS, readResults, recordResult } from './results.ts'

const SLOWEST_FILES = 10

const folder = process.env[CI_RESULTS] ? undefined : mkdtempSync(join(tmpdir(), 'aes-ci-'))
if (folder) process.env[CI_RESULTS] = join(folder, 'results')

const seconds: [script: string, seconds: number][] = []
for (const name of process.argv.slice(2)) {
  const before = readResults().length
  const startedAt = performance.now()
  const child = spawn('npm', ['run', name], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  seconds.push([`npm run ${name}`, (performance.now() - startedAt) / 1000])
  const recorded = readResults().slice(before)
  if (code === 0) {
    if (!recorded.some(({ kind }) => kind !== 'file')) recordResult('passed', `npm run ${name}`)
    continue
  }
  if (!recorded.some(({ kind }) => kind === 'failed')) recordResult('failed', `npm run ${name}`)
  process.exitCode = code ?? 1
  break
}
printSeconds('Seconds per script', seconds)
const files = readResults().flatMap(({ kind, identity, seconds }) =>
  kind === 'file' ? [[identity, seconds] as [string, number]] : [],
)
printSeconds('The slowest files', files.sort(([, a], [, b]) => b - a).slice(0, SLOWEST_FILES))
if (folder) rmSync(folder, { recursive: true })

function printSeconds(title: string, rows: [name: string, seconds: number][]): void {
  if (rows.length === 0) return
  console.log(`\n${title}:`)
  for (const [name, seconds] of rows) console.log(`${seconds.toFixed(1).padStart(8)}  ${name}`)
}
