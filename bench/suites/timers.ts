import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Version } from '../../lib/core/agent.ts'
import { DEADLINE_MS, MAX_QUEUE_DELAY_MS } from '../../lib/core/limits.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
import { system } from '../../lib/system.ts'
import { executionOf } from '../../test/support/engine/executions.ts'
import { percentile, toSpread } from '../harness/rounds.ts'
import { publish, type Service, startService } from '../harness/service.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const FULL = { timers: 2_000, spreadMs: 60_000 }
const QUICK = { timers: 400, spreadMs: 12_000 }
/** What suspending a run may take until the first one wakes, several at the same time. */
const SETUP_MS = 60
const CONCURRENCY = 8
const MAX_LATE_MS = 120_000

const NAPS = {
  slug: 'naps',
  files: {
    'agent.md': `---
title: Naps
description: Sleeps until a time, and says when it woke.
code: true
input:
  until: { type: string, description: A time. }
output:
  wokeAt: { type: number, description: Milliseconds since the epoch. }
---
`,
    'agent.ts': `export default async ({ until }: { until: string }, context: { sleepUntil: (name: string, date: Date) => Promise<null> }) => {
  await context.sleepUntil('nap', new Date(until))
  return { wokeAt: Date.now() }
}
`,
  },
}

/**
 * How late suspended runs wake, with wake-up times spread evenly over a minute: half of them by the messages that they
 * sent for themselves, half by those of the sweeper.
 */
export async function timers({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { timers: count, spreadMs } = quick ? QUICK : FULL
  const service = await startService(workspace)
  const version = await publish(workspace, service.table, NAPS)
  const firstAt = Date.now() + count * SETUP_MS
  log(`${count} runs, which wake ${Math.round((firstAt - Date.now()) / 1000)} s from now on`)
  const limit = pLimit(CONCURRENCY)
  const times = Array.from({ length: count }, (_, index) => firstAt + Math.floor((index / count) * spreadMs))
  const suspendLater = suspendForSweeper(service, version)
  const suspend = async (until: number, index: number) => ({
    id: await (index % 2 === 0 ? suspendBriefly(service, until) : suspendLater(until)),
    until,
  })
  const all = await Promise.all(times.map((until, index) => limit(() => suspend(until, index))))
  const { executions } = openStores(service.table)
  const { organizationId } = version
  while ((await executions.countSuspended({ organizationId, max: 0 })) < count) {
    if (Date.now() > firstAt)
      throw new Error('The machine is too slow: a run woke before all were suspended.')
    await sleep(100)
  }
  log('all are suspended')
  await sleep(firstAt + spreadMs - Date.now())
  const deadline = Date.now() + MAX_LATE_MS
  const latenessOf = async ({ id, until }: { id: string; until: number }): Promise<number> => {
    for (; Date.now() < deadline; await sleep(100)) {
      const { status, output, error } = (await executions.get({ organizationId, id })) ?? {}
      if (status === 'SUCCESS') return (Number(output?.wokeAt) - until) / 1000
      if (status === 'ERROR') throw new Error(`A run failed: ${error?.message}`)
    }
    throw new Error(`The run ${id} has not woken.`)
  }
  const seconds = await Promise.all(all.map((timer) => limit(() => latenessOf(timer))))
  const ofPath = (path: number) => seconds.filter((_, index) => index % 2 === path)
  const paths = { 'its own message': ofPath(0), 'the sweeper': ofPath(1) }
  return {
    figures: {
      timerLateness: toSpread([Math.max(...Object.values(paths).map((values) => percentile(values, 0.99)))]),
    },
    details: {
      title: `Lateness of ${count} runs that wake within ${spreadMs / 1000} s, in seconds`,
      rows: spreadRows(paths),
    },
  }
}

/** By a run of the service. Its wait is so short that it has a message of its own. */
async function suspendBriefly(service: Service, until: number): Promise<string> {
  const body = { until: new Date(until).toISOString() }
  const path = '/v1/agents/naps/executions?execMode=async'
  const response = await service.request('POST', path, { status: 202, body })
  return JSON.parse(response.body).id
}

/** By a worker whose clock is so far behind that the wait is left to the sweeper. */
function suspendForSweeper(service: Service, version: Version): (until: number) => Promise<string> {
  const engine: Engine = {
    ...openStores(service.table),
    queue: { send: async () => Promise.reject(new Error('A long wait has no message.')) },
    system: { ...system, now: () => Date.now() - 2 * MAX_QUEUE_DELAY_MS },
  }
  return async (until) => {
    const input = { until: new Date(until).toISOString() }
    const execution = executionOf(version, { input, now: engine.system.now(), deadlineMs: DEADLINE_MS })
    await engine.executions.create({ execution })
    await processMessage(engine, execution.id)
    return execution.id
  }
}
