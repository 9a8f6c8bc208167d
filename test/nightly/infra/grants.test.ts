import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  getAuditPrefix,
  getUpdatedPrefixes,
  PROTECTED_PREFIXES,
  READ_PREFIXES,
} from '../../../infra/functions/apply-grant.ts'
import { bundleFunctions } from '../../../infra/functions/bundle.ts'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
} from '../../../infra/functions/function-settings.ts'
import { GRANTS, SECRET_FUNCTIONS } from '../../../infra/functions/grants.ts'
import { functionOf, type OperationName } from '../../../lib/contract/routes.ts'
import { NO_TOTALS } from '../../../lib/core/batch.ts'
import { macOf } from '../../../lib/core/callback-mac.ts'
import { agentIdOf } from '../../../lib/core/ids.ts'
import { CLEANUP_DELAY_MS, LEASE_MS, leaseTimes } from '../../../lib/core/lease-times.ts'
import { DEADLINE_MS } from '../../../lib/core/limits.ts'
import type { Delivery } from '../../../lib/core/notification.ts'
import { scoreExecutionId } from '../../../lib/core/run-score.ts'
import { startOf } from '../../../lib/core/usage.ts'
import { NO_LIMITS } from '../../../lib/core/usage-limits.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { openStores, type Stores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionQueues, provisionTable, type Queues } from '../../../local/emulators/provision.ts'
import { toGatewayEvent } from '../../fixtures/captured-events.ts'
import { startCallRecorder } from '../../infra/functions/call-recorder.ts'
import { modernRequest, parseMessages } from '../../mcp/messages.ts'
import { createToken } from '../../support/engine/access.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { startDynamoDB, startSqs } from '../../support/service/port-emulators.ts'
import { sdkConfig } from '../../support/tables/sdk.ts'
import { aUsageRow } from '../../support/usage/memory-usage.ts'

const TABLE = 'grants'
const organizationId = system.newId()
const folder = mkdtempSync(join(tmpdir(), 'aes-grants-'))
/** Vitest does not transform modules below a folder of this name. */
const bundles = join(folder, 'node_modules')

/** Too large for the item of an execution, so that it is stored in chunks. */
const large = 'x'.repeat(20_000)

const documentOf = (slug: string, front: string) =>
  `---\ntitle: A\nslug: ${slug}\ninput: { text: { type: string }, ms: { type: number, required: false } }\noutput: { text: { type: string } }\n${front}\n---\nAnswer.\n`
const LEARNER = 'learning'
/** The agent of most calls. */
const version = { id: '', agentId: agentIdOf(organizationId, 'slow-echo'), slug: 'slow-echo' }
const code = `export default async ({ text, ms = 0 }, { step, waitForApproval }) => {
  if (text === 'ask')
    return (await waitForApproval('ask', { title: 'May I?', data: { text: '${large}' } })).data
  if (text === 'fail') throw new Error('Failed on request.')
  await new Promise((resolve) => setTimeout(resolve, ms))
  return { text: await step('echo', () => text) }
}`

type Handler = (event: unknown, context: object) => Promise<ReturnType<typeof JSON.parse>>

let handlers: Record<FunctionName, Handler>
let recorder: Awaited<ReturnType<typeof startCallRecorder>>
let table: ReturnType<typeof openTable>
let stores: Stores
let sqs: SQSClient
let scripted: ScriptedModel
let queues: Queues
const stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  const [dynamodb, queue] = await Promise.all([startDynamoDB(null), startSqs(), bundleFunctions(bundles)])
  stops.push(dynamodb.stop, queue.stop)
  await provisionTable(dynamodb.endpoint, TABLE)
  queues = await provisionQueues(queue.endpoint, TABLE, 60)
  sqs = new SQSClient(sdkConfig(queue.endpoint))
  recorder = await startCallRecorder({ dynamodb: dynamodb.endpoint, sqs: queue.endpoint })
  stops.unshift(recorder.stop)
  table = openTable({ TABLE_NAME: TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  stores = openStores(table)
  scripted = await startScriptedModel()
  stops.push(scripted.stop)
  handlers = await loadBundles()
  version.id = await publish(version.slug)
  const learner = 'model: openai-compatible/learner\nuseDynamicLearning: true\nlearning: { unrated: true }'
  await call('publish-agent', 201, { body: { document: documentOf(LEARNER, learner) } })
})

afterAll(async () => {
  vi.unstubAllEnvs()
  for (const stop of stops) await stop()
  rmSync(folder, { recursive: true })
})

