import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import type { ExecutionSummary } from '../../lib/core/execution.ts'
import type { PageRequest } from '../../lib/core/ports.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import { createOrganization } from '../support/engine/access.ts'
import { type ApiClient, createClient } from '../support/service/client.ts'
import { freePort, startDynamoDB, startSqs } from '../support/service/port-emulators.ts'
import { superviseService } from './processes/supervised-service.ts'

/** `BATCH_LINES=10000` kills until the end of the batch, which takes minutes. */
const LINES = Number(process.env.BATCH_LINES ?? 1_000)
const MAX_KILLS = process.env.BATCH_LINES ? Number.POSITIVE_INFINITY : 12
/** A lane whose runner was killed waits for a lease: the more lanes, the more of them go on. */
const CONCURRENCY = Math.min(Math.max(LINES / 50, 32), 500)
const LEASE_SECONDS = 5
const KILL_EVERY_MS = 1_000
/** Intervals that a kill waits for a line to end: a busy machine may need longer to start a process than one. */
const MAX_PATIENCE = 8
const LIMIT_MS = 120_000 + LINES * 600

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

/** Two services on one table and one queue. Their runners are killed in turn. */
async function startServices() {
  const folder = mkdtempSync(join(tmpdir(), 'aes-batches-'))
  stops.push(() => rmSync(folder, { recursive: true, force: true }))
  const [dynamodb, sqs] = [await startDynamoDB(null), await startSqs()]
  stops.push(dynamodb.stop, sqs.stop)
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  const { id: organizationId, token } = await createOrganization(table)
  const services = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const environment = {
        PORT: String(await freePort()),
        DYNAMODB_ENDPOINT: dynamodb.endpoint,
        SQS_ENDPOINT: sqs.endpoint,
        LEASE_SECONDS: String(LEASE_SECONDS),
        RETRY_BACKOFF_MS: '200',
        // As npm sets it for its scripts: the services then exit with the test, even when it is killed.
        npm_lifecycle_event: 'test:all',
      }
      const service = superviseService({ dataDir: join(folder, name), environment })
      stops.push(service.stop)
      await service.ready()
      return service
    }),
  )
  return { table, organizationId, token, services }
}

type Services = Awaited<ReturnType<typeof startServices>>['services']

const endedOf = async (call: ApiClient, id: string): Promise<{ status: string; ended: number }> => {
  const { json, text } = await call('GET', `/v1/batches/${id}`)
  if (!json?.counts) throw new Error(text)
  return { status: json.status, ended: json.counts.SUCCESS + json.counts.ERROR }
}

/** Kills a runner in each interval until the batch has ended. Returns how many. */
async function killUntilEnded(services: Services, call: ApiClient, id: string): Promise<number> {
  let kills = 0
  let seen = -1
  for (;;) {
    for (let patience = 0; patience < MAX_PATIENCE; patience++) {
      await sleep(KILL_EVERY_MS)
      const { status, ended } = await endedOf(call, id)
      if (status === 'ENDED') return kills
      if (ended === seen) continue
      seen = ended
      break
    }
    if (kills < MAX_KILLS && (await services[kills % services.length]?.kill('runner'))) kills++
    if (kills % 20 === 0) console.log(`${seen} of ${LINES} lines have ended; ${kills} kills`)
  }
}

it(
  `executes each of ${LINES} lines once while runners are killed, and returns their results in order`,
  async () => {
    const { table, organizationId, token, services } = await startServices()
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
    const kills = await killUntilEnded(services, call, id)
    console.log(`${LINES} lines, ${kills} kills, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    expect(kills).toBeGreaterThan(2)

    const { json: batch } = await call('GET', `/v1/batches/${id}`)
    expect(batch.counts).toEqual({ IN_PROGRESS: 0, SUCCESS: LINES, ERROR: 0 })
    const { text } = await call('GET', `/v1/batches/${id}/results`)
    const results = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(results.map(({ customId, output }) => [customId, output?.double])).toEqual(
      lines.map(({ customId, input }) => [customId, 2 * input.number]),
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
    expect(executions.filter(({ status }) => status !== 'SUCCESS')).toEqual([])
  },
  LIMIT_MS,
)
