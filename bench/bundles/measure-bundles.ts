/** `npm run bundles`: prints the size and the median load time of every bundle, with `--json` as JSON. */
import budget from './bundle-budget.json' with { type: 'json' }
import { timeBundles } from './bundle-times.ts'

const ROUNDS = 15

const { clientAlone, functions } = await timeBundles(ROUNDS)
const base = getMedian(clientAlone)
const rows = functions.map(({ name, index, atStart, atStartGzip, all, times }) => ({
  function: name,
  'index KB': toKilobytes(index),
  'cold start KB': toKilobytes(atStart),
  'gzip KB': toKilobytes(atStartGzip),
  'budget KB': (budget as Record<string, number>)[name],
  'total KB': toKilobytes(all),
  'CPU ms': Math.round(getMedian(times)),
  ratio: Number((getMedian(times) / base).toFixed(2)),
}))
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ node: process.version, clientAloneMs: Math.round(base), functions: rows }))
} else {
  console.table(Object.fromEntries(rows.map(({ function: name, ...row }) => [name, row])))
  console.log(
    `Ratio 1 is a bundle that only loads DynamoDBDocumentClient: ${Math.round(base)} ms of processor time on Node ${process.version}`,
  )
}

function toKilobytes(bytes: number): number {
  return Number((bytes / 1000).toFixed(1))
}

function getMedian(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
