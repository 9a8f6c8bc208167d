import { expect } from 'vitest'
import { problemRecord } from '../../lib/contract/records/records.ts'
import { apiRoutes, getOperation, type OperationName } from '../../lib/contract/routes.ts'
import { ERRORS, type ErrorCode } from '../../lib/core/errors.ts'
import { system } from '../../lib/system.ts'
import { modernRequest } from '../mcp/messages.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { storeDelivery } from '../support/notifications/a-webhook.ts'
import {
  type ApiClient,
  type ApiResponse,
  getExecutionId,
  type RequestOptions,
  waitForEnd,
} from '../support/service/client.ts'

/** The operations of the contract. */
export const contractOperations = [...new Set(apiRoutes.map(({ operation }) => operation))]

/** What a path parameter stands for. A new one needs a value in `newWorld`. */
export type Ids = Record<PathParameter, string>
type PathParameter =
  | `${'agent' | 'version' | 'execution' | 'other' | 'approval' | 'webhook' | 'delivery'}Id`
  | `${'batch' | 'trial' | 'tenant' | 'token'}Id`
  | 'scheduleName'
  | 'name'
  | 'mac'

/** Of a missing resource: whatever else the path names exists. */
export const missingIds = (ids: Ids): Ids => ({
  ...ids,
  ...{ agentId: system.newId(), executionId: system.newId(), versionId: system.newId() },
  ...{ webhookId: system.newId(), batchId: system.newId(), trialId: system.newId() },
  ...{ tokenId: system.newId(), tenantId: `missing-${system.newId()}` },
})

type Example = RequestOptions & { query?: string }

/** A code agent whose name and behaviour do not matter. */
const documentOf = (slug: string) => `---
title: Published
slug: ${slug}
input: { text: { type: string } }
output: { text: { type: string } }
---
Repeat the text.
`

const OF_TENANT = { query: '?tenantId=acme' }

