import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { interleave, toRatio, toSpread } from '../harness/rounds.ts'
import { publish, type Service, startService } from '../harness/service.ts'
import { formatSpread, type SuiteContext, type SuiteResult } from '../report.ts'

/** As many as the local runner executes of one organization. */
const CONCURRENCY = 32
const FULL = { rounds: 5, lines: 640 }
const QUICK = { rounds: 3, lines: 160 }
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
  const { rounds, lines: count } = quick ? QUICK : FULL
  const service = await startService(workspace)
  await publish(workspace, service.table, WAITING)
  log('warm-up')
  await measureClient(service, 2 * CONCURRENCY)
  await measureBatch(service, 2 * CONCURRENCY)
  log(`${count} runs, ${CONCURRENCY} at a time, ${rounds} rounds`)
  const contenders = [
    { name: 'client' as const, measure: () => measureClient(service, count) },
    { name: 'batch' as const, measure: () => measureBatch(service, count) },
  ]
  const seconds = await interleave(contenders, rounds)
  return {
    figures: { lineTime: toRatio(seconds.batch, seconds.client) },
    details: {
      title: `${count} runs of an agent that waits for 200 ms, ${CONCURRENCY} at a time`,
      rows: contenders.map(({ name }) => ({
        'submitted by': name,
        seconds: formatSpread(toSpread(seconds[name])),
      })),
    },
  }
}

/** Asynchronous runs, each of which the client waits for. Returns seconds. */
async function measureClient(service: Service, count: number): Promise<number> {
  const run = async (_: unknown, number: number) => {
    const accepted = await service.request('POST', `${PATH}/executions?execMode=async`, {
      status: 202,
      body: { number },
    })
    const { id } = JSON.parse(accepted.body) as { id: string }
    for (let status = 'IN_PROGRESS'; status === 'IN_PROGRESS'; ) {
      const headers = { prefer: 'wait=25' }
      const { body } = await service.request('GET', `/v1/agent_executions/${id}`, { status: 200, headers })
      status = (JSON.parse(body) as { status: string }).status
      if (status === 'ERROR') throw new Error(body)
    }
  }
  const startedAt = performance.now()
  await pLimit(CONCURRENCY).map(Array.from({ length: count }), run)
  return (performance.now() - startedAt) / 1000
}

type Batch = { id: string; status: string; counts: { SUCCESS: number }; endedAt: string }

/** Returns seconds until the last line has ended, and the batch with it. */
async function measureBatch(service: Service, count: number): Promise<number> {
  const body = Array.from({ length: count }, (_, number) => ({ customId: String(number), input: { number } }))
  const startedAt = Date.now()
  const accepted = await service.request('POST', `${PATH}/batches?maxConcurrency=${CONCURRENCY}`, {
    status: 202,
    body,
  })
  let batch = JSON.parse(accepted.body) as Batch
  while (batch.status !== 'ENDED') {
    await sleep(POLL_MS)
    const read = await service.request('GET', `/v1/batches/${batch.id}`, { status: 200 })
    batch = JSON.parse(read.body) as Batch
  }
  if (batch.counts.SUCCESS !== count) throw new Error(JSON.stringify(batch))
  return (Date.parse(batch.endedAt) - startedAt) / 1000
}
