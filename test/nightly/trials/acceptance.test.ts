import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { LOCAL_TABLE, provisionTable } from '../../../local/emulators/provision.ts'
import type { Emulator } from '../../../local/emulators/start-emulators.ts'
import { createOrganization } from '../../support/engine/access.ts'
import { childrenOf, sendSignal, waitUntil } from '../../support/processes/processes.ts'
import {
  AFFECTED,
  answerOrder,
  isOf,
  MODEL,
  ORDERS,
  orderId,
  orderOf,
  ordersDocument,
  PRICES,
  RESPONSE_USD,
  type Rule,
  startOrderServer,
  startReceiver,
} from '../../support/replay/orders-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, createClient, getNextLink, waitForExecution } from '../../support/service/client.ts'
import { startDynamoDB } from '../../support/service/port-emulators.ts'
import { type Service, startService } from '../../support/service/start-service.ts'

/** The slowest test takes some 20 s on an idle machine. */
const LIMIT_MS = 600_000
const RUNS = 200
const ACME_RUNS = 150
/** More than all responses of a trial cost. */
const ENOUGH_USD = 100

const CACHED = { slug: 'cached-orders', settings: 'execution: { useCache: true }\n' }

const folder = mkdtempSync(join(tmpdir(), 'aes-trials-'))
let scripted: ScriptedModel
let orders: Awaited<ReturnType<typeof startOrderServer>>
let dynamodb: Emulator
let table: Table
let service: Service
let call: ApiClient
/** Of the webhook, for the agent with a cache. Runners know of a webhook some time after its creation. */
let receiver: Awaited<ReturnType<typeof startReceiver>>
let delayMs = 0
/** The orders by the ids of their executions. */
const originals = new Map<string, number>()

beforeAll(async () => {
  scripted = await startScriptedModel()
  scripted.script(MODEL, (request) => ({ ...answerOrder(request), delayMs }))
  orders = await startOrderServer()
  dynamodb = await startDynamoDB(null)
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  const organization = await createOrganization(table)
  service = await startService({
    dataDir: folder,
    environment: {
      DYNAMODB_ENDPOINT: dynamodb.endpoint,
      LEASE_SECONDS: '15',
      METRICS_NAMESPACE: 'Trials',
      MODEL_PRICES: PRICES,
      ...(scripted.environmentFor('openai-compatible') as Record<string, string>),
    },
  })
  call = createClient(service.url, organization.token)
  await publish('plain')
  await publish('plain', {}, CACHED)
  receiver = await startReceiver()
  const webhook = { url: receiver.url, allowedHosts: [receiver.host], agents: [CACHED.slug] }
  expect((await call('POST', '/v1/webhooks', { body: webhook })).status).toBe(201)
  for (const [tenantId, first, end] of [
    ['acme', 0, ACME_RUNS],
    ['globex', ACME_RUNS, RUNS],
  ] as const) {
    const lines = Array.from({ length: end - first }, (_, index) => first + index)
    for (const { customId, executionId } of await record(lines, tenantId))
      originals.set(executionId, orderOf(customId))
  }
  expect(originals.size).toBe(RUNS)
}, LIMIT_MS)

afterAll(async () => {
  await service?.kill()
  await dynamodb.stop()
  await orders.stop()
  await receiver?.stop()
  await scripted.stop()
  rmSync(folder, { recursive: true, force: true })
})

const wait = (what: string, condition: () => Promise<boolean> | boolean) =>
  waitUntil(condition, { what, limitMs: LIMIT_MS / 2, intervalMs: 100 })

async function publish(rule: Rule, body: object = {}, options: Parameters<typeof ordersDocument>[2] = {}) {
  const document = ordersDocument(orders.host, rule, options)
  const { status, json, text } = await call('POST', '/v1/agents', { body: { document, ...body } })
  expect([200, 201], text).toContain(status)
  return json as { id: string; documentId: string }
}

/** Runs the agent with these orders. Returns the results of the batch. */
async function record(lines: number[], tenantId: string) {
  const body = lines.map((order) => ({ customId: orderId(order), input: { order: orderId(order) } }))
  const path = `/v1/agents/${ORDERS}/batches?maxConcurrency=10&tenantId=${tenantId}`
  const { status, json, text } = await call('POST', path, { body })
  expect(status, text).toBe(202)
  await wait('the end of the batch', async () => (await call('GET', `/v1/batches/${json.id}`)).json.endedAt)
  const results = (await call('GET', `/v1/batches/${json.id}/results`)).text.trim().split('\n')
  const ended = results.map((line) => JSON.parse(line))
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['SUCCESS']))
  return ended as { customId: string; executionId: string }[]
}

