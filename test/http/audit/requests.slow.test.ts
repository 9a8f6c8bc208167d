import type { APIGatewayProxyResult } from 'aws-lambda'
import { afterAll, beforeAll, beforeEach, expect, inject, it, vi } from 'vitest'
import { getOperation, type OperationName, operationNames } from '../../../lib/contract/routes.ts'
import { toGatewayEvent } from '../../fixtures/captured-events.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { type Fault, inject as injectFault } from '../../support/proxy/faults.ts'
import { type HttpProxy, startProxy } from '../../support/proxy/start-proxy.ts'
import { getExecutionId } from '../../support/service/client.ts'
import { localHandlers } from '../../support/service/local-handlers.ts'

const handlers = localHandlers()
let own: TestOrganization
let proxy: HttpProxy
let queue: HttpProxy
let versionId: string

beforeAll(async () => {
  own = await newOrganization()
  versionId = (await own.publish('echo')).id
  proxy = await startProxy(inject('dynamodb'))
  queue = await startProxy('http://127.0.0.1:1')
  vi.stubEnv('DYNAMODB_ENDPOINT', proxy.url)
  vi.stubEnv('SQS_ENDPOINT', queue.url)
  // Functions read it when they are loaded.
  vi.resetModules()
})
afterAll(async () => {
  await Promise.all([proxy.stop(), queue.stop()])
  vi.resetModules()
})

/** Operations on the table with the prefix of their keys, in their order. */
let sent: string[] = []
let fault: Fault | null = null
beforeEach(() => {
  fault = null
  sent = []
  proxy.use(
    injectFault(({ operation, body }) => {
      const { Item, Key, RequestItems, ExpressionAttributeValues } = JSON.parse(String(body))
      const key = Item?.pk?.S ?? Key?.pk?.S ?? ''
      const read = RequestItems || ExpressionAttributeValues ? '' : key
      const name = `${operation} ${(key || read).replace(/#.*/s, '#')}`.trim()
      sent.push(name)
      return name.includes('AUDIT') ? fault : null
    }),
  )
})

type Call = Partial<Parameters<typeof toGatewayEvent>[1]>

async function call(name: OperationName, options: Call) {
  const event = toGatewayEvent(name, { organizationId: own.id, ...options })
  const handler = handlers[name] as (event: object, context: object) => Promise<unknown>
  const { statusCode, body } = (await handler(event, {})) as APIGatewayProxyResult
  return { status: statusCode, json: body && JSON.parse(body) }
}

const DOCUMENT = `---
title: Mine
slug: mine
input: { text: { type: string } }
output: { text: { type: string } }
---
Repeat the text.
`
const mine = { agentId: 'mine' }
const draft = async () => {
  const body = { document: DOCUMENT.replace('Repeat', `Return ${crypto.randomUUID()}`), draft: true }
  return { ...mine, versionId: (await call('publish-agent', { body })).json.id }
}
const newWebhook = async () => ({
  webhookId: (await call('create-webhook', { body: { url: 'https://hooks.example' } })).json.id,
})
const url = { url: 'https://hooks.example' }

