import { setTimeout as sleep } from 'node:timers/promises'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { executionKey } from '../../lib/dynamodb/table/keys.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { generateLoad, interleave, timed, toRatio } from '../harness/rounds.ts'
import { type Accept, floorAccept, noOpRuns, startWithFloor } from '../harness/runs.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const FULL = { rounds: 9, durationMs: 1_500, warmUpMs: 4_000 }
const QUICK = { rounds: 3, durationMs: 700, warmUpMs: 1_000 }
const CONCURRENCY = 16
const POLL_MS = 25
const MAX_WAIT_MS = 60_000

/** When a run finished; null if it has not. */
type ReadEnd = (id: string) => Promise<string | null>
type Throughput = { accepted: number; finished: number }

/** Asynchronous no-op runs per second, compared with two processes that only call DynamoDB and SQS. */
export async function async({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, durationMs, warmUpMs } = quick ? QUICK : FULL
  const { service, floor } = await startWithFloor(workspace)
  const floorTable = openTable({ [TABLE_NAME]: 'floor', [DYNAMODB_ENDPOINT]: service.dynamodbEndpoint })
  const executions = executionStore(service.table)
  const organizationId = DEVELOPMENT_ORGANIZATION.id

  const measureFloor = (ms: number) =>
    measure(ms, floorAccept(floor.url), async (id) => {
      const item = await floorTable.get(executionKey(id), { consistent: true })
      return (item?.finishedAt as string | undefined) ?? null
    })
  const measureService = (ms: number) =>
    measure(ms, noOpRuns(service).acceptRun, async (id) => {
      const execution = await executions.get({ organizationId, id })
      if (execution?.status === 'ERROR') throw new Error(`A run failed: ${execution.error?.message}`)
      return execution?.finishedAt ?? null
    })
  log('warm-up')
  await measureFloor(warmUpMs)
  await measureService(warmUpMs)
  log(`${CONCURRENCY} in flight, ${rounds} rounds`)
  const contenders = [
    { name: 'floor' as const, measure: () => measureFloor(durationMs) },
    { name: 'service' as const, measure: () => measureService(durationMs) },
  ]
  const results = await interleave(contenders, rounds)
  const perSecond = (name: 'floor' | 'service', rate: keyof Throughput) =>
    results[name].map((result) => result[rate])
  return {
    figures: {
      asyncThroughput: toRatio(perSecond('service', 'finished'), perSecond('floor', 'finished')),
      acceptThroughput: toRatio(perSecond('service', 'accepted'), perSecond('floor', 'accepted')),
    },
    details: {
      title: `Asynchronous runs per second, ${CONCURRENCY} requests in flight`,
      rows: spreadRows({
        'floor, accepted': perSecond('floor', 'accepted'),
        'floor, finished': perSecond('floor', 'finished'),
        'service, accepted': perSecond('service', 'accepted'),
        'service, finished': perSecond('service', 'finished'),
      }),
    },
  }
}

/** Accepts runs for `durationMs`, and waits until all have finished, which counts up to the last one. */
async function measure(durationMs: number, accept: Accept, readEnd: ReadEnd): Promise<Throughput> {
  const ids: string[] = []
  const startedAt = Date.now()
  const operation = timed(async () => ids.push(await accept()))
  const { perSecond } = await generateLoad({ concurrency: CONCURRENCY, durationMs, operation })
  let lastEnd = 0
  // The newest first: when it has finished, hardly any other has to be waited for.
  for (const id of ids.reverse()) lastEnd = Math.max(lastEnd, Date.parse(await waitForEnd(id, readEnd)))
  return { accepted: perSecond, finished: ids.length / ((lastEnd - startedAt) / 1000) }
}

async function waitForEnd(id: string, readEnd: ReadEnd): Promise<string> {
  for (const limit = performance.now() + MAX_WAIT_MS; performance.now() < limit; await sleep(POLL_MS)) {
    const end = await readEnd(id)
    if (end) return end
  }
  throw new Error(`The run ${id} did not finish within ${MAX_WAIT_MS} ms.`)
}