/** Loads the bundles. Each function reads its endpoints while it loads, so that every function gets its own. */
async function loadBundles(): Promise<Record<FunctionName, Handler>> {
  const environment = {
    TABLE_NAME: TABLE,
    QUEUE_URL: queues.runs,
    DELIVERY_QUEUE_URL: queues.deliveries,
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    // So few that each suspension counts them.
    MAX_SUSPENDED_EXECUTIONS: '1000',
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const loaded: [FunctionName, Handler][] = []
  for (const name of FUNCTION_NAMES) {
    for (const [key, url] of Object.entries(await recorder.endpointsOf(name))) vi.stubEnv(key, url)
    vi.stubEnv('SYNC_DEADLINE_SECONDS', name === 'serve-mcp' ? '8' : undefined)
    const url = pathToFileURL(join(bundles, name, 'index.mjs')).href
    loaded.push([name, (await import(/* @vite-ignore */ url)).handler])
  }
  return Object.fromEntries(loaded) as Record<FunctionName, Handler>
}

type Options = Omit<Parameters<typeof toGatewayEvent>[1], 'organizationId'> & {
  id?: string
  agent?: string
  signal?: string
}

/** Invokes an endpoint as API Gateway does. @returns the body of the response */
async function call(
  name: OperationName,
  status: number,
  { id = '', agent = version.slug, versionId = '', signal = '', approvalId = '', ...options }: Options = {},
) {
  const event = toGatewayEvent(name, {
    organizationId,
    agentId: agent,
    executionId: id,
    versionId,
    name: signal,
    approvalId,
    limits: { tokenId: organizationId, rate: '1000' },
    ...options,
  })
  const result = await handlers[functionOf(name)](event, {})
  expect(result).toMatchObject({ statusCode: status })
  if (/^text\/|ndjson/.test(result.headers['Content-Type'])) return result.body
  return result.body === '' ? null : JSON.parse(result.body)
}

/** Publishes a version of a code agent. @returns its id */
async function publish(slug: string, { title = 'A', draft = false, front = '' } = {}): Promise<string> {
  const document = documentOf(slug, `code: true\n${front}`)
    .replace('title: A', `title: ${title}`)
    .replace('Answer.\n', '')
  return (await call('publish-agent', 201, { body: { document, code, draft } })).id
}

/** Calls a tool. @returns its structured content */
async function callTool(name: string, input: object, meta: object = {}) {
  const request = modernRequest('tools/call', { name, arguments: input, _meta: meta })
  const { result } = parseMessages(await call('serve-mcp', 200, request)).at(-1)
  expect(result).toMatchObject({ structuredContent: {} })
  return result.structuredContent
}

/** Calls endpoints one after the other, with the same options. */
async function callAll(names: OperationName[], options: Options = {}) {
  for (const name of names) await call(name, 200, options)
}

async function expectStatus(id: string, status: string) {
  expect((await call('get-execution', 200, { id })).status).toBe(status)
}

const newestExecution = async (): Promise<string> => (await call('list-executions', 200))[0].id

/** Takes every path of every function that makes different calls to the table or the queue. */
async function invokeAllFunctions() {
  const { id: webhookId } = await call('create-webhook', 201, { body: WEBHOOK })
  await call('get-resource-metadata', 404)
  expect(await call('serve-console', 200)).toContain('<!doctype html>')
  await callAll(['check-health', 'get-openapi-document', 'list-agents', 'get-agent-openapi', 'get-agent'])
  await callAll(['list-versions', 'get-me'])
  // These suggest another agent.
  const missing = { agent: 'slow-ecko', versionId: version.id }
  const ofAgent = ['get-agent', 'list-versions', 'get-version', 'list-agent-executions', 'run-agent'] as const
  for (const name of ofAgent) {
    const body = name === 'run-agent' ? { text: 'a' } : undefined
    expect((await call(name, 404, { ...missing, body })).detail).toContain('did you mean slow-echo?')
  }
  const token = await createToken(table, organizationId)
  const authorization = { type: 'TOKEN', methodArn: 'arn:stage/live/GET/' }
  const authorize = (text: string) =>
    handlers['authorize-request']({ ...authorization, authorizationToken: `Bearer ${text}` }, {})
  await expect(authorize('none')).rejects.toThrow('Unauthorized')
  expect(await authorize(token)).toMatchObject({ context: { organizationId } })

  const useCache = { query: { useCache: 'true' }, body: { text: large } }
  expect(await call('run-agent', 200, useCache)).toEqual({ text: large })
  const finished = await newestExecution()
  await call('run-agent', 200, { query: { version: version.id }, body: { text: 'small' } })
  // Each filter has its index.
  for (const query of [{}, { status: 'ERROR' }, { status: 'IN_PROGRESS' }, { tenantId: 'acme' }])
    await callAll(['list-executions', 'list-agent-executions'], { query })
  await call('get-execution', 200, { id: finished })
  expect(await call('list-steps', 200, { id: finished })).toMatchObject([{ name: 'echo', result: large }])
  expect(await call('stream-events', 200, { id: finished })).toContain('event: step')
  const rest = { id: finished, headers: { 'Last-Event-ID': '1' } }
  expect(await call('stream-events', 200, rest)).toContain('event: done')
  const streamed = { headers: { Accept: 'text/event-stream' }, body: { text: large } }
  expect(await call('run-agent', 200, streamed)).toContain('event: done')
  await call('compare-executions', 200, { id: finished, otherId: finished })
  const correction = { rating: -1, correctedOutput: { text: large } }
  await call('give-feedback', 200, { id: finished, body: correction })
  await call('give-feedback', 200, { id: finished, body: correction })
  await call('delete-execution', 204, { id: finished })
  await call('get-execution', 404, { id: finished })

  const cancelled = await startRun({ text: large })
  // Deltas need a response that streams.
  vi.stubEnv('RESPONSE_STREAMING', 'local')
  const watched = text(await call('stream-events', 200, { id: cancelled, query: { deltas: 'true' } }))
  vi.stubEnv('RESPONSE_STREAMING', undefined)
  await callAll(['cancel-execution', 'cancel-execution'], { id: cancelled })
  expect(await watched).toContain('event: done')

  const runs = [changeVersions, callTools, learn, fail, approve, processWithHeartbeat, resume, requeueAndEnd]
  const ends = [sweepStale, endFamilies, endLimited, sendSignals]
  const managers = [manageSchedules, manageLimits, manageAccess, manageRollouts, rerunWithinLimits]
  for (const take of [...runs, ...ends, ...managers]) await take()
  await failToDeliver(await newestExecution(), webhookId)
  await manageWebhooks(webhookId)
  for (const take of [manageBatches, manageTrials, score, readUsage]) await take()
}

/** A run, its scorer, and a person agree. */
async function score() {
  // A process knows for 30 s that an organization has no limits.
  const subject = { kind: 'tenant' as const, id: 'judged' }
  const tenantId = subject.id
  await call('put-tenant-limits', 200, { tenantId, body: { maxOpenExecutions: 1, queueWhenFull: true } })
  const judge =
    '---\ntitle: A\nslug: judge\ninput: { output: { type: object } }\noutput: { score: { type: number } }\ncode: true\n---\n'
  const judgeCode = 'export default () => ({ score: 1 })'
  await call('publish-agent', 201, { body: { document: judge, code: judgeCode } })
  await publish('judged', { front: 'scorers: [{ agent: judge, sample: 100 }]' })
  await call('run-agent', 200, { agent: 'judged', body: { text: large } })
  const id = await newestExecution()
  await deliver({ executionId: id })
  const executionId = scoreExecutionId(id, 'judge')
  await run({ executionId })
  await deliver({ executionId })
  expect(await call('get-execution', 200, { id })).toMatchObject({ scores: [{ agent: 'judge', score: 1 }] })
  await call('give-feedback', 200, { id, body: { rating: 1 } })
  expect(await call('get-agreement', 200)).toMatchObject([{ scorer: 'judge', highLiked: 1 }])
  await call('get-scores', 200)

  // A scorer waits for its turn like any run, behind one that has waited longer.
  await call('run-agent', 200, { agent: 'judged', query: { tenantId }, body: { text: large } })
  const limited = await newestExecution()
  const earlier = await createExecution(0, { tenantId, limits: [subject] })
  await enterQueue(subject, earlier)
  await deliver({ executionId: limited })
  const waiting = await call('get-execution', 200, { id: scoreExecutionId(limited, 'judge') })
  expect(waiting).toMatchObject({ source: 'SCORE', waitingFor: [{ kind: 'limit' }] })
}

/** Of so many groups that their totals are stored in chunks. */
async function readUsage() {
  const start = startOf('minute', Date.now())
  const rows = Array.from({ length: 20_000 }, () => aUsageRow({ tokenId: randomUUID() }))
  const slot = { organizationId, interval: 'minute', start, isFinal: false } as const
  await stores.usage.put({ ...slot, rows, readAt: Date.now() })
  const query = { groupBy: 'token', limit: '1' }
  // On a busy machine, the sweeper has added up some runs by now.
  expect(await call('get-usage', 200, { query })).toMatchObject([{ runs: expect.any(Number) }])
  await call('get-usage', 200, { query: { agent: version.slug } })
}

/** The service has to end it. */
async function manageRollouts() {
  const agent = 'rolled-out'
  const first = await publish(agent)
  await publish(agent, { title: 'B' })
  const body = { versionId: first, percent: 100, abort: { maxErrorRate: 0, minRuns: 1 } }
  await call('put-rollout', 200, { agent, body })
  await call('get-rollout', 200, { agent })
  await call('delete-rollout', 204, { agent })
  // What a draft does is judged from the minute on in which its rollout starts.
  const versionId = await publish(agent, { title: 'C', draft: true })
  await call('put-rollout', 200, { agent, body: { ...body, versionId } })
  const agentId = agentIdOf(organizationId, agent)
  const rows = [aUsageRow({ agentId, versionId, runs: 10, errors: { AgentFailed: 10 } })]
  const slot = { organizationId, interval: 'minute' as const, start: startOf('minute', Date.now()) }
  await stores.usage.put({ ...slot, rows, readAt: Date.now(), isFinal: false })
  await handlers['sweep-executions']({}, {})
  await call('get-rollout', 404, { agent })
}

/** The first one gives the slot to an execution that waited for it, and waits for its turn. */
async function rerunWithinLimits() {
  const tenantId = 'repeated'
  await call('run-agent', 200, { query: { tenantId }, body: { text: large } })
  const id = await newestExecution()
  const limits = { maxOpenExecutions: 1, queueWhenFull: true, maxRunsPerMinute: 10 }
  await call('put-tenant-limits', 200, { tenantId, body: limits })
  const subject = { kind: 'tenant' as const, id: tenantId }
  const executionId = await createExecution(0, { tenantId, limits: [subject] })
  await enterQueue(subject, executionId)
  const again = { id, headers: { 'Idempotency-Key': 'again' } }
  expect(await call('rerun-execution', 202, again)).toMatchObject({
    originalExecutionId: id,
    waitingFor: [{ kind: 'limit' }],
  })
  const other = await call('run-agent', 200, { body: { text: large } }).then(newestExecution)
  await call('rerun-execution', 202, { id: other })
}

async function enterQueue(subject: { kind: 'tenant'; id: string }, executionId: string) {
  const createdAt = new Date().toISOString()
  const run = { organizationId, executionId, tenantId: subject.id, createdAt }
  await stores.limits.enterQueue({ subject, run })
}

async function manageLimits() {
  const body = { maxOpenExecutions: 1, maxCostUsd: { day: 1 } }
  const tenantId = 'limited'
  await call('put-tenant-limits', 200, { tenantId, body })
  await callAll(['get-tenant-limits', 'list-limits'], { tenantId })
  await call('get-me', 200, { limits: { tokenId: organizationId, rate: '1000', tenantId } })
  await call('delete-tenant-limits', 204, { tenantId })
  await call('put-agent-limits', 200, { body })
  await call('get-agent-limits', 200)
  await call('delete-agent-limits', 204)
}

async function manageAccess() {
  const { id: tokenId } = await call('create-token', 201, { body: { name: 'created' } })
  await call('list-tokens', 200)
  await call('revoke-token', 200, { tokenId, query: { afterSeconds: '60' } })
  await call('revoke-token', 200, { tokenId })
  expect((await call('list-audit-entries', 200))[0]).toMatchObject({ action: 'token.revoke' })
}

async function manageSchedules() {
  const scheduleName = 'daily'
  const schedule = { cron: '@daily', input: { text: `${large}!` }, options: { useCache: true } }
  await call('put-schedule', 201, { scheduleName, body: schedule })
  await call('put-schedule', 200, { scheduleName, body: { ...schedule, cron: '* * * * *' } })
  await call('get-schedule', 200, { scheduleName })
  // The second one waits for its turn.
  await call('put-agent-limits', 200, { body: { maxOpenExecutions: 1, queueWhenFull: true } })
  await call('run-schedule', 202, { scheduleName, headers: { 'Idempotency-Key': 'once' } })
  await call('run-schedule', 202, { scheduleName, headers: { 'Idempotency-Key': 'twice' } })
  await call('delete-agent-limits', 204)
  // A cached result ends the execution at once.
  await call('run-agent', 200, { query: { useCache: 'true' }, body: schedule.input })
  await call('run-schedule', 200, { scheduleName })
  const { agentId, id: versionId } = version
  const key = { organizationId, agentId, name: scheduleName }
  const stored = await stores.schedules.get(key)
  if (!stored) throw new Error('The schedule is not stored.')
  const at = Date.now() - 1_000
  // Without a cached result, the firing counts the open executions.
  const options = { ...stored.options, useCache: false }
  const due = { nextRunAt: new Date(at).toISOString(), openUntil: at, versionId, options }
  await stores.schedules.put({ schedule: { ...stored, ...due }, replaces: stored })
  expect(await run({ agentId, schedule: scheduleName, at })).toEqual({ batchItemFailures: [] })
  expect(await call('get-schedule', 200, { scheduleName })).toMatchObject({
    firings: [{ status: 'STARTED' }],
  })
  await call('delete-schedule', 204, { scheduleName })
  // What a document declares is created and deleted by those who look at it, and by the sweeper.
  const document = (schedules: string) =>
    `---\ntitle: Reports\nslug: reports\ninput: {}\noutput: { text: { type: string } }\nschedules: ${schedules}\n---\nReport.\n`
  const publishWith = (schedules: string) =>
    call('publish-agent', 201, { body: { document: document(schedules) } })
  const list = () => call('list-schedules', 200, { agent: 'reports' })
  await publishWith('{ daily: { cron: "@daily" } }')
  await handlers['sweep-executions']({}, {})
  await publishWith('{ weekly: { cron: "@weekly" } }')
  expect(await list()).toMatchObject([{ name: 'weekly' }])
  await publishWith('{ often: { cron: "* * * * *" } }')
  await handlers['sweep-executions']({}, {})
  expect(await list()).toMatchObject([{ name: 'often' }])
}

/** Nothing listens at the URL: deliveries are repeated by the queue. */
const WEBHOOK = { url: 'http://127.0.0.1:1/', allowedHosts: ['127.0.0.1:1'] }

async function deliver(message: object) {
  const event = toSqsEvent({ body: JSON.stringify({ organizationId, ...message }) })
  expect(await handlers['deliver-events'](event, {})).toEqual({ batchItemFailures: [] })
}

/** To a webhook that has failed for days, and an event of a deleted execution. */
async function failToDeliver(executionId: string, webhookId: string) {
  const longAgo = new Date(Date.now() - 4 * 86_400_000).toISOString()
  await stores.webhooks.update({ organizationId, id: webhookId, changes: { failingSince: longAgo } })
  for (const id of [executionId, system.newId()]) {
    const due = { status: 'PENDING', nextAttemptAt: longAgo, revision: 7 } as const
    const delivery = { ...aDelivery(id, webhookId), ...due }
    await stores.deliveries.put({ delivery, attempts: 0, dueAt: null })
    await deliver({ executionId: id, revision: due.revision, destinationId: webhookId })
  }
  expect(await call('get-webhook', 200, { webhookId })).toMatchObject({ disabledReason: 'failing' })
}

function aDelivery(executionId: string, destinationId: string): Delivery {
  const now = new Date().toISOString()
  const event = {
    subject: { kind: 'execution' as const, id: executionId },
    organizationId,
    revision: 2,
    type: 'execution.failed' as const,
    occurredAt: now,
  }
  const attempt = { attempts: 1, createdAt: now, attemptedAt: now, nextAttemptAt: null }
  return { ...event, ...attempt, status: 'FAILED', responseStatus: 500, error: null, destinationId }
}

async function manageWebhooks(webhookId: string) {
  await call('get-webhook', 200, { webhookId })
  await call('update-webhook', 200, { webhookId, body: { enabled: true } })
  await call('rotate-webhook', 200, { webhookId })
  await call('rotate-webhook', 200, { webhookId: 'default' })
  await call('test-webhook', 200, { webhookId })
  const delivery = aDelivery(await newestExecution(), webhookId)
  await stores.deliveries.put({ delivery, attempts: 0, dueAt: null })
  const deliveries: { id: string; status: string }[] = await call('list-deliveries', 200, { webhookId })
  const deliveryId = deliveries.find(({ status }) => status === 'FAILED')?.id ?? ''
  expect((await call('redeliver', 200, { webhookId, deliveryId })).status).toBe('FAILED')
  expect(await call('list-webhooks', 200)).toHaveLength(1)
  await call('delete-webhook', 204, { webhookId })
}

/** One whose line the runner starts, and one of a line that is large, whose end is written by hand. */
async function manageBatches() {
  const { id: fed } = await call('start-batch', 202, { body: [{ customId: 'a', input: { text: 'fed' } }] })
  expect(await run({ batchId: fed })).toEqual({ batchItemFailures: [] })
  const [started] = await call('list-batch-executions', 200, { batchId: fed })
  expect(started.status).toBe('IN_PROGRESS')
  const body = [{ customId: 'a', input: { text: large.repeat(30) } }]
  const { id: batchId } = await call('start-batch', 202, { body, headers: { 'Idempotency-Key': 'batch' } })
  await call('start-batch', 202, { body, headers: { 'Idempotency-Key': 'batch' } })
  await callAll(['list-batches', 'get-batch', 'list-batch-executions'], { batchId })
  const streamed = { batchId, headers: { Accept: 'text/event-stream' } }
  expect(await call('get-batch', 200, streamed)).toContain('event: counts')
  expect(await call('list-batch-results', 200, { batchId })).toContain('IN_PROGRESS')
  expect((await call('cancel-batch', 202, { batchId })).status).toBe('CANCELLING')
  await endCancelled(batchId)
  await call('retry-batch', 202, { batchId })
  await call('delete-batch', 204, { batchId })
}

async function endCancelled(id: string) {
  const batch = await stores.batches.get({ organizationId, id })
  if (!batch) throw new Error('There is no batch.')
  const totals = { ...NO_TOTALS, cancelled: 1 }
  await stores.batches.end({ batch, totals, endedAt: new Date().toISOString() })
}

/** A trial of executions that have ended, whose end is written by hand. */
async function manageTrials() {
  const versionId = version.id
  const headers = { 'Idempotency-Key': 'trial' }
  const { id: trialId } = await call('start-trial', 202, { versionId, body: { limit: 1 }, headers })
  await call('start-trial', 202, { versionId, body: { limit: 1 }, headers })
  await call('start-trial', 422, { versionId, body: { tenantId: 'nobody', feedback: 'rated' } })
  await call('start-trial', 422, { versionId, body: { executions: [versionId] } })
  await callAll(['list-trials', 'get-trial'], { trialId })
  expect(await call('list-trial-items', 200, { trialId })).toHaveLength(1)
  expect((await call('cancel-trial', 202, { trialId })).status).toBe('CANCELLING')
  await endCancelled(trialId)
  await call('delete-trial', 204, { trialId })
}

/** To a suspended execution, until they are counted. */
async function sendSignals() {
  const now = Date.now()
  const wait = { kind: 'signal' as const, name: 'go', since: '', until: null, step: 1, signals: ['go'] }
  const suspension = { at: now, until: now + LEASE_MS, waits: [wait] }
  const execution = { ...anExecution({ organizationId }), suspension, callbackSecret: 'secret' }
  await stores.executions.create({ execution })
  const { id } = execution
  await call('send-signal', 202, { id, signal: 'go', body: large, headers: { 'Idempotency-Key': 'key' } })
  const mac = macOf('secret', id, 'go')
  for (let i = 0; i < 11; i++) await call('send-callback', 202, { id, signal: 'go', mac, body: i })
  expect(await call('list-signals', 200, { id })).toHaveLength(12)
}

/** Publishes, promotes and deletes versions of an agent, one of whose runs is in progress, and archives it. */
async function changeVersions() {
  const agent = 'published'
  const first = await publish(agent, { draft: true })
  await callAll(['get-version', 'promote-version'], { agent, versionId: first })
  const run = await startRun({ text: 'a' }, { agent })
  const draft = await publish(agent, { title: 'B', draft: true })
  await callAll(['retire-version', 'unretire-version'], { agent, versionId: draft })
  await call('delete-version', 204, { agent, versionId: draft })
  await call('cancel-execution', 200, { id: run })
  await callAll(['archive-agent', 'restore-agent'], { agent })
}

async function startRun(body: object, options: Options = {}): Promise<string> {
  const query = { ...options.query, execMode: 'async' }
  return (await call('run-agent', 202, { ...options, query, body })).id
}

async function callTools() {
  await call('serve-mcp', 200, modernRequest('tools/list'))
  const meta = { useCache: true, idempotencyKey: 'k' }
  expect(await callTool(version.slug, { text: large }, meta)).toEqual({ text: large })
  expect(await callTool(version.slug, { text: large }, meta)).toEqual({ text: large })
  for (const filter of [{}, { status: 'ERROR' }, { status: 'IN_PROGRESS' }, { tenantId: 'acme' }])
    for (const agent of [{}, { agent: version.slug }])
      await callTool('list_executions', { ...filter, ...agent })
  const { executionId } = await callTool(version.slug, { text: large, ms: 60_000 })
  await callTool('cancel_execution', { executionId })
  expect(await callTool('get_execution', { executionId, waitSeconds: 1 })).toMatchObject({ status: 'ERROR' })
}

/** The functions that run agents show a model its previous execution as an example. */
async function learn() {
  for (const [name, value] of Object.entries(scripted.environmentFor('openai-compatible')))
    vi.stubEnv(name, value)
  scripted.script('learner', () => ({ calls: [finalAnswer({ text: 'learned' })] }))
  const options = { agent: LEARNER, body: { text: 'hello' } }
  await call('run-agent', 200, options)
  const first = await newestExecution()
  await call('run-agent', 200, options)
  const id = await startRun(options.body, { agent: LEARNER })
  await run({ executionId: id })
  const { status, learnedFrom } = await call('get-execution', 200, { id })
  expect([status, learnedFrom.length]).toEqual(['SUCCESS', 1])
  expect(learnedFrom[0] > first).toBe(true)
  await callTool(LEARNER, { text: 'hello' })
}

/** Runs that fail free their cache keys. */
async function fail() {
  const query = { useCache: 'true' }
  const body = { text: 'fail' }
  await call('run-agent', 500, { query, body })
  await run({ executionId: await startRun(body, { query }) })
  const params = { name: version.slug, arguments: body, _meta: { useCache: true } }
  await call('serve-mcp', 200, modernRequest('tools/call', params))
}

/** A run asks for an approval with large data. The queue refuses the message that resumes it. */
async function approve() {
  const { id } = await call('run-agent', 202, { body: { text: 'ask' } })
  const [approval] = await call('list-approvals', 200, { query: { agent: version.slug } })
  expect(approval.input).toEqual({ text: large })
  // Until then, its timer is due at once.
  await deliver({ executionId: id })
  const decision = { decision: 'approve', input: { text: large.repeat(5) } }
  const options = { id, approvalId: approval.id, body: decision }
  recorder.refuseMessages('decide-approval')
  await call('decide-approval', 200, options)
  recorder.refuseMessages()
  await call('decide-approval', 200, options)
  await callTool('decide_approval', { executionId: id, approvalId: approval.id, ...decision })
  const decided = await call('list-approvals', 200, { query: { decided: 'true' } })
  expect(decided).toMatchObject([{ id: approval.id }])
  await run({ executionId: id, wakes: true })
  await expectStatus(id, 'SUCCESS')

  const queued = await startRun({ text: 'ask' })
  await run({ executionId: queued })
  expect((await call('get-execution', 200, { id: queued })).waitingFor).toHaveLength(1)
  await call('cancel-execution', 200, { id: queued })
}

/** The runner processes an execution with a large input that runs until the next heartbeat. */
async function processWithHeartbeat() {
  const id = await startRun({ text: large, ms: 1000 })
  const receive = new ReceiveMessageCommand({ QueueUrl: queues.runs, MaxNumberOfMessages: 10 })
  const { Messages } = await sqs.send(receive)
  const message = Messages?.find(({ Body }) => Body?.includes(id))
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const record = { messageId: 'm', body: message?.Body, receiptHandle: message?.ReceiptHandle }
    // One that is final is deleted at once, while the other one runs.
    const final = { messageId: 'f', body: JSON.stringify({ executionId: system.newId(), organizationId }) }
    const running = handlers['process-execution'](toSqsEvent(record, final), toContext(900_000))
    await vi.waitUntil(() => vi.getTimerCount() > 0)
    vi.advanceTimersByTime(leaseTimes().heartbeatMs)
    expect(await running).toEqual({ batchItemFailures: [] })
  } finally {
    vi.useRealTimers()
  }
  expect((await call('get-execution', 200, { id })).output).toEqual({ text: large })
}

