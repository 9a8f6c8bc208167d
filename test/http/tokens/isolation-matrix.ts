import { beforeAll, describe, expect, inject, it } from 'vitest'
import { apiRoutes, type OperationName, type Route } from '../../../lib/api/routes.ts'
import { system } from '../../../lib/system.ts'
import { modernRequest } from '../../mcp/messages.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { storeDelivery } from '../../support/notifications/store-delivery.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'
import { type ApiClient, type ApiResponse, getExecutionId } from '../../support/service/client.ts'
import { COLUMNS, type Column } from '../../support/service/token-columns.ts'

/** 200 without the resource. */
const ABSENT = 'absent'
type Expected = number | typeof ABSENT

/** Written by hand, from the rules in docs/runs.md and not from the code. */
const MATRIX: Partial<Record<OperationName, Expected[]>> = {
  //                       run  read manage review approve same tenant agent org
  'check-health': [/*    */ 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'get-openapi-document': [200, 200, 200, 200, 200, 200, 200, 200, 200],
  // The service of this test has no identity provider.
  'get-resource-metadata': [404, 404, 404, 404, 404, 404, 404, 404, 404],
  'get-mcp-resource-metadata': [404, 404, 404, 404, 404, 404, 404, 404, 404],
  'get-me': [/*          */ 403, 200, 403, 403, 403, 200, 200, 200, 200],
  // Tools have a matrix of their own: test/mcp/isolation.slow.test.ts.
  'serve-mcp': [/*       */ 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'list-agents': [/*     */ 403, 200, 403, 403, 403, 200, 200, ABSENT, ABSENT],
  'get-agent': [/*       */ 403, 200, 403, 403, 403, 200, 200, 404, 404],
  'list-versions': [/*   */ 403, 200, 403, 403, 403, 200, 200, 404, 404],
  // What belongs to all tenants is not for tokens that are bound to one.
  'publish-agent': [/*   */ 403, 403, 200, 403, 403, 403, 403, 403, 200],
  'archive-agent': [/*   */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'restore-agent': [/*   */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'get-version': [/*     */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'delete-version': [/*  */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'promote-version': [/* */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'retire-version': [/*  */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'unretire-version': [/**/ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'put-rollout': [/*     */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'get-rollout': [/*     */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'delete-rollout': [/*  */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'run-agent': [/*       */ 200, 403, 403, 403, 403, 200, 403, 404, 404],
  'list-agent-executions': [403, 200, 403, 403, 403, 200, 403, 404, 404],
  'list-executions': [/* */ 403, 200, 403, 403, 403, 200, 403, ABSENT, ABSENT],
  'get-execution': [/*   */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'list-steps': [/*      */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'stream-events': [/*   */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'delete-execution': [/**/ 403, 403, 204, 403, 403, 204, 404, 404, 404],
  'cancel-execution': [/**/ 200, 403, 403, 403, 403, 200, 404, 404, 404],
  // Needs the scopes run and read.
  'rerun-execution': [/* */ 403, 403, 403, 403, 403, 202, 404, 404, 404],
  'compare-executions': [/**/ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'send-signal': [/*     */ 202, 403, 403, 403, 403, 202, 404, 404, 404],
  'list-signals': [/*    */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  // Only its MAC counts.
  'send-callback': [/*   */ 404, 404, 404, 404, 404, 404, 404, 404, 404],
  'list-approvals': [/*  */ 403, 200, 403, 403, 200, 200, 403, ABSENT, ABSENT],
  'decide-approval': [/* */ 403, 403, 403, 403, 200, 200, 404, 404, 404],
  'list-webhooks': [/*   */ 403, 200, 403, 403, 403, 403, 403, ABSENT, ABSENT],
  'create-webhook': [/*  */ 403, 403, 201, 403, 403, 403, 403, 403, 201],
  'get-webhook': [/*     */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'update-webhook': [/*  */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'delete-webhook': [/*  */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'rotate-webhook': [/*  */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'test-webhook': [/*    */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'list-deliveries': [/* */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  redeliver: [/*       */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'list-limits': [/*     */ 403, 200, 200, 403, 403, 403, 403, ABSENT, ABSENT],
  // Those of a tenant belong to all agents.
  'get-tenant-limits': [/**/ 403, 200, 200, 403, 403, 403, 403, 403, 404],
  'put-tenant-limits': [/**/ 403, 403, 200, 403, 403, 403, 403, 403, 200],
  'delete-tenant-limits': [403, 403, 204, 403, 403, 403, 403, 403, 404],
  'get-agent-limits': [/* */ 403, 200, 200, 403, 403, 403, 403, 404, 404],
  'put-agent-limits': [/* */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'delete-agent-limits': [/* */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'list-audit-entries': [/* */ 403, 403, 200, 403, 403, 403, 403, 403, ABSENT],
  // A token sees those of its tenant and its agents, and creates none that may do more.
  'list-tokens': [/*     */ 403, 403, 200, 403, 403, 200, ABSENT, ABSENT, ABSENT],
  'create-token': [/*    */ 403, 403, 201, 403, 403, 201, 201, 201, 201],
  'revoke-token': [/*    */ 403, 403, 200, 403, 403, 200, 404, 404, 404],
  'list-schedules': [/*  */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'put-schedule': [/*    */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'get-schedule': [/*    */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'delete-schedule': [/* */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'run-schedule': [/*    */ 403, 403, 202, 403, 403, 403, 403, 404, 404],
  'start-batch': [/*     */ 202, 403, 403, 403, 403, 202, 403, 404, 404],
  'list-batches': [/*    */ 403, 200, 403, 403, 403, 200, 403, ABSENT, ABSENT],
  'get-batch': [/*       */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'list-batch-results': [/* */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'list-batch-executions': [403, 200, 403, 403, 403, 200, 404, 404, 404],
  'cancel-batch': [/*    */ 202, 403, 403, 403, 403, 202, 404, 404, 404],
  'retry-batch': [/*     */ 422, 403, 403, 403, 403, 422, 404, 404, 404],
  'delete-batch': [/*    */ 403, 403, 204, 403, 403, 204, 404, 404, 404],
  'start-trial': [/*     */ 403, 403, 202, 403, 403, 403, 403, 404, 404],
  'list-trials': [/*     */ 403, 200, 403, 403, 403, 403, 403, ABSENT, ABSENT],
  'get-trial': [/*       */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'list-trial-items': [/**/ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'cancel-trial': [/*    */ 403, 403, 202, 403, 403, 403, 403, 404, 404],
  'delete-trial': [/*    */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'get-usage': [/*       */ 403, 200, 403, 403, 403, 200, 403, 200, 200],
  'give-feedback': [/*   */ 200, 403, 200, 200, 403, 200, 404, 404, 404],
}

const DOCUMENT = `---
title: Published
slug: published
input: { text: { type: string } }
output: { text: { type: string } }
---
Repeat the text.
`

/** Query strings and bodies that a successful request needs. Lists and runs name the tenant. */
const REQUESTS: Partial<
  Record<OperationName, { query?: string; body?: object; headers?: Record<string, string> }>
> = {
  'serve-mcp': modernRequest('tools/list'),
  // More than a page: requests that change an agent have one each.
  'list-agents': { query: '?limit=100' },
  'publish-agent': { body: { document: DOCUMENT } },
  'run-agent': { query: '?tenantId=acme', body: { text: 'x' } },
  'list-agent-executions': { query: '?tenantId=acme' },
  'list-executions': { query: '?tenantId=acme' },
  'list-approvals': { query: '?tenantId=acme' },
  'decide-approval': { body: { decision: 'approve' } },
  'start-batch': { query: '?tenantId=acme', body: [{ customId: 'a', input: { text: 'x' } }] },
  'list-batches': { query: '?tenantId=acme' },
  'start-trial': { body: { limit: 1 } },
  // What it shows to whom: test/http/usage.slow.test.ts.
  'get-usage': { query: '?tenantId=acme' },
  'create-webhook': { body: { url: 'https://receiver.example' } },
  'update-webhook': { body: { enabled: true } },
  'give-feedback': { body: { rating: 1 } },
  'put-schedule': { body: { cron: '@daily', input: { text: 'x' } } },
  'list-tokens': { query: '?limit=100' },
  'create-token': { body: { name: 'created', scopes: ['manage'] } },
  'put-tenant-limits': { body: { warnAt: 0.5 } },
  'put-agent-limits': { body: { warnAt: 0.5 } },
  'send-signal': { body: {} },
  'send-callback': { body: {} },
}

let org: TestOrganization
let agentId: string
let versionId: string
let executionId: string
let approvalId: string
let webhookId: string
let scheduleName: string
let deliveryId: string
let batchId: string
let trialId: string
let tokenId: string
let clients: Record<Column, ApiClient>

/** An execution that waits for an approval. */
async function newApproval() {
  const response = await org.run('asks', {}, 'tenantId=acme')
  return { executionId: getExecutionId(response), approvalId: String(response.json.waitingFor[0].id) }
}

async function newWebhook(): Promise<string> {
  // Nothing listens there.
  const body = { url: 'http://127.0.0.1:1/', allowedHosts: ['127.0.0.1:1'], agents: ['echo'] }
  return (await org.call('POST', '/v1/webhooks', { body })).json.id
}

async function newSchedule(name: string): Promise<string> {
  const body = { cron: '@daily', input: { text: 'x' } }
  expect((await org.call('PUT', `/v1/agents/echo/schedules/${name}`, { body })).status).toBe(201)
  return name
}

async function setLimits(path: string): Promise<void> {
  expect((await org.call('PUT', `${path}/limits`, { body: { warnAt: 0.5 } })).status).toBe(200)
}

/** One that has ended. */
async function newBatch(): Promise<string> {
  const body = [{ customId: 'a', input: { text: 'x' } }]
  const started = await org.call('POST', '/v1/agents/echo/batches?tenantId=acme', { body })
  const { id } = started.json
  const hasEnded = async () => (await org.call('GET', `/v1/batches/${id}`)).json.status === 'ENDED'
  await waitUntil(hasEnded, { what: 'the end of the batch', limitMs: 60_000 })
  return id
}

/** One that has ended. */
async function newTrial(): Promise<string> {
  const path = `/v1/agents/echo/versions/${versionId}/trials`
  const { id } = (await org.call('POST', path, { body: { limit: 1 } })).json
  const hasEnded = async () => (await org.call('GET', `/v1/trials/${id}`)).json.status === 'ENDED'
  await waitUntil(hasEnded, { what: 'the end of the trial', limitMs: 60_000 })
  return id
}

async function newToken(): Promise<string> {
  const body = { name: 'theirs', agents: ['echo'], tenantId: 'acme' }
  return (await org.call('POST', '/v1/tokens', { body })).json.id
}

const newExecution = async () => getExecutionId(await org.run('echo', { text: 'secret' }, 'tenantId=acme'))

const newWaiting = async () => getExecutionId(await org.run('waits', { signal: 'go' }, 'tenantId=acme'))

const ROLLOUTS: OperationName[] = ['put-rollout', 'get-rollout', 'delete-rollout']

/** Each request that changes an agent or a draft gets its own one: the requests are concurrent. */
const CHANGES: OperationName[] = [
  'archive-agent',
  'restore-agent',
  'promote-version',
  'delete-version',
  'retire-version',
  'unretire-version',
  'delete-agent-limits',
  ...ROLLOUTS,
]
let agents = 0
let schedules = 0
let tenants = 0

/** Those that change an execution get their own one, too, and those that list it: it has to be a recent one. */
const EXECUTIONS: OperationName[] = [
  'cancel-execution',
  'delete-execution',
  'give-feedback',
  'list-agent-executions',
  'list-executions',
]

const APPROVALS: OperationName[] = ['decide-approval', 'list-approvals']

async function newIds({ operation: name }: Route): Promise<Ids> {
  if (APPROVALS.includes(name)) return { ...ids(), ...(await newApproval()) }
  if (EXECUTIONS.includes(name)) return { ...ids(), executionId: await newExecution() }
  if (name === 'delete-batch') return { ...ids(), batchId: await newBatch() }
  if (name === 'delete-trial') return { ...ids(), trialId: await newTrial() }
  if (name === 'delete-webhook') return { ...ids(), webhookId: await newWebhook() }
  if (name === 'delete-tenant-limits') {
    const tenantId = `deleted-${++tenants}`
    await setLimits(`/v1/tenants/${tenantId}`)
    return { ...ids(), tenantId }
  }
  if (name === 'revoke-token') return { ...ids(), tokenId: await newToken() }
  if (name === 'delete-schedule')
    return { ...ids(), scheduleName: await newSchedule(`deleted-${++schedules}`) }
  if (name === 'send-signal') return { ...ids(), executionId: await newWaiting(), name: 'go' }
  if (name === 'send-callback') return { ...ids(), name: 'go', mac: 'guessed' }
  if (!CHANGES.includes(name)) return ids()
  const document = DOCUMENT.replace('slug: published', `slug: changed-${++agents}`)
  const isRollout = ROLLOUTS.includes(name)
  if (isRollout) await org.call('POST', '/v1/agents', { body: { document } })
  const draft = isRollout ? document.replace('Repeat', 'Return') : document
  const published = await org.call('POST', '/v1/agents', { body: { document: draft, draft: true } })
  const { documentId, id } = published.json
  if (isRollout) {
    const body = { versionId: id, percent: 10 }
    expect((await org.call('PUT', `/v1/agents/${documentId}/rollout`, { body })).status).toBe(200)
  }
  if (name === 'delete-agent-limits') await setLimits(`/v1/agents/${documentId}`)
  return { ...ids(), agentId: documentId, versionId: id }
}

type Ids = {
  otherId: string
  agentId: string
  executionId: string
  versionId: string
  approvalId: string
  webhookId: string
  deliveryId: string
  scheduleName: string
  batchId: string
  trialId: string
  tenantId: string
  tokenId: string
  name?: string
  mac?: string
}

const ids = (): Ids => ({
  agentId,
  executionId,
  otherId: executionId,
  versionId,
  approvalId,
  webhookId,
  deliveryId,
  scheduleName,
  batchId,
  trialId,
  tenantId: 'acme',
  tokenId,
})

const send = (client: ApiClient, route: Route, ids: Ids) => {
  const { query = '', ...options } = REQUESTS[route.operation] ?? {}
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: keyof Ids) => ids[name] ?? '')
  const body = route.operation === 'put-rollout' && { body: { versionId: ids.versionId, percent: 20 } }
  return client(route.method, path + query, { ...options, ...body })
}

/** Arrays without what the other lists are searched for. */
const NOT_LISTS: OperationName[] = [
  'list-steps',
  'list-signals',
  'list-schedules',
  'list-batch-executions',
  'list-trial-items',
  'get-usage',
]

/** The response without the request ID and the date. */
const comparable = ({ status, text, json, headers }: ApiResponse) => [
  status,
  text.replaceAll(json.instance, ''),
  [...headers].filter(([name]) => name !== 'date' && name !== 'x-amzn-requestid'),
]

/** In `npm test`, those that differ most. */
const COMMON: Column[] = ['read', 'same limits', 'other tenant', 'other org']

type OpenClients = (org: TestOrganization, other: TestOrganization) => Promise<Record<Column, ApiClient>>

/**
 * The tests of a test file: each route with the token of each column.
 * @param open the clients with the tokens
 * @param differences rows that differ from those of API tokens
 */
export function describeIsolation(open: OpenClients, differences: typeof MATRIX = {}): void {
  const rows = { ...MATRIX, ...differences }

  beforeAll(async () => {
    org = await newOrganization()
    const version = await org.publish('echo')
    agentId = version.agentId
    versionId = version.id
    await org.publish('counted')
    await org.publish('waits')
    await org.publish('asks')
    const other = await newOrganization()
    for (const { call } of [org, other])
      expect((await call('POST', '/v1/agents', { body: { document: DOCUMENT } })).status).toBe(201)
    clients = await open(org, other)
    executionId = await newExecution()
    approvalId = (await newApproval()).approvalId
    webhookId = await newWebhook()
    await setLimits('/v1/tenants/acme')
    await setLimits('/v1/agents/echo')
    scheduleName = await newSchedule('daily')
    batchId = await newBatch()
    trialId = await newTrial()
    tokenId = await newToken()
    deliveryId = await storeDelivery({ organizationId: org.id, executionId, destinationId: webhookId })
  })

  it('has a row for every operation', () => {
    const names = new Set(apiRoutes.map((route) => route.operation))
    expect(Object.keys(rows).sort()).toEqual([...names].sort())
    for (const [name, row] of Object.entries(rows)) expect(row, name).toHaveLength(COLUMNS.length)
  })

  const cells = apiRoutes
    .flatMap((route) =>
      COLUMNS.map((column, i) => ({
        name: `${route.method} ${route.path}`,
        route,
        column,
        expected: rows[route.operation]?.[i],
      })),
    )
    .filter(({ column }) => inject('isNightly') || COMMON.includes(column))

  describe.concurrent.each(cells)('$name, $column', ({ route, column, expected }) => {
    it(`is ${expected}`, async () => {
      const ids = await newIds(route)
      const { agentId, executionId } = ids
      const response = await send(clients[column], route, ids)
      expect(response.status, response.text).toBe(expected === ABSENT ? 200 : expected)
      if (expected === 403) expect(response.json).toMatchObject({ code: 'Forbidden' })
      if (expected === 404) {
        const [one, other, third, fourth] = [system.newId(), system.newId(), system.newId(), system.newId()]
        const missing = await send(clients[column], route, {
          ...ids,
          agentId: one,
          executionId: other,
          versionId: third,
          approvalId,
          webhookId: fourth,
          batchId: fourth,
          trialId: fourth,
          tokenId: fourth,
        })
        expect(comparable(response)).toEqual(comparable(missing))
      }
      const isList = Array.isArray(response.json) && !NOT_LISTS.includes(route.operation)
      if (isList) {
        type Target = { id?: string; executionId?: string; agentId?: string }
        type Item = Target & { target?: Target; result?: string }
        // An entry of the audit log names its target: also one that was requested in vain.
        const ids = response.json.flatMap(({ target, result, ...item }: Item) =>
          [item, result === 'SUCCEEDED' ? target : null].flatMap((each) => [
            each?.id,
            each?.executionId,
            each?.agentId,
          ]),
        )
        const listed =
          [executionId, agentId, webhookId, batchId, trialId, tokenId].some((id) => ids.includes(id)) ||
          route.operation === 'list-versions'
        expect(listed).toBe(expected !== ABSENT)
      }
      if (expected !== 204)
        expect((await org.getExecution(executionId)).feedback?.rating).toBe(ratingOf(route, expected))
    })
  })
}

/** What the execution shows afterwards: only a permitted request changed it. */
const ratingOf = ({ operation: name }: Route, expected: Expected | undefined) =>
  name === 'give-feedback' && expected === 200 ? 1 : undefined
