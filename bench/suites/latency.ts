import { delay } from '../../test/support/proxy/faults.ts'
import { startProxy } from '../../test/support/proxy/start-proxy.ts'
import { startDynamoDB, startSqs } from '../../test/support/service/port-emulators.ts'
import { generateLoad, interleave, median, type Operation, timed, toSpread } from '../harness/rounds.ts'
import { NO_OP, noOpRuns } from '../harness/runs.ts'
import { publish, startService } from '../harness/service.ts'
import { formatNumber, type SuiteContext, type SuiteResult } from '../report.ts'

const DELAY_MS = 5
const FULL = { rounds: 21, durationMs: 250, warmUpMs: 2_000 }
const QUICK = { rounds: 5, durationMs: 250, warmUpMs: 500 }
const NAMES = ['request', 'sync', 'accept', 'cached', 'read'] as const

type P50s = Record<(typeof NAMES)[number], { direct: number; delayed: number }>

/** How many requests to the table and the queue follow one another: what 5 ms more for each of them add to p50. */
export async function latency({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, durationMs, warmUpMs } = quick ? QUICK : FULL
  const started = async <T extends { stop: () => Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const part = await starting
    workspace.onCleanUp(part.stop)
    return part
  }
  const dynamodb = await started(startDynamoDB(null))
  const sqs = await started(startSqs())
  const table = await started(startProxy(dynamodb.endpoint))
  const queue = await started(startProxy(sqs.endpoint))
  const service = await startService(workspace, {
    environment: { DYNAMODB_ENDPOINT: table.url, SQS_ENDPOINT: queue.url },
  })
  await publish(workspace, service.table, NO_OP)
  const { fillCache, ...runs } = noOpRuns(service)
  await fillCache()
  const key = { pk: 'none', sk: 'none' }
  const operations: Record<keyof P50s, Operation> = {
    ...runs,
    request: timed(() => service.table.get(key, { consistent: true })),
  }

  const p50 = async (name: keyof P50s, delayMs: number) => {
    for (const proxy of [table, queue]) proxy.use(...(delayMs > 0 ? [delay(delayMs)] : []))
    return (await generateLoad({ concurrency: 1, durationMs, operation: operations[name] })).p50
  }
  const measure = async (name: keyof P50s) => ({
    direct: await p50(name, 0),
    delayed: await p50(name, DELAY_MS),
  })
  log('warm-up')
  for (const name of NAMES)
    await generateLoad({ concurrency: 4, durationMs: warmUpMs, operation: operations[name] })
  log(`1 in flight, ${rounds} rounds`)
  const results = await interleave(
    NAMES.map((name) => ({ name, measure: () => measure(name) })),
    rounds,
  )

  const added = (name: keyof P50s) => results[name].map(({ direct, delayed }) => delayed - direct)
  // A timer and a busy machine make it longer than DELAY_MS.
  const delayMs = median(added('request'))
  const delays = (name: keyof P50s) => toSpread(added(name).map((ms) => ms / delayMs))
  return {
    figures: {
      syncDelays: delays('sync'),
      acceptDelays: delays('accept'),
      cachedDelays: delays('cached'),
      readDelays: delays('read'),
    },
    details: {
      title: `${DELAY_MS} ms more for each request to the table and the queue; "request" is a single GetItem`,
      rows: NAMES.map((name) => ({
        run: name,
        'p50 ms': formatNumber(median(results[name].map(({ direct }) => direct))),
        'added ms': formatNumber(median(added(name))),
        'added / delay': formatNumber(delays(name).median),
      })),
    },
  }
}