/** The runner resumes an execution whose worker died. */
async function resume() {
  const id = await createExecution(LEASE_MS, {
    input: { text: 'again' },
    lease: { owner: system.newId(), expiresAt: Date.now() - 1 },
  })
  await run({ executionId: id })
  expect((await call('get-execution', 200, { id })).output).toEqual({ text: 'again' })
}

/** A runner without time left requeues its execution. process-dead-letter requeues it and ends an overdue one. */
async function requeueAndEnd() {
  const id = await startRun({ text: large })
  await run({ executionId: id }, 0)
  await expectStatus(id, 'IN_PROGRESS')
  await bury(id)
  await expectStatus(id, 'IN_PROGRESS')
  const overdue = await createExecution(DEADLINE_MS)
  await bury(overdue)
  await expectStatus(overdue, 'ERROR')
}

/** The sweeper requeues one execution and ends another one past its deadline. */
async function sweepStale() {
  await createExecution(2 * LEASE_MS)
  const overdue = await createExecution(DEADLINE_MS)
  await loseInput()
  await handlers['sweep-executions']({}, {})
  await expectStatus(overdue, 'ERROR')
}

/** The end of a child resumes its parent, and the end of a parent ends its child. */
async function endFamilies() {
  const { executions } = stores
  const childOf = (id: string) => createExecution(0, { parent: { executionId: id, callers: [] } })
  const lease = { owner: 'worker', expiresAt: Date.now() + LEASE_MS }
  const waiting = await createExecution(0, { lease })
  const child = await childOf(waiting)
  const since = new Date().toISOString()
  const suspension = {
    at: Date.now(),
    until: Date.now() + DEADLINE_MS,
    waits: [{ kind: 'execution' as const, name: 'ask', since, until: null, id: child }],
  }
  const times = { openUntil: suspension.until, deadlineAt: suspension.until }
  await executions.suspend({
    execution: (await executions.getSummary({ organizationId, id: waiting })) as never,
    owner: lease.owner,
    suspension,
    ...times,
  })
  await call('cancel-execution', 200, { id: child })

  const overdue = await createExecution(DEADLINE_MS)
  const open = await childOf(overdue)
  await bury(overdue)
  expect((await call('get-execution', 200, { id: open })).error.code).toBe('Cancelled')

  // Ended by the deletion of its parent.
  const deleted = await createExecution(0)
  await call('cancel-execution', 200, { id: deleted })
  const late = await childOf(deleted)
  await call('delete-execution', 204, { id: deleted })
  await call('get-execution', 404, { id: late })
}

