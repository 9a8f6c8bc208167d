import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { system } from '../../lib/system.ts'
import { publishAgent } from '../harness/organizations.ts'
import { interleave, percentile, timed, toRatio } from '../harness/rounds.ts'
import { waitForResult } from '../harness/runs.ts'
import { publish, type Service, startService } from '../harness/service.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

/** As many as the local runner executes of one organization. */
const CONCURRENCY = 32
const FULL = { rounds: 5, lines: 640, runs: 100 }
const QUICK = { rounds: 3, lines: 160, runs: 20 }
/** Of the batch beside which another organization runs agents: more than there are slots. */
const BESIDE = { lines: 10_000, maxConcurrency: 50 }
const POLL_MS = 100

const WAITING = {
  slug: 'waiting',
  files: {
    'agent.md': `---
title: Waiting
description: Waits for 200 ms.
code: true
input:
  number: { type: integer, description: A number. }
output:
  number: { type: integer, description: The same number. }
---
`,
    'agent.ts': `export default async ({ number }: { number: number }) => {
  await new Promise((resolve) => setTimeout(resolve, 200))
  return { number }
}
`,
  },
}
const PATH = `/v1/agents/${WAITING.slug}`

/** A batch, and the same runs submitted by a client that has as many in flight as the batch has open. */
export async function lines({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, lines: count, runs } = quick ? QUICK : FULL
  const service = await startService(workspace)
  await publish(workspace, service.table, WAITING)
  log('warm-up')
  await measureClient(service, 2 * CONCURRENCY)
  await measureBatch(service, 2 * CONCURRENCY)
  log(`${count} runs, ${CONCURRENCY} at a time, ${rounds} rounds`)
  const seconds = await interleave(
    [
      { name: 'client' as const, measure: () => measureClient(service, count) },
      { name: 'batch' as const, measure: () => measureBatch(service, count) },
    ],
    rounds,
  )
  log(`${runs} runs of another organization, ${rounds} rounds without a batch and beside one`)
  const { token } = await publishAgent(workspace, service.table, system.newId(), WAITING)
  const alone = () => measureOther(service, token, runs)
  const p95 = await interleave(
    [
      { name: 'alone' as const, measure: alone },
      { name: 'beside' as const, measure: () => besideBatch(service, alone) },
    ],
    rounds,
  )
  return {
    figures: {
      lineTime: toRatio(seconds.batch, seconds.client),
      besideBatch: toRatio(p95.beside, p95.alone),
    },
    details: {
      title: `${count} runs of an agent that waits for 200 ms, ${CONCURRENCY} at a time, and p95 of ${runs} synchronous runs of another organization`,
      rows: spreadRows({
        'client, s': seconds.client,
        'batch, s': seconds.batch,
        'p95 without a batch, ms': p95.alone,
        'p95 beside a batch, ms': p95.beside,
      }),
    },
  }
}

/** Synchronous runs, one after the other. Returns the p95 of their latency in milliseconds. */
async function measureOther(service: Service, token: string, runs: number): Promise<number> {
  const latencies: number[] = []
  for (let number = 0; number < runs; number++) {
    const options = { status: 200, body: { number }, token }
    latencies.push(await timed(() => service.request('POST', `${PATH}/executions`, options))())
  }
  return percentile(latencies, 0.95)
}

/** Measures while a batch runs, which is cancelled then. */
async function besideBatch(service: Service, measure: () => Promise<number>): Promise<number> {
  const batch = await startBatch(service, BESIDE.lines, BESIDE.maxConcurrency)
  const result = await measure()
  const { status } = await readBatch(service, batch.id)
  if (status !== 'IN_PROGRESS') throw new Error(`The batch was ${status} at the end of the measurement.`)
  await service.request('POST', `/v1/batches/${batch.id}/cancel`, { status: 202 })
  await untilEnded(service, batch.id)
  return result
}

/** Asynchronous runs, each of which the client waits for. Returns seconds. */
async function measureClient(service: Service, count: number): Promise<number> {
  const startedAt = performance.now()
  await pLimit(CONCURRENCY).map(Array.from({ length: count }), (_, number) => runAsync(service, number))
  return (performance.now() - startedAt) / 1000
}

async function runAsync(service: Service, number: number): Promise<void> {
  const path = `${PATH}/executions?execMode=async`
  const { body } = await service.request('POST', path, { status: 202, body: { number } })
  await waitForResult(service, JSON.parse(body).id, { number })
}

type Batch = { id: string; status: string; counts: { SUCCESS: number }; endedAt: string }

/** Returns seconds until the last line has ended, and the batch with it. */
async function measureBatch(service: Service, count: number): Promise<number> {
  const startedAt = Date.now()
  const { id } = await startBatch(service, count, CONCURRENCY)
  const batch = await untilEnded(service, id)
  if (batch.counts.SUCCESS !== count) throw new Error(JSON.stringify(batch))
  return (Date.parse(batch.endedAt) - startedAt) / 1000
}

async function startBatch(service: Service, count: number, maxConcurrency: number): Promise<Batch> {
  const body = Array.from({ length: count }, (_, number) => ({ customId: String(number), input: { number } }))
  const path = `${PATH}/batches?maxConcurrency=${maxConcurrency}`
  return JSON.parse((await service.request('POST', path, { status: 202, body })).body) as Batch
}

async function readBatch(service: Service, id: string): Promise<Batch> {
  return JSON.parse((await service.request('GET', `/v1/batches/${id}`, { status: 200 })).body) as Batch
}

async function untilEnded(service: Service, id: string): Promise<Batch> {
  for (;;) {
    const batch = await readBatch(service, id)
    if (batch.status === 'ENDED') return batch
    await sleep(POLL_MS)
  }
}