async function startTrial(version: { id: string }, body: object = {}, agent = ORDERS) {
  const path = `/v1/agents/${agent}/versions/${version.id}/trials`
  const settings = { limit: RUNS, maxConcurrency: 10, maxTrialCostUsd: ENOUGH_USD, ...body }
  const { status, json, text, headers } = await call('POST', path, { body: settings })
  expect([status, headers.get('location')], text).toEqual([202, `/v1/trials/${json.id}`])
  return json.id as string
}

async function ended(id: string) {
  await wait('the end of the trial', async () => (await call('GET', `/v1/trials/${id}`)).json.endedAt)
  return (await call('GET', `/v1/trials/${id}`)).json
}

async function itemsOf(id: string, query = '') {
  const items: ReturnType<typeof JSON.parse>[] = []
  let path: string | undefined = `/v1/trials/${id}/items?limit=100&${query}`
  while (path) {
    const response = await call('GET', path)
    expect(response.status, response.text).toBe(200)
    items.push(...response.json)
    path = getNextLink(response)
  }
  return items
}

const verdictsOf = (counts: object) => ({
  SAME: 0,
  CHANGED: 0,
  CORRECTED: 0,
  REGRESSED: 0,
  DIVERGED: 0,
  ERROR: 0,
  ...counts,
})
const requests = () => scripted.requests(MODEL).length
const sorted = (numbers: number[]) => numbers.toSorted((a, b) => a - b)
const ordersOf = (items: { originalExecutionId: string }[]) =>
  sorted(items.map(({ originalExecutionId }) => originals.get(originalExecutionId) ?? -1))
const all = Array.from({ length: RUNS }, (_, order) => order)

/** Runs a trial, during which the agent's tools must not be called. */
async function tryOn(rule: Rule, body: object = {}) {
  const calls = orders.calls()
  const id = await startTrial(await publish(rule, { draft: true }), body)
  const trial = await ended(id)
  expect(orders.calls()).toBe(calls)
  return { id, trial }
}

describe('a trial of a draft on 200 recorded runs', () => {
  it('gives CHANGED with its pointers for the planted defect, and for nothing else', {
    timeout: LIMIT_MS,
  }, async () => {
    const { id, trial } = await tryOn('defect')
    expect(trial).toMatchObject({ status: 'ENDED', lines: RUNS, error: null, cancelled: 0 })
    expect(trial.verdicts).toEqual(verdictsOf({ SAME: 190, CHANGED: 10 }))
    expect(trial.sums).toMatchObject({ runs: RUNS, verdicts: trial.verdicts, schemaViolations: 0 })
    expect(trial.sums.costUsd.trialTotal).toBeCloseTo(trial.sums.costUsd.originalTotal, 6)
    const changed = await itemsOf(id, 'verdict=CHANGED')
    expect(ordersOf(changed)).toEqual(all.filter(isOf(AFFECTED)))
    for (const { originalExecutionId, differences, moreDifferences } of changed) {
      const total = ((originals.get(originalExecutionId) ?? 0) * 10 + 5) / 100
      const expected = [
        { path: '/total', original: total, trial: total + 0.01 },
        { path: '/lines/1/price', original: 0, trial: 1 },
      ]
      expect(differences).toHaveLength(2)
      expect([differences, moreDifferences]).toEqual([expect.arrayContaining(expected), false])
    }
    const items = await itemsOf(id)
    expect(ordersOf(items)).toEqual(all)
    expect(items.filter(({ verdict }) => verdict === 'SAME').flatMap((each) => each.differences)).toEqual([])
  })
})

describe('a trial with models: recorded', () => {
  it('gives 200 of 200 SAME on the unchanged version, without a request to the model', {
    timeout: LIMIT_MS,
  }, async () => {
    const [before, calls] = [requests(), orders.calls()]
    const current = (await call('GET', `/v1/agents/${ORDERS}`)).json.currentVersionId
    const id = await startTrial({ id: current }, { models: 'recorded', maxTrialCostUsd: undefined })
    const trial = await ended(id)
    expect(trial.verdicts).toEqual(verdictsOf({ SAME: RUNS }))
    expect([requests() - before, orders.calls() - calls, trial.costUsd]).toEqual([0, 0, 0])
    expect(trial.sums.costUsd.trialTotal).toBeCloseTo(trial.sums.costUsd.originalTotal, 6)
    expect(trial.sums.costUsd.originalTotal).toBeCloseTo((2 * RUNS + 10) * RESPONSE_USD, 6)
  })
})