/** The end of an execution that has a slot starts the one that waits for it. */
async function endLimited() {
  const { limits } = stores
  const key = { organizationId, subject: { kind: 'tenant' as const, id: 'limited' } }
  const updatedAt = new Date().toISOString()
  const given = { ...NO_LIMITS, maxOpenExecutions: 1, queueWhenFull: true, updatedAt }
  await limits.put({ ...key, limits: given })
  const owner = { tenantId: key.subject.id, limits: [key.subject] }
  const endings = [(id: string) => call('cancel-execution', 200, { id }), bury]
  for (const end of endings) {
    const executionId = await createExecution(DEADLINE_MS, owner)
    const next = await createExecution(0, owner)
    await limits.takeSlot({ ...key, max: 1, executionId, now: Date.now() })
    await enterQueue(key.subject, next)
    await end(executionId)
    expect(await limits.hasSlot({ ...key, executionId: next })).toBe(true)
    expect(await limits.listQueue({ ...key, limit: 1 })).toEqual([])
    await limits.releaseSlot({ ...key, executionId: next })
  }
  await limits.delete(key)
}

/** Creates an execution with a large input that was accepted some time ago. @returns its id */
async function createExecution(
  ageMs: number,
  overrides: Parameters<typeof anExecution>[0] = {},
): Promise<string> {
  const { agentId, id: versionId } = version
  const options = { organizationId, agentId, versionId, input: { text: large }, deadlineMs: DEADLINE_MS }
  const execution = anExecution({ ...options, now: Date.now() - ageMs, ...overrides })
  await stores.executions.create({ execution })
  return execution.id
}

