import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { hashToken } from '../../lib/access/tokens.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import { agentKey, tokenKey } from '../../lib/dynamodb/table/keys.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiResponse, createClient } from '../support/service/client.ts'
import { type Service, startService } from '../support/service/start-service.ts'

/** The timeout of the functions that only read. */
const LIMIT_MS = 10_000

/** DynamoDB behind a relay that, once silent, accepts reads of single items but the known token, and never responds. */
async function startRelay(knownHash: string) {
  let isSilent = false
  const attempts = new Map<string, number>()
  const server: Server = createServer(async (request, response) => {
    const body = await buffer(request)
    const isRead = String(request.headers['x-amz-target']).endsWith('.GetItem')
    if (isSilent && isRead && !String(body).includes(knownHash)) {
      const partition = JSON.parse(String(body)).Key.pk.S
      attempts.set(partition, (attempts.get(partition) ?? 0) + 1)
      return
    }
    const { host, connection, 'content-length': length, ...headers } = request.headers
    const upstream = await fetch(inject('dynamodb'), {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: new Uint8Array(body),
    })
    response.writeHead(upstream.status, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(Buffer.from(await upstream.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Reads of an item's partition; the runner may read others, of runs that other tests left in the table. */
    attempts: (partition: string) => attempts.get(partition),
    silence: (silent: boolean) => {
      isSilent = silent
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('a DynamoDB endpoint that never responds', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'aes-unavailable-'))
  let relay: Awaited<ReturnType<typeof startRelay>>
  let own: TestOrganization
  let service: Service

  beforeAll(async () => {
    own = await newOrganization()
    await own.publish('redact-pii')
    await own.publish('wait')
    relay = await startRelay(hashToken(own.token))
    service = await startService({ dataDir, environment: { DYNAMODB_ENDPOINT: relay.url } })
  })
  afterAll(async () => {
    await service?.kill()
    relay?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('is 503 Unavailable within 10 s, and the service recovers', async () => {
    const call = createClient(service.url, own.token)
    const stranger = createClient(service.url, 'aes_another')
    relay.silence(true)
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
    expect(read.map(relay.attempts)).toEqual([3, 3, 3])

    relay.silence(false)
    expect(await call('GET', '/v1/agents/wait')).toMatchObject({ status: 200 })
    const run = await call('POST', '/v1/agents/redact-pii/executions', { body: { content: 'x' } })
    expect(run).toMatchObject({ status: 200 })
    expect(await stranger('GET', '/v1/agents')).toMatchObject({ status: 401 })
  })
})
