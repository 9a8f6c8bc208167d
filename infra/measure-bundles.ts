/**
 * Prints size and load time of every function's bundle: `npm run bundles`, with `--json` for programs. Times are medians
 * of fresh processes, each less a process that loads nothing, taken in turns so that a busy machine slows all alike.
 * They are not Lambda's: compare them with each other, best by the ratio to a bundle of DynamoDB's client alone.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { BUNDLE_OPTIONS, bundleFunctions } from './bundle.ts'
import budget from './bundle-budget.json' with { type: 'json' }
import { reportBundles } from './bundle-report.ts'

const ROUNDS = 7
const NOTHING = ''
const CLIENT_ALONE = `import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
export const client = DynamoDBDocumentClient.from(new DynamoDBClient({}))`
/** What the functions read when they are loaded. */
const ENVIRONMENT = {
  TABLE_NAME: 'table',
  QUEUE_URL: 'https://sqs.test/queue',
  RESPONSE_STREAMING: 'on',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
}

const folder = mkdtempSync(join(tmpdir(), 'aes-measure-'))
try {
  const reports = reportBundles(folder, await bundleFunctions(folder))
  const clientAlone = join(folder, 'client-alone', 'index.mjs')
  await build({
    ...BUNDLE_OPTIONS,
    stdin: { contents: CLIENT_ALONE, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
    outfile: clientAlone,
  })
  const files = reports.map(({ name }) => join(folder, name, 'index.mjs'))
  const [bare = 0, base = 0, ...loads] = medianTimes([NOTHING, clientAlone, ...files])
  const rows = reports.map(({ name, index, atStart, atStartGzip, all }, position) => ({
    function: name,
    'index KB': inKilobytes(index),
    'at start KB': inKilobytes(atStart),
    'gzip KB': inKilobytes(atStartGzip),
    'budget KB': (budget as Record<string, number>)[name],
    'all KB': inKilobytes(all),
    'load ms': Math.round((loads[position] ?? 0) - bare),
    ratio: Number((((loads[position] ?? 0) - bare) / (base - bare)).toFixed(2)),
  }))
  if (process.argv.includes('--json')) {
    console.log(
      JSON.stringify({ node: process.version, clientAloneMs: Math.round(base - bare), functions: rows }),
    )
  } else {
    console.table(Object.fromEntries(rows.map(({ function: name, ...row }) => [name, row])))
    console.log(
      `ratio 1 = DynamoDB's document client alone: ${Math.round(base - bare)} ms on Node ${process.version}`,
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}

function inKilobytes(bytes: number): number {
  return Number((bytes / 1000).toFixed(1))
}

/** Milliseconds from start to end of a process that imports a file, for each file. */
function medianTimes(paths: string[]): number[] {
  const times = paths.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [position, path] of paths.entries()) times[position]?.push(timeOf(path))
  }
  return times.map((all) => all.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0)
}

function timeOf(path: string): number {
  const script = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
    ${path === NOTHING ? '' : `await import(${JSON.stringify(pathToFileURL(path).href)})`}
    process.exit()`
  const startedAt = performance.now()
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: ENVIRONMENT,
  })
  if (status !== 0) throw new Error(`${path} does not load:\n${stderr}`)
  return performance.now() - startedAt
}