const toSqsEvent = (...messages: object[]) => ({
  Records: messages.map((message) => ({
    messageId: 'm',
    receiptHandle: 'r',
    attributes: { ApproximateReceiveCount: '1' },
    eventSourceARN: `arn:aws:sqs:local:000000000000:${TABLE}`,
    ...message,
  })),
})

/** Lets the runner process messages. `ms`: until its timeout. */
const run = (message: object, ms = 900_000) => {
  const body = JSON.stringify({ organizationId, ...message })
  return handlers['process-execution'](toSqsEvent({ body }), toContext(ms))
}

const bury = (executionId: string) => {
  const body = JSON.stringify({ executionId, organizationId })
  return handlers['process-dead-letter'](toSqsEvent({ body }), {})
}

const toContext = (ms: number) => ({ getRemainingTimeInMillis: () => ms })

/** A process dies after it has written the input of an execution, and before its record. */
async function loseInput() {
  const execution = anExecution({ input: { text: large }, now: Date.now() - 2 * CLEANUP_DELAY_MS })
  const dying = executionStore({ ...table, put: (item, condition) => (condition ? died() : table.put(item)) })
  await expect(dying.create({ execution })).rejects.toThrow('died')
}

const died = () => Promise.reject(new Error('died'))

describe('GRANTS', () => {
  beforeAll(invokeAllFunctions)

  it.each(FUNCTION_NAMES)('grant %s exactly the calls that it makes', (name) => {
    const { table: actions, indexes = [], queue = [], deliveryQueue = [] } = GRANTS[name]
    const granted = {
      table: [...actions].sort(),
      updated: getUpdatedPrefixes(name).sort(),
      audited: [getAuditPrefix(name) ?? []].flat(),
      indexes: [...indexes].sort(),
      queue: [...queue].sort(),
      deliveryQueue,
    }
    expect(recorder.callsOf(name)).toMatchObject(granted)
  })

  it.each(FUNCTION_NAMES)('let %s read secrets of webhooks only if it does', (name) => {
    expect(recorder.callsOf(name).secrets.length > 0).toBe(SECRET_FUNCTIONS.includes(name))
  })

  it.each(AGENT_FUNCTIONS)('deny %s only writes that it does not make', (name) => {
    const { written } = recorder.callsOf(name)
    expect(written).toEqual(expect.arrayContaining(['EXEC#']))
    expect(PROTECTED_PREFIXES.filter((prefix) => written.includes(prefix))).toEqual([])
  })

  it.each(AGENT_FUNCTIONS)('let %s read the items that it reads', (name) => {
    const { read } = recorder.callsOf(name)
    expect(read).toEqual(expect.arrayContaining(['AGENT#', 'EXEC#', 'LIMITS#']))
    expect(READ_PREFIXES[name]).toEqual(expect.arrayContaining(read))
  })
})
