import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { createClient } from '../support/service/client.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
const CORS_ORIGINS = 'https://app.example, http://localhost:5173'
let service: Service
let org: TestOrganization

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  const environment = { DYNAMODB_ENDPOINT: inject('dynamodb'), CORS_ORIGINS }
  service = await services.start(services.newFolder(), environment)
})

const from = (Origin: string, more: Record<string, string> = {}) => ({ headers: { Origin, ...more } })

describe('CORS_ORIGINS', () => {
  it.each(CORS_ORIGINS.split(', '))('answers a preflight request from %s without a token', async (origin) => {
    const response = await createClient(service.url, null)(
      'OPTIONS',
      '/v1/agents/echo/executions/',
      from(origin, { 'Access-Control-Request-Method': 'POST' }),
    )
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers':
        'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
      'access-control-max-age': '7200',
      vary: 'Origin',
    })
  })

  it('lets pages of these origins read responses and their headers', async () => {
    const call = createClient(service.url, org.token)
    const run = await call('POST', '/v1/agents/echo/executions', {
      body: { text: 'a' },
      ...from('https://app.example'),
    })
    expect(run.status).toBe(200)
    expect(run.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(run.headers.get('access-control-expose-headers')).toContain('X-Execution-Id')
    expect(run.headers.get('vary')).toBe('Origin')
  })

  it('allows no other origin', async () => {
    const call = createClient(service.url, org.token)
    const preflight = from('https://other.example', { 'Access-Control-Request-Method': 'GET' })
    for (const response of [
      await call('GET', '/v1/agents', from('https://other.example')),
      await call('GET', '/v1/agents'),
      await call('OPTIONS', '/v1/agents', preflight),
    ])
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})
