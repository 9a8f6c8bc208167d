import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { BUNDLE_OPTIONS, bundleFunctions } from './bundle.ts'
import { type BundleReport, reportBundles } from './bundle-report.ts'

const NOTHING = ''
const CLIENT_ALONE = `import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
export const client = DynamoDBDocumentClient.from(new DynamoDBClient({}))`
/** What the functions read when they are loaded. */
export const LOADING_ENVIRONMENT = {
  TABLE_NAME: 'table',
  QUEUE_URL: 'https://sqs.test/queue',
  RESPONSE_STREAMING: 'on',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
}

/** Milliseconds to load, one for each round, each less a process that loads nothing. */
export type BundleTimes = {
  /** Of DynamoDB's document client in a bundle of its own, the measure of all others. */
  clientAlone: number[]
  functions: (BundleReport & { times: number[] })[]
}

/**
 * Builds every function's bundle and loads it in fresh processes, in turns so that a busy machine slows all alike. The
 * times are not Lambda's: compare them with each other, best by the ratio to the client alone.
 */
export async function timeBundles(rounds: number): Promise<BundleTimes> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-measure-'))
  try {
    const reports = reportBundles(folder, await bundleFunctions(folder))
    const clientAlone = join(folder, 'client-alone', 'index.mjs')
    await build({
      ...BUNDLE_OPTIONS,
      stdin: { contents: CLIENT_ALONE, resolveDir: fileURLToPath(new URL('../..', import.meta.url)) },
      outfile: clientAlone,
    })
    const files = reports.map(({ name }) => join(folder, name, 'index.mjs'))
    const [bare = [], base = [], ...loads] = timesOf([NOTHING, clientAlone, ...files], rounds)
    const lessBare = (times: number[] = []) => times.map((time, round) => time - (bare[round] ?? 0))
    return {
      clientAlone: lessBare(base),
      functions: reports.map((report, position) => ({ ...report, times: lessBare(loads[position]) })),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Milliseconds from start to end of a process that imports a file, for each file and round. */
function timesOf(paths: string[], rounds: number): number[][] {
  const times = paths.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [position, path] of paths.entries()) times[position]?.push(timeOf(path))
  }
  return times
}

function timeOf(path: string): number {
  const script = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
    ${path === NOTHING ? '' : `await import(${JSON.stringify(pathToFileURL(path).href)})`}
    process.exit()`
  const startedAt = performance.now()
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: LOADING_ENVIRONMENT,
  })
  if (status !== 0) throw new Error(`${path} does not load:\n${stderr}`)
  return performance.now() - startedAt
}
