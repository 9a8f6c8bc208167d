import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import type { Emulator } from '../../local/emulators/start-emulators.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { waitUntil } from '../support/processes/wait-until.ts'
import { type ApiClient, createClient, getExecutionId } from '../support/service/client.ts'
import { startDynamoDB } from '../support/service/port-emulators.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const RECEIVERS = 10
/** Of each kind, in turns: whatever else this machine does delays both. */
const ROUNDS = 6
const RUNS = 18
/** Between two runs: a round takes longer than an attempt that gets no answer, which is given up after 3.2 s. */
const RUN_MS = 300
const BACKOFF_MS = '800'
const MAX_RATIO = 1.5
/** A 99th percentile below this one counts as good: a busy machine adds as much to a few milliseconds. */
const FLOOR_MS = 50

type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** Notes when it has got the first event of an execution, and how long after its end. */
async function startReceiver() {
  const latencies = new Map<string, number>()
  const held: ServerResponse[] = []
  const state = { hangs: false }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const now = Date.now()
    if (state.hangs) return void held.push(response)
    response.writeHead(204).end()
    const { data } = JSON.parse(Buffer.concat(chunks).toString())
    if (!latencies.has(data.id)) latencies.set(data.id, now - Date.parse(data.finishedAt))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, latencies, held, state, server }
}

const services = temporaryServices()
let dynamodb: Emulator
let url: string
let receivers: Receiver[]
beforeAll(async () => {
  dynamodb = await startDynamoDB(null)
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  receivers = await Promise.all(Array.from({ length: RECEIVERS }, startReceiver))
  const environment = { DYNAMODB_ENDPOINT: dynamodb.endpoint, RETRY_BACKOFF_MS: BACKOFF_MS }
  url = (await services.start(services.newFolder(), environment)).url
})
afterAll(async () => {
  for (const { server } of receivers) server.close().closeAllConnections()
  await dynamodb.stop()
})

async function createWebhook(call: ApiClient, { host }: Receiver): Promise<string> {
  const body = { url: `http://${host}/`, allowedHosts: [host] }
  const { status, text, json } = await call('POST', '/v1/webhooks', { body })
  expect(status, text).toBe(201)
  return json.id
}

/**
 * Runs of a new organization, one after the other; if one of its receivers hangs, nothing is known of it before.
 * @returns milliseconds from the end of each run to its receipt, of all receivers but the last one
 */
async function measure(hangs: boolean, runs = RUNS): Promise<number[]> {
  const { token, publish } = await newOrganization(
    openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint }),
  )
  const call = createClient(url, token)
  await publish('echo')
  const webhooks = await Promise.all(receivers.map((receiver) => createWebhook(call, receiver)))
  const [last, ...others] = receivers.toReversed() as [Receiver, ...Receiver[]]
  last.state.hangs = hangs
  const ids = await Promise.all(
    Array.from({ length: runs }, async (_, index) => {
      await sleep(index * RUN_MS)
      const body = { text: `${index}` }
      return getExecutionId(await call('POST', '/v1/agents/echo/executions?execMode=async', { body }))
    }),
  )
  const measured = hangs ? others : receivers
  const areReceived = async () => measured.every(({ latencies }) => ids.every((id) => latencies.has(id)))
  await waitUntil(areReceived, { what: 'the events', limitMs: 30_000, intervalMs: 20 })
  if (hangs) {
    // At least those that open the circuit.
    expect(last.held.length).toBeGreaterThanOrEqual(3)
    // Otherwise its retries would go on in the next rounds.
    await call('DELETE', `/v1/webhooks/${webhooks.at(-1)}`)
    last.state.hangs = false
    for (const response of last.held.splice(0)) response.destroy()
  }
  return others.flatMap(({ latencies }) => ids.map((id) => latencies.get(id) ?? Number.NaN))
}

const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN
const p99 = (values: number[]) => quantile(values, 0.99)

/**
 * Of each latency its lower quartile over the rounds. A receiver that hangs does the same in every round, at the same
 * runs; the pauses of this machine, each longer than most latencies, come at random.
 */
const undisturbed = (rounds: number[][]): number[] =>
  (rounds[0] ?? []).map((_, index) =>
    quantile(
      rounds.map((round) => round[index] ?? Number.NaN),
      0.25,
    ),
  )

describe('a receiver that hangs', () => {
  it('delays no other one', async () => {
    // Loads the runner and its functions.
    await measure(false)
    const rounds: Record<'without' | 'with', number[][]> = { without: [], with: [] }
    for (let round = 0; round < ROUNDS; round++) {
      const kinds = ['without', 'with'] as const
      for (const kind of round % 2 === 0 ? kinds : kinds.toReversed())
        rounds[kind].push(await measure(kind === 'with'))
    }
    const [without, withHanging] = [p99(undisturbed(rounds.without)), p99(undisturbed(rounds.with))]
    for (const kind of ['without', 'with'] as const) {
      const all = rounds[kind].flat()
      const quantiles = `median ${quantile(all, 0.5)} ms, p90 ${quantile(all, 0.9)} ms, p99 ${p99(all)} ms`
      console.log(
        `${kind} a receiver that hangs: ${quantiles}, undisturbed p99 ${p99(undisturbed(rounds[kind]))} ms`,
      )
    }
    expect(withHanging).toBeLessThanOrEqual(MAX_RATIO * Math.max(without, FLOOR_MS))
  })
})