describe('a trial whose runner is killed', () => {
  it('ends with each original once and the same verdicts', { timeout: LIMIT_MS }, async () => {
    const calls = orders.calls()
    const draft = await publish('defect', { draft: true })
    const [before, kills] = [requests(), 3]
    delayMs = 100
    const chosen = [...originals].slice(0, 60)
    const triedOrders = sorted(chosen.map(([, order]) => order))
    const id = await startTrial(draft, {
      executions: chosen.map(([original]) => original),
      limit: undefined,
    })
    for (let kill = 1; kill <= kills; kill++) {
      await wait('requests of the trial', () => requests() - before > kill * 25)
      await wait('a runner', async () => {
        const runners = await childrenOf(service.pid, 'runner.ts')
        for (const runner of runners) sendSignal(runner, 'SIGKILL')
        return runners.length > 0
      })
    }
    const trial = await ended(id)
    delayMs = 0
    const changed = triedOrders.filter(isOf(AFFECTED))
    expect(trial.verdicts).toEqual(verdictsOf({ SAME: 60 - changed.length, CHANGED: changed.length }))
    expect(trial.sums.verdicts).toEqual(trial.verdicts)
    const items = await itemsOf(id)
    expect(ordersOf(items)).toEqual(triedOrders)
    expect(new Set(items.map(({ executionId }) => executionId)).size).toBe(60)
    expect(ordersOf(await itemsOf(id, 'verdict=CHANGED'))).toEqual(changed)
    expect(orders.calls()).toBe(calls)
  })
})

describe('the runs of a trial', () => {
  it('neither read nor fill the cache, teach nothing, and have no events and no metrics', {
    timeout: LIMIT_MS,
  }, async () => {
    const { slug } = CACHED
    const run = async (query = '') => {
      const path = `/v1/agents/${slug}/executions?execMode=async&${query}`
      const { json, text } = await call('POST', path, { body: { order: 'order-9011' } })
      expect(json?.id, text).toBeDefined()
      return waitForExecution(call, json.id, LIMIT_MS / 2)
    }
    const current = await publish('plain', {}, CACHED)
    const original = await run()
    expect([original.status, original.cached]).toEqual(['SUCCESS', false])
    const draft = await publish('defect', { draft: true }, CACHED)
    const before = requests()
    const executionIds: string[] = []
    for (const version of [current, draft]) {
      const id = await startTrial(version, { limit: 1 }, slug)
      await ended(id)
      const [item] = await itemsOf(id)
      expect(item.originalExecutionId).toBe(original.id)
      executionIds.push(item.executionId)
    }
    expect(requests() - before).toBe(4)
    const tried = (await call('GET', `/v1/agent_executions/${executionIds[1]}`)).json
    expect(tried).toMatchObject({ source: 'TRIAL', cached: false, originalExecutionId: original.id })
    const feedback = { rating: -1, correctedOutput: { ...tried.output, total: 1 } }
    await call('PUT', `/v1/agent_executions/${tried.id}/feedback`, { body: feedback })

    const promoted = await call('POST', `/v1/agents/${slug}/versions/${draft.id}/promote`)
    expect(promoted.status).toBe(200)
    const learning = await run('useDynamicLearning=true&useCache=false')
    expect([learning.output.total, learning.learnedFrom ?? []]).toEqual([tried.output.total, []])
    const last = await run()
    expect([last.cached, last.output.total]).toEqual([false, tried.output.total])
    expect((await run(`version=${current.id}`)).cachedDocumentExecutionId).toBe(original.id)

    await wait('the events of runs', () => receiver.events.some(({ data }) => data.id === last.id))
    const ids = receiver.events.map(({ data }) => data.id)
    expect(ids.filter((id) => executionIds.includes(id))).toEqual([])
    expect(new Set(receiver.events.map(({ type }) => type))).toEqual(new Set(['execution.succeeded']))
    const metrics = () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('"CloudWatchMetrics"'))
    await wait('metrics of runs', () => metrics().some((line) => line.includes(last.id)))
    expect(metrics().filter((line) => executionIds.some((id) => line.includes(id)))).toEqual([])
  })
})
