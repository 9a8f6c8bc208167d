import { describe, expect, it } from 'vitest'
import type { OperationName } from '../../../lib/contract/routes.ts'
import type { AuditEntry } from '../../../lib/core/audit.ts'
import { auditStore } from '../../../lib/dynamodb/audit-store.ts'
import { AUDIT_PARTITIONS, auditPartition } from '../../../lib/dynamodb/table/keys.ts'
import type { Call } from '../../fixtures/captured-events.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { localCall } from '../../support/service/local-handlers.ts'
import { organizationWith } from '../../support/service/organization-with.ts'
import { itemsIn } from '../../support/tables/items-in.ts'

const callAs = localCall()
const own = await organizationWith('echo')

type Identity = { sourceIp?: string; userAgent?: string | undefined }

/** @returns the status */
const call = async (name: OperationName, options: Partial<Call>, identity?: Identity) =>
  (await callAs(name, { organizationId: own.id, ...options }, identity)).status

/** The items of the audit log, as they are stored. */
async function storedText(): Promise<string> {
  const partitions = Array.from({ length: AUDIT_PARTITIONS }, (_, number) => auditPartition(own.id, number))
  return JSON.stringify(await Promise.all(partitions.map((pk) => itemsIn(sharedTable(), pk))))
}

const newest = async (): Promise<AuditEntry | undefined> =>
  (await auditStore(sharedTable()).list({ organizationId: own.id, limit: 1, after: null })).items[0]

const SECRET = 'hunter2'
const INPUT = { text: SECRET }
const URL_WITH_SECRETS = `https://hooks.example/${SECRET}?key=${SECRET}`
const SCHEDULE = { agentId: 'echo', scheduleName: 'daily' }
const APPROVAL = { executionId: crypto.randomUUID(), approvalId: 'a' }
const LIMITS = { warnAt: 0.5, [SECRET]: 1, maxCostUsd: { [SECRET]: SECRET } }
const DOCUMENT = `---\nslug: mine\n---\n${SECRET}`

/** Requests that contain the secret wherever a client may have put one. The status is that of the response. */
const REQUESTS: [string, OperationName, number, Partial<Call>][] = [
  ['the path and the query of a URL', 'create-webhook', 201, { body: { url: URL_WITH_SECRETS } }],
  ['a path', 'rotate-webhook', 404, { webhookId: `aes_${SECRET}${SECRET}` }],
  ['the input of a schedule', 'put-schedule', 201, { ...SCHEDULE, body: { cron: '@daily', input: INPUT } }],
  [
    'the note and the input of an approval',
    'decide-approval',
    404,
    { ...APPROVAL, body: { decision: 'approve', note: SECRET, input: INPUT } },
  ],
  ['limits', 'put-tenant-limits', 422, { tenantId: 'acme', body: LIMITS }],
  ['an agent', 'publish-agent', 422, { body: { document: DOCUMENT, code: SECRET, message: SECRET } }],
]

describe('entries of the audit log', () => {
  it.each(REQUESTS)('do not have secrets of %s', async (_, name, status, options) => {
    expect(await call(name, options)).toBe(status)
    const stored = await storedText()
    expect(stored).toContain(own.id)
    expect(stored).not.toContain(SECRET)
    expect(await newest()).toMatchObject({ result: status < 400 ? 'SUCCEEDED' : 'FAILED' })
  })

  it('are small, whatever is sent', async () => {
    const body = {
      url: `https://${'a'.repeat(200_000)}.example`,
      types: Array(50_000).fill('x'.repeat(100)),
      agents: Array(50).fill('\u0000'.repeat(1_000)),
      tenants: Array(50).fill('🔑'.repeat(1_000)),
      enabled: { nested: Array(1_000).fill(1) },
    }
    expect(await call('create-webhook', { body })).toBe(422)
    expect(JSON.stringify(await newest()).length).toBeLessThan(6_000)
  })
})

describe('the agent of a publication that fails', () => {
  const slugFor = async (body: object) => {
    expect(await call('publish-agent', { body })).toBe(422)
    return (await newest())?.changes.slug
  }

  it.each([
    ['an example in the instructions', '---\ntitle: 1\n---\nFor example:\n\nslug: other\n', 'mine'],
    ['one without an end', '---\nslug: other\n', 'mine'],
    ['a long one', `---\ntitle: 1\nrole: ${'x'.repeat(30_000)}\nslug: own\n---\n`, 'own'],
    ['line breaks of Windows', '---\r\ntitle: 1\r\nslug: "own"\r\n---\r\nslug: other\r\n', 'own'],
  ])('is that of its front matter, otherwise that of the request: %s', async (_, document, slug) => {
    expect(await slugFor({ document, slug: 'mine' })).toBe(slug)
  })
})

describe('the source of an entry', () => {
  const archive = (identity?: Identity, headers?: Record<string, string>) =>
    call('archive-agent', { agentId: 'missing', ...(headers && { headers }) }, identity)

  it('is what API Gateway knows of the connection', async () => {
    await archive({ sourceIp: '2001:db8::1', userAgent: 'curl/8' })
    expect((await newest())?.source).toEqual({ interface: 'HTTP', ip: '2001:db8::1', userAgent: 'curl/8' })
  })

  it('is not what a client claims', async () => {
    const ip = '198.51.100.1'
    const headers = { 'X-Forwarded-For': ip, Forwarded: `for=${ip}`, 'X-Real-IP': ip }
    await archive({ sourceIp: '203.0.113.9', userAgent: undefined }, { ...headers, 'User-Agent': 'other' })
    expect((await newest())?.source).toEqual({ interface: 'HTTP', ip: '203.0.113.9' })
  })

  it('has a user agent of 200 characters at most, on one line', async () => {
    await archive({ userAgent: `a\r\nb\u0000c\u202ed\u2028e\u{e0041}f\ud800${'x'.repeat(5_000)}` })
    const { userAgent = '' } = (await newest())?.source ?? {}
    expect(userAgent).toHaveLength(200)
    expect(userAgent).toMatch(/^a b c d e f.x+…$/u)
    expect(userAgent.isWellFormed()).toBe(true)
  })
})
