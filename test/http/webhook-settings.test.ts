import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { OperationName } from '../../lib/contract/routes.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import type { Call } from '../fixtures/captured-events.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { localCall } from '../support/service/local-handlers.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const callAs = localCall()
const URL = 'https://receiver.example/events?key=1'

const own = await organizationWith('echo')
beforeAll(() => {
  vi.stubEnv('EXECUTION_RETENTION_DAYS', '4')
  // Functions read it when they are loaded, which another file of this process may have done, or do later.
  vi.resetModules()
})
afterAll(() => void vi.resetModules())
beforeEach(() => void vi.stubEnv('WEBHOOK_URLS', 'on'))

/** Calls an operation with the settings of this process. */
async function call(name: OperationName, options: Partial<Call>, organizationId = own.id) {
  const ids = { agentId: 'echo', webhookId: 'default' }
  const { status, json, headers } = await callAs(name, { ...ids, ...options, organizationId })
  return { status, json, id: String(headers?.['X-Execution-Id']) }
}

const run = (webhookUrl: string, options: Partial<Call> = {}, organizationId = own.id) =>
  call('run-agent', { query: { webhookUrl }, body: { text: 'a' }, ...options }, organizationId)

it('POST /v1/webhooks is 400 where executions are deleted before their events are', async () => {
  const { status, json } = await call('create-webhook', { body: { url: URL } })
  expect([status, json.code]).toEqual([400, 'BadRequest'])
  expect(json.detail).toContain('executionRetentionDays to be at least 5')
})

it('a webhook whose address is not public is 422 and gets nothing, unless operators name its host', async () => {
  vi.stubEnv('EXECUTION_RETENTION_DAYS', undefined)
  const body = { url: 'http://127.0.0.1:1/', allowedHosts: ['127.0.0.1:1'] }
  vi.stubEnv('WEBHOOK_HOSTS', '')
  const { status, json } = await own.call('POST', '/v1/webhooks', { body })
  expect([status, json.url]).toEqual([201, body.url])
  const changed = await call('update-webhook', { webhookId: json.id, body })
  expect([changed.status, changed.json.errors[0].path]).toEqual([422, '/url'])
  expect(changed.json.errors[0].message).toContain('setting webhookHosts')
  const { json: result } = await call('test-webhook', { webhookId: json.id })
  expect(result).toMatchObject({ delivered: false, error: expect.stringContaining('webhookHosts') })
})

describe('webhookUrl', () => {
  beforeAll(async () => {
    expect((await call('rotate-webhook', {})).status).toBe(200)
  })

  it('is stored, and not shown', async () => {
    const storedUrlOf = async (id: string) =>
      (await executionStore(sharedTable()).get({ organizationId: own.id, id }))?.webhookUrl
    const { status, id } = await run(URL)
    expect(status).toBe(200)
    expect(await storedUrlOf(id)).toBe(URL)
    const { text } = await own.call('GET', `/v1/agent_executions/${id}`)
    expect(text).not.toContain('receiver.example')
    const without = await call('run-agent', { body: { text: 'a' } })
    expect(await storedUrlOf(without.id)).toBeNull()
  })

  it('is 400 unless the setting is on', async () => {
    vi.stubEnv('WEBHOOK_URLS', undefined)
    const { status, json } = await run(URL)
    expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
    expect(json.detail).toContain('webhookUrls=true')
  })

  it('is 400 without a default secret', async () => {
    const other = await organizationWith('echo')
    const { status, json } = await run(URL, {}, other.id)
    expect([status, json.errors[0].path]).toEqual([400, 'webhookUrl'])
    expect(json.detail).toContain('POST /v1/webhooks/default/rotate')
  })

  it.each([
    [`https://receiver.example/${'x'.repeat(2_048)}`, /at most 2048/],
    ['http://receiver.example/', /must start with https:\/\/\.$/],
    ['https://127.0.0.1/', /must not use a non-public address\.$/],
    ['https://user:password@receiver.example/', /user name or password/],
  ])('is 400 if it is %j', async (url, message) => {
    const { status, json } = await run(url)
    expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
    expect(json.errors[0].message).toMatch(message)
  })
})
