/**
 * Prints size and load time of every function's bundle: `npm run bundles`, with `--json` for programs. Times are medians
 * of fresh processes (`bundle-times.ts`).
 */
import budget from './bundle-budget.json' with { type: 'json' }
import { timeBundles } from './bundle-times.ts'

const ROUNDS = 7

const { clientAlone, functions } = await timeBundles(ROUNDS)
const base = medianOf(clientAlone)
const rows = functions.map(({ name, index, atStart, atStartGzip, all, times }) => ({
  function: name,
  'index KB': inKilobytes(index),
  'at start KB': inKilobytes(atStart),
  'gzip KB': inKilobytes(atStartGzip),
  'budget KB': (budget as Record<string, number>)[name],
  'all KB': inKilobytes(all),
  'load ms': Math.round(medianOf(times)),
  ratio: Number((medianOf(times) / base).toFixed(2)),
}))
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ node: process.version, clientAloneMs: Math.round(base), functions: rows }))
} else {
  console.table(Object.fromEntries(rows.map(({ function: name, ...row }) => [name, row])))
  console.log(`ratio 1 = DynamoDB's document client alone: ${Math.round(base)} ms on Node ${process.version}`)
}

function inKilobytes(bytes: number): number {
  return Number((bytes / 1000).toFixed(1))
}

function medianOf(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
