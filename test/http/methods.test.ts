import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiClient, createClient, getExecutionId } from '../support/service/client.ts'

let org: TestOrganization
let anonymous: ApiClient
let executionId: string

beforeAll(async () => {
  org = await newOrganization()
  anonymous = createClient(inject('service'), null)
  await org.publish('echo')
  executionId = getExecutionId(await org.run('echo', { text: 'a' }))
})

describe('HEAD', () => {
  it.each([
    ['/v1/healthcheck', 200],
    ['/v1/agents/', 200],
    ['/v1/documents/echo', 200],
    ['/v1/agents/none', 404],
    ['/v1/agent_executions?limit=0', 400],
  ])('of %s behaves like GET, without a body', async (path, status) => {
    const [head, get] = await Promise.all([org.call('HEAD', path), org.call('GET', path)])
    expect([head.status, get.status]).toEqual([status, status])
    expect(head.text).toBe('')
    for (const name of ['content-type', 'content-length', 'cache-control', 'link'])
      expect(head.headers.get(name), name).toBe(get.headers.get(name))
  })

  it('requires a token where GET does', async () => {
    expect((await anonymous('HEAD', '/v1/agents')).status).toBe(401)
  })
})

describe('a method that a path does not support', () => {
  it.each([
    ['PUT', '/v1/agents', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/agents/', 'GET, HEAD, POST'],
    ['PATCH', '/v1/agents/echo/executions', 'GET, HEAD, POST'],
    ['HEAD', '/v1/agent_executions/{id}/cancel', 'POST'],
    ['POST', '/v1/document_executions/{id}', 'DELETE, GET, HEAD'],
    ['DELETE', '/v1/openapi.json', 'GET, HEAD'],
  ])('is 405 with the supported methods in Allow: %s %s', async (method, path, allow) => {
    const response = await org.call(method, path.replace('{id}', executionId))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allow)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    if (method !== 'HEAD')
      expect(response.json).toMatchObject({
        code: 'MethodNotAllowed',
        status: 405,
        title: 'Method not allowed',
      })
  })

  it('requires a token unless the path is public', async () => {
    expect((await anonymous('PUT', '/v1/agents')).status).toBe(401)
    expect((await anonymous('PUT', '/v1/healthcheck')).status).toBe(405)
    expect((await anonymous('PUT', '/v1/nowhere')).status).toBe(404)
  })
})

describe('GET /v1/openapi.json', () => {
  it.each(['/v1/openapi.json', '/v1/openapi.json/'])(
    '%s returns the document without a token',
    async (path) => {
      const { status, headers, json } = await anonymous('GET', path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/json')
      const file = JSON.parse(readFileSync('openapi.json', 'utf8'))
      expect(json).toEqual({ ...file, servers: [{ url: '/' }] })
    },
  )
})

describe('CORS', () => {
  it('is off without CORS_ORIGINS', async () => {
    const { headers } = await org.call('GET', '/v1/agents', { headers: { Origin: 'https://a.example' } })
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})
