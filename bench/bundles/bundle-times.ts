import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { BUNDLE_OPTIONS, bundleFunctions } from '../../infra/functions/bundle.ts'
import { type BundleReport, reportBundles } from './bundle-report.ts'

const NO_MODULE = ''
const CLIENT_ALONE = `import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
export const client = DynamoDBDocumentClient.from(new DynamoDBClient({}))`
/** Environment variables that the functions read while they load. */
export const LOADING_ENVIRONMENT = {
  TABLE_NAME: 'table',
  QUEUE_URL: 'https://sqs.test/queue',
  MODEL_QUEUE_URL: 'https://sqs.test/model-queue',
  DELIVERY_QUEUE_URL: 'https://sqs.test/delivery-queue',
  RESPONSE_STREAMING: 'on',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
}

/** Load times in milliseconds of processor time, one per round, minus the time of a process that loads nothing. */
export type BundleTimes = {
  /** The baseline: a bundle that only loads `DynamoDBDocumentClient`. */
  clientAlone: number[]
  functions: (BundleReport & { times: number[] })[]
}

/**
 * Builds all bundles and loads each one in a new process per round. Rounds are interleaved, and processor time is
 * measured instead of elapsed time, so that other work on the machine hardly matters. The times are not those of
 * Lambda: compare their ratios to the baseline.
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
    const [empty = [], base = [], ...loads] = measureLoads([NO_MODULE, clientAlone, ...files], rounds)
    const subtractEmpty = (times: number[] = []) => times.map((time, round) => time - (empty[round] ?? 0))
    return {
      clientAlone: subtractEmpty(base),
      functions: reports.map((report, index) => ({ ...report, times: subtractEmpty(loads[index]) })),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Milliseconds of processor time of a process that imports the file, per file and round. */
function measureLoads(paths: string[], rounds: number): number[][] {
  const times = paths.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, path] of paths.entries()) times[index]?.push(measureLoad(path))
  }
  return times
}

function measureLoad(path: string): number {
  const script = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
    ${path === NO_MODULE ? '' : `await import(${JSON.stringify(pathToFileURL(path).href)})`}
    const { user, system } = process.cpuUsage()
    console.log((user + system) / 1000)
    process.exit()`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: LOADING_ENVIRONMENT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${path} failed to load:\n${stderr}`)
  return Number(stdout)
}
