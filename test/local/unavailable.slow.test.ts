import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { hashToken } from '../../lib/access/tokens.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import { agentKey, tokenKey } from '../../lib/dynamodb/table/keys.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { inject as injectFault } from '../support/proxy/faults.ts'
import { startProxy } from '../support/proxy/start-proxy.ts'
import { type ApiResponse, createClient } from '../support/service/client.ts'
import { type Service, startService } from '../support/service/start-service.ts'

/** The timeout of the functions that only read. */
const LIMIT_MS = 10_000

/** DynamoDB behind a proxy that, once silent, accepts reads of single items but the known token, and never responds. */
async function startTable(knownHash: string) {
  const attempts = new Map<string, number>()
  const proxy = await startProxy(inject('dynamodb'))
  const silence = injectFault(({ operation, body }) => {
    if (operation !== 'GetItem' || body.includes(knownHash)) return null
    const partition = JSON.parse(String(body)).Key.pk.S
    attempts.set(partition, (attempts.get(partition) ?? 0) + 1)
    return 'hang'
  })
  return {
    ...proxy,
    /** Reads of an item's partition; the runner may read others, of runs that other tests left in the table. */
    attempts: (partition: string) => attempts.get(partition),
    silence: (isSilent: boolean) => proxy.use(...(isSilent ? [silence] : [])),
  }
}

describe('a DynamoDB endpoint that never responds', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'aes-unavailable-'))
  let table: Awaited<ReturnType<typeof startTable>>
  let own: TestOrganization
  let service: Service

  beforeAll(async () => {
    own = await newOrganization()
    await own.publish('redact-pii')
    await own.publish('wait')
    table = await startTable(hashToken(own.token))
    service = await startService({ dataDir, environment: { DYNAMODB_ENDPOINT: table.url } })
  })
  afterAll(async () => {
    await service?.kill()
    await table?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('is 503 Unavailable within 10 s, and the service recovers', async () => {
    const call = createClient(service.url, own.token)
    const stranger = createClient(service.url, 'aes_another')
    table.silence(true)
    const startedAt = performance.now()
    const responses: ApiResponse[] = await Promise.all([
      call('GET', '/v1/agents/wait'),
      call('POST', '/v1/agents/redact-pii/executions', { body: { content: 'x' } }),
      stranger('GET', '/v1/agents'),
    ])
    expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS)
    for (const { status, headers, json } of responses) {
      expect({ status, code: json.code, retryAfter: headers.get('retry-after') }).toEqual({
        status: 503,
        code: 'Unavailable',
        retryAfter: '1',
      })
    }
    const agentIds = ['wait', 'redact-pii'].map((slug) => agentIdOf(own.id, slug))
    const read = [...agentIds.map(agentKey), tokenKey(hashToken('aes_another'))].map(({ pk }) => pk)
    expect(read.map(table.attempts)).toEqual([3, 3, 3])

    table.silence(false)
    expect(await call('GET', '/v1/agents/wait')).toMatchObject({ status: 200 })
    const run = await call('POST', '/v1/agents/redact-pii/executions', { body: { content: 'x' } })
    expect(run).toMatchObject({ status: 200 })
    expect(await stranger('GET', '/v1/agents')).toMatchObject({ status: 401 })
  })
})