/** What a successful request has beside its path. Lists and runs name the tenant. */
const EXAMPLES: Partial<Record<OperationName, Example | ((ids: Ids) => Example)>> = {
  'serve-mcp': modernRequest('tools/list'),
  'list-agents': { query: '?limit=100' },
  'publish-agent': { body: { document: documentOf('published') } },
  'put-rollout': ({ versionId }) => ({ body: { versionId, percent: 20 } }),
  'run-agent': { query: '?tenantId=acme', body: { text: 'x' } },
  'list-agent-executions': OF_TENANT,
  'list-executions': OF_TENANT,
  'list-approvals': OF_TENANT,
  'list-batches': OF_TENANT,
  'get-usage': OF_TENANT,
  'get-scores': OF_TENANT,
  'get-agreement': OF_TENANT,
  'rerun-execution': { body: {} },
  'decide-approval': { body: { decision: 'approve' } },
  'start-batch': { query: '?tenantId=acme', body: [{ customId: 'a', input: { text: 'x' } }] },
  'start-trial': { body: { limit: 1 } },
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

export function exampleOf(name: OperationName, ids: Ids): Example {
  const example = EXAMPLES[name] ?? {}
  return typeof example === 'function' ? example(ids) : example
}

/** Operations whose body an example lacks. */
export const withoutExample = () =>
  contractOperations.filter((name) => getOperation(name).body && !EXAMPLES[name])

export const pathOf = (path: string, ids: Ids): string =>
  path.replace(/\{(\w+)\}/g, (_, name: PathParameter) => {
    if (ids[name] === undefined) throw new Error(`test/contract/world.ts has no value for {${name}}.`)
    return ids[name]
  })

/** Sends the example of an operation, by default to its own path. */
export function send(
  client: ApiClient,
  name: OperationName,
  ids: Ids,
  changes: Example & { path?: string } = {},
) {
  const { method, path } = getOperation(name)
  const { query = '', ...options } = { ...exampleOf(name, ids), ...changes }
  return client(method, pathOf(changes.path ?? path, ids) + query, options)
}

export type World = { org: TestOrganization; other: TestOrganization; ids: Ids; fresh: Fresh }

/** The IDs of something that only this request changes. */
type Fresh = (name: OperationName) => Promise<Ids>

/** An organization with one of everything, and another one with nothing but an agent of the same name. */
export async function newWorld(): Promise<World> {
  const [org, other] = [await newOrganization(), await newOrganization()]
  const { call } = org
  const { agentId, id: versionId } = await org.publish('echo')
  for (const slug of ['counted', 'waits', 'asks']) await org.publish(slug)
  for (const each of [org, other])
    await each.call('POST', '/v1/agents', { body: { document: documentOf('published') } })

  let count = 0
  const change = (method: string) => async (path: string, body: unknown) => {
    const { status, json, text } = await call(method, path, { body })
    expect(status, text).toBeLessThan(300)
    return json
  }
  const [post, put] = [change('POST'), change('PUT')]
  const make = {
    execution: async () => getExecutionId(await org.run('echo', { text: 'secret' }, 'tenantId=acme')),
    ofExecution: async () => ({ executionId: await make.execution() }),
    waiting: async () => getExecutionId(await org.run('waits', { signal: 'go' }, 'tenantId=acme')),
    approval: async () => {
      const response = await org.run('asks', {}, 'tenantId=acme')
      const approvalId = String(response.json.waitingFor[0].id)
      return { executionId: getExecutionId(response), approvalId }
    },
    // Nothing listens there.
    webhook: async (): Promise<string> => {
      const body = { url: 'http://127.0.0.1:1/', allowedHosts: ['127.0.0.1:1'], agents: ['echo'] }
      return (await post('/v1/webhooks', body)).id
    },
    schedule: async () => {
      const scheduleName = `schedule-${++count}`
      const body = { cron: '@daily', input: { text: 'x' } }
      await put(`/v1/agents/echo/schedules/${scheduleName}`, body)
      return scheduleName
    },
    tenant: async () => {
      const tenantId = `tenant-${++count}`
      await put(`/v1/tenants/${tenantId}/limits`, { warnAt: 0.5 })
      return tenantId
    },
    batch: async (): Promise<string> => {
      const body = [{ customId: 'a', input: { text: 'x' } }]
      const { id } = await post('/v1/agents/echo/batches?tenantId=acme', body)
      await waitForEnd(call, `/v1/batches/${id}`)
      return id
    },
    cancelledBatch: async (): Promise<string> => {
      const body = [{ customId: 'a', input: { signal: 'go' } }]
      const { id } = await post('/v1/agents/waits/batches?tenantId=acme', body)
      await post(`/v1/batches/${id}/cancel`, undefined)
      await waitForEnd(call, `/v1/batches/${id}`)
      return id
    },
    trial: async (): Promise<string> => {
      const { id } = await post(`/v1/agents/echo/versions/${versionId}/trials`, { limit: 1 })
      await waitForEnd(call, `/v1/trials/${id}`)
      return id
    },
    token: async (): Promise<string> =>
      (await post('/v1/tokens', { name: 'theirs', agents: ['echo'], tenantId: 'acme' })).id,
    draft: async () => {
      const body = { document: documentOf(`agent-${++count}`), draft: true }
      const { documentId, id } = await post('/v1/agents', body)
      return { agentId: documentId, versionId: id }
    },
    rollout: async () => {
      const document = documentOf(`agent-${++count}`)
      await post('/v1/agents', { document })
      const draft = { document: document.replace('Repeat', 'Return'), draft: true }
      const { documentId, id } = await post('/v1/agents', draft)
      await put(`/v1/agents/${documentId}/rollout`, { versionId: id, percent: 10 })
      return { agentId: documentId, versionId: id }
    },
    limits: async () => {
      const draft = await make.draft()
      await put(`/v1/agents/${draft.agentId}/limits`, { warnAt: 0.5 })
      return draft
    },
  }

  const executionId = await make.execution()
  const { approvalId } = await make.approval()
  const webhookId = await make.webhook()
  for (const path of ['/v1/tenants/acme', '/v1/agents/echo']) await put(`${path}/limits`, { warnAt: 0.5 })
  const delivery = { organizationId: org.id, executionId, destinationId: webhookId }
  const ids: Ids = {
    ...{ agentId, versionId, executionId, otherId: executionId, approvalId, webhookId },
    ...{ deliveryId: await storeDelivery(delivery), scheduleName: await make.schedule() },
    ...{ batchId: await make.batch(), trialId: await make.trial(), tokenId: await make.token() },
    ...{ tenantId: 'acme', name: 'go', mac: 'guessed' },
  }

  const own: Partial<Record<OperationName, () => Promise<Partial<Ids>>>> = {
    'archive-agent': make.draft,
    'restore-agent': make.draft,
    'promote-version': make.draft,
    'delete-version': make.draft,
    'retire-version': make.draft,
    'unretire-version': make.draft,
    'put-rollout': make.rollout,
    'get-rollout': make.rollout,
    'delete-rollout': make.rollout,
    'delete-agent-limits': make.limits,
    'put-tenant-limits': async () => ({ tenantId: `tenant-${++count}` }),
    'delete-tenant-limits': async () => ({ tenantId: await make.tenant() }),
    'cancel-execution': make.ofExecution,
    'delete-execution': make.ofExecution,
    'give-feedback': make.ofExecution,
    'list-agent-executions': make.ofExecution,
    'list-executions': make.ofExecution,
    'send-signal': async () => ({ executionId: await make.waiting() }),
    'list-approvals': make.approval,
    'decide-approval': make.approval,
    'delete-webhook': async () => ({ webhookId: await make.webhook() }),
    'delete-schedule': async () => ({ scheduleName: await make.schedule() }),
    'retry-batch': async () => ({ batchId: await make.cancelledBatch() }),
    'delete-batch': async () => ({ batchId: await make.batch() }),
    'delete-trial': async () => ({ trialId: await make.trial() }),
    'revoke-token': async () => ({ tokenId: await make.token() }),
  }
  return { org, other, ids, fresh: async (name) => ({ ...ids, ...(await own[name]?.()) }) }
}

/** Errors that any operation can answer with. */
const COMMON: ErrorCode[] = [
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'MethodNotAllowed',
  'RouteNotFound',
  'InvalidQueryParameter',
  'PayloadTooLarge',
]

/** The response is problem details with this code, which the contract of the operation names. */
export function expectProblem(response: ApiResponse, code: ErrorCode, name?: OperationName): void {
  const { status, json, headers, text } = response
  expect([status, json?.code], text).toEqual([ERRORS[code].status, code])
  expect(json).toMatchObject({ status, title: ERRORS[code].title })
  expect(problemRecord.safeParse(json).error).toBeUndefined()
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(json.instance).toBe(headers.get('x-amzn-requestid'))
  expect(text.length).toBeLessThan(2_000)
  const declared = (name && getOperation(name).errors) ?? []
  const codes = declared.map((error) => (typeof error === 'string' ? error : error.code))
  if (name && !COMMON.includes(code)) expect(codes, `the errors of ${name} in routes.ts`).toContain(code)
}

/** The response without the request ID and the date. */
export const comparable = ({ status, text, json, headers }: ApiResponse) => [
  status,
  text.replaceAll(json?.instance ?? '', ''),
  [...headers].filter(([name]) => name !== 'date' && name !== 'x-amzn-requestid'),
]
