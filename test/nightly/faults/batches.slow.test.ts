import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import type { ExecutionSummary } from '../../../lib/core/execution.ts'
import type { PageRequest } from '../../../lib/core/ports.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { readTimes } from '../../../lib/engine/engine.ts'
import {
  DELIVERY_QUEUE_URL,
  DYNAMODB_ENDPOINT,
  LEASE_SECONDS,
  QUEUE_URL,
  RETRY_BACKOFF_MS,
  SQS_ENDPOINT,
  TABLE_NAME,
} from '../../../lib/environment.ts'
import {
  LOCAL_QUEUE,
  LOCAL_TABLE,
  provisionQueues,
  provisionTable,
} from '../../../local/emulators/provision.ts'
import { createOrganization } from '../../support/engine/access.ts'
import { type ApiClient, createClient } from '../../support/service/client.ts'
import { freePort, startDynamoDB, startSqs } from '../../support/service/port-emulators.ts'
import { startKiller } from './processes/killer.ts'
import { superviseRunner } from './processes/supervised-runner.ts'
import { superviseService } from './processes/supervised-service.ts'

/** `BATCH_LINES=10000` kills until the end of the batch, which takes minutes. */
const LINES = Number(process.env.BATCH_LINES ?? 1_000)
const MAX_KILLS = process.env.BATCH_LINES ? Number.POSITIVE_INFINITY : 12
/** A lane whose runner was killed waits for a lease: the more lanes, the more of them go on. */
const CONCURRENCY = Math.min(Math.max(LINES / 50, 32), 500)
/** Further runners, as on AWS: they start faster than a service, so that more of the time is left for the lines. */
const RUNNERS = process.env.BATCH_LINES ? 6 : 2
const LEASE_MS = 5_000
const KILL_EVERY_MS = 1_000
const POLL_MS = 500
const LIMIT_MS = 300_000 + LINES * 300

const stops: (() => unknown)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

const DOCUMENT = `---
slug: doubling
title: Doubling
description: Doubles a number.
code: true
input:
  number: { type: integer, description: A number. }
output:
  double: { type: integer, description: Twice the number. }
---
`
const CODE = `export default async ({ number }) => {
  await new Promise((resolve) => setTimeout(resolve, 20))
  return { double: 2 * number }
}`

/** Services and further runners on one table and one queue. */
async function startProcesses() {
  const folder = mkdtempSync(join(tmpdir(), 'aes-batches-'))
  stops.push(() => rmSync(folder, { recursive: true, force: true }))
  const [dynamodb, sqs] = [await startDynamoDB(null), await startSqs()]
  stops.push(dynamodb.stop, sqs.stop)
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  const table = openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: dynamodb.endpoint })
  const { id: organizationId, token } = await createOrganization(table)
  const environment = {
    [DYNAMODB_ENDPOINT]: dynamodb.endpoint,
    [SQS_ENDPOINT]: sqs.endpoint,
    [LEASE_SECONDS]: String(LEASE_MS / 1_000),
    [RETRY_BACKOFF_MS]: '200',
    // As npm sets it for its scripts: the services then exit with the test, even when it is killed.
    npm_lifecycle_event: 'test:all',
  }
  const services = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const dataDir = join(folder, name)
      const service = superviseService({
        dataDir,
        environment: { ...environment, PORT: String(await freePort()) },
      })
      stops.push(service.stop)
      await service.ready()
      return service
    }),
  )
  const { visibilityMs } = readTimes(environment)
  const queues = await provisionQueues(sqs.endpoint, LOCAL_QUEUE, Math.ceil(visibilityMs / 1_000))
  const queue = {
    [QUEUE_URL]: queues.runs,
    [DELIVERY_QUEUE_URL]: queues.deliveries,
    [TABLE_NAME]: LOCAL_TABLE,
  }
  const runners = Array.from({ length: RUNNERS }, () => {
    const runner = superviseRunner({ environment: { ...environment, ...queue } })
    stops.push(runner.stop)
    return runner
  })
  const countKills = () =>
    services.reduce((sum, { counts }) => sum + counts.gatewayKills + counts.runnerKills, 0) +
    runners.reduce((sum, { counts }) => sum + counts.kills, 0)
  return { table, organizationId, token, services, runners, countKills }
}