/** How each recorded operation is called, in an order in which it succeeds. */
const CALLS: Partial<Record<OperationName, () => Call | Promise<Call>>> = {
  'publish-agent': () => ({ body: { document: DOCUMENT } }),
  'archive-agent': () => mine,
  'restore-agent': () => mine,
  'delete-version': draft,
  'promote-version': draft,
  'retire-version': draft,
  'unretire-version': draft,
  'put-rollout': async () => {
    const { versionId } = await draft()
    return { ...mine, body: { versionId, percent: 10 } }
  },
  'delete-rollout': () => mine,
  'delete-execution': async () => ({
    executionId: getExecutionId(await own.run('echo', { text: 'x' })),
  }),
  'give-feedback': async () => ({
    executionId: getExecutionId(await own.run('echo', { text: 'x' })),
    body: { rating: 1 },
  }),
  'create-webhook': () => ({ body: url }),
  'update-webhook': async () => ({ ...(await newWebhook()), body: { enabled: false } }),
  'rotate-webhook': newWebhook,
  'delete-webhook': newWebhook,
  'put-tenant-limits': () => ({ tenantId: 'acme', body: { warnAt: 0.5 } }),
  'delete-tenant-limits': () => ({ tenantId: 'acme' }),
  'put-agent-limits': () => ({ ...mine, body: { warnAt: 0.5 } }),
  'delete-agent-limits': () => mine,
  'put-schedule': () => ({ ...mine, scheduleName: 'daily', body: { cron: '@daily', input: { text: 'x' } } }),
  'run-schedule': () => ({ ...mine, scheduleName: 'daily' }),
  'delete-schedule': () => ({ ...mine, scheduleName: 'daily' }),
  // They fail, because there are none.
  'decide-approval': () => ({ executionId: versionId, approvalId: 'a', body: { decision: 'approve' } }),
  'cancel-execution': () => ({ executionId: versionId }),
  'cancel-batch': () => ({ batchId: versionId }),
  'delete-batch': () => ({ batchId: versionId }),
  'start-trial': () => ({ ...mine, versionId: own.id, body: {} }),
  'cancel-trial': () => ({ trialId: versionId }),
  'delete-trial': () => ({ trialId: versionId }),
  'test-webhook': () => ({ webhookId: versionId }),
  redeliver: () => ({ webhookId: versionId, deliveryId: `${versionId}.completed` }),
}
const failing = Object.keys(CALLS).slice(Object.keys(CALLS).indexOf('decide-approval'))

const recorded = operationNames.filter((name) => getOperation(name).audit)

it('has a call of every recorded operation', () => {
  expect(Object.keys(CALLS).sort()).toEqual(recorded.filter((name) => !name.endsWith('-token')).sort())
})

const AUDIT = ['PutItem AUDIT#', 'UpdateItem AUDIT#']

it.each(Object.keys(CALLS) as OperationName[])(
  '%s has 2 requests more: one before its writes, and one after them',
  async (name) => {
    const options = await CALLS[name]?.()
    sent = []
    const { status } = await call(name, options ?? {})
    expect(status < 300, `${status}`).toBe(!failing.includes(name))
    expect(sent.filter((each) => each.includes('AUDIT'))).toEqual(AUDIT)
    const writes = sent.filter((each) => /^(Put|Update|Delete|BatchWrite)/.test(each))
    expect([writes[0], writes.at(-1)]).toEqual(AUDIT)
    expect(sent.at(-1)).toBe(AUDIT[1])
    // The execution of a schedule is sent to the runner.
    expect(queue.counts.requests > 0).toBe(name === 'run-schedule')
    queue.counts.requests = 0
  },
)

it.each(Object.keys(CALLS) as OperationName[])('%s writes nothing if it cannot be recorded', async (name) => {
  const options = await CALLS[name]?.()
  sent = []
  fault = 'reject'
  expect(await call(name, options ?? {})).toMatchObject({ status: 503, json: { code: 'Unavailable' } })
  const others = sent.filter((each) => /^(Put|Update|Delete|BatchWrite)/.test(each) && each !== AUDIT[0])
  expect(others).toEqual([])
})

it('does not record requests that are rejected before', async () => {
  const limits = { scopes: 'read' }
  expect((await call('archive-agent', { ...mine, limits })).status).toBe(403)
  expect((await call('archive-agent', { ...mine, limits: { agents: 'echo' } })).status).toBe(404)
  expect((await call('put-tenant-limits', { tenantId: 'a', limits: { tenantId: 'acme' } })).status).toBe(403)
  expect((await call('archive-agent', { ...mine, query: { unknown: '1' } })).status).toBe(400)
  expect(sent).toEqual([])
})