type Processes = Awaited<ReturnType<typeof startProcesses>>

/** Kills a process about every second until the batch has ended. */
async function killUntilEnded({ services, runners, countKills }: Processes, call: ApiClient, id: string) {
  let ended = 0
  const killer = startKiller(services, runners, {
    ...{ seed: 1, everyMs: KILL_EVERY_MS, leaseMs: LEASE_MS },
    progress: () => ended,
    // A line that is killed five times in a row ends in ERROR, as it should.
    patience: Number.POSITIVE_INFINITY,
  })
  for (let printed = 0, isKilling = true; ; await sleep(POLL_MS)) {
    const { json } = await call('GET', `/v1/batches/${id}`).catch(() => ({ json: null }))
    // Its gateway is down.
    if (!json?.counts) continue
    ended = json.counts.SUCCESS + json.counts.ERROR
    const kills = countKills()
    if (isKilling && (kills >= MAX_KILLS || json.status === 'ENDED')) {
      isKilling = false
      await killer.stop()
    }
    if (json.status === 'ENDED') return
    if (kills < printed + 20) continue
    printed = kills
    console.log(`${ended} of ${LINES} lines have ended; ${kills} kills`)
  }
}

it(
  `executes each of ${LINES} lines once while processes are killed, and returns their results in order`,
  async () => {
    const processes = await startProcesses()
    const { table, organizationId, token, services, countKills } = processes
    const call = createClient(services[0]?.url ?? '', token)
    const published = await call('POST', '/v1/agents', { body: { document: DOCUMENT, code: CODE } })
    expect(published.status, published.text).toBe(201)
    const lines = Array.from({ length: LINES }, (_, number) => ({
      customId: `line-${number}`,
      input: { number },
    }))
    const accepted = await call('POST', `/v1/agents/doubling/batches?maxConcurrency=${CONCURRENCY}`, {
      body: lines,
    })
    expect(accepted.status, accepted.text).toBe(202)
    const { id } = accepted.json
    const startedAt = performance.now()
    await killUntilEnded(processes, call, id)
    const kills = countKills()
    await Promise.all(services.map((service) => service.ready()))
    expect(services.flatMap(({ problems }) => problems)).toEqual([])
    console.log(`${LINES} lines, ${kills} kills, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    expect(kills).toBeGreaterThan(2)

    const { json: batch } = await call('GET', `/v1/batches/${id}`)
    const { text } = await call('GET', `/v1/batches/${id}/results`)
    const results = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const failed = results.filter(({ status }) => status !== 'SUCCESS')
    expect(failed.filter(({ error }) => error?.code !== 'AttemptsExhausted')).toEqual([])
    expect(failed.length, 'lines with five attempts that were killed').toBeLessThanOrEqual(kills / 2)
    console.log(`${failed.length} lines had five attempts that were killed`)
    const ERROR = failed.length
    expect(batch.counts).toEqual({ IN_PROGRESS: 0, SUCCESS: LINES - ERROR, ERROR })
    expect(results.map(({ customId, output, error }) => [customId, error ? null : output.double])).toEqual(
      lines.map(({ customId, input }, line) => [customId, results[line].error ? null : 2 * input.number]),
    )

    const store = executionStore(table)
    const executions: ExecutionSummary[] = []
    let after: PageRequest['after'] = null
    do {
      const filter = { agentId: null, status: null, tenantId: null }
      const page = await store.listSummaries({ organizationId, ...filter, limit: 100, after })
      executions.push(...page.items)
      after = page.next
    } while (after)
    expect(executions.map(({ batch: line }) => line?.line).sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual([
      ...lines.keys(),
    ])
    const ended = executions.filter(({ status }) => status !== 'SUCCESS')
    expect(ended.map(({ batch: line }) => line?.line).sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual(
      [...results.keys()].filter((line) => results[line].error),
    )
  },
  LIMIT_MS,
)
