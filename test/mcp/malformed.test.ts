import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { createClient, type RequestOptions } from '../support/service/client.ts'
import { LEGACY_HEADERS, modernRequest, parseMessages, toMessage } from './messages.ts'

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
})

const post = async (options: RequestOptions, call = org.call) => {
  const response = await call('POST', '/v1/mcp', options)
  return { ...response, message: parseMessages(response.text || '{}').at(-1) }
}

const CALL = { name: 'echo', arguments: { text: 'x' } }
const modern = (headers: Record<string, string | undefined>, method = 'tools/call', params = CALL) => {
  const request = modernRequest(method, params)
  const given = Object.entries({ ...request.headers, ...headers }).filter(([, value]) => value !== undefined)
  return { ...request, headers: Object.fromEntries(given) as Record<string, string> }
}
const legacy = (body: unknown, headers: Record<string, string> = {}) => ({
  body,
  headers: { ...LEGACY_HEADERS, ...headers },
})
const raw = (text: string) => ({ raw: text, headers: LEGACY_HEADERS })

/** The status and code that the specification prescribes. */
const REJECTED: [name: string, request: RequestOptions, status: number, code: number][] = [
  ['no JSON', raw('{'), 400, -32700],
  ['an empty body', raw(''), 400, -32700],
  ['a duplicate key', raw('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'), 400, -32700],
  ['a batch', legacy([toMessage('ping'), toMessage('tools/list')]), 400, -32600],
  ['an empty batch', legacy([]), 400, -32600],
  ['a batch of one', legacy([modernRequest('tools/list').body]), 400, -32600],
  ['JSON that is not JSON-RPC', legacy({ hello: 'world' }), 400, -32600],
  ['null', raw('null'), 400, -32600],
  ['a text', raw('"tools/list"'), 400, -32600],
  ['an ID that is an object', legacy({ ...toMessage('ping'), id: {} }), 400, -32600],
  ['another version of JSON-RPC', legacy({ ...toMessage('ping'), jsonrpc: '1.0' }), 400, -32600],
  ['no Accept header', { body: toMessage('ping') }, 406, -32000],
  ['another content type', { ...legacy(toMessage('ping'), { 'Content-Type': 'text/plain' }) }, 415, -32600],
  [
    'more than 6 MB',
    raw(
      JSON.stringify(toMessage('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(6_000_000) } })),
    ),
    413,
    -32600,
  ],
  [
    'an unknown protocol version',
    legacy(toMessage('tools/list'), { 'MCP-Protocol-Version': '1999-01-01' }),
    400,
    -32000,
  ],
  [
    'an unknown version in both places',
    {
      headers: { ...modernRequest('tools/list').headers, 'MCP-Protocol-Version': '2099-01-01' },
      body: toMessage('tools/list', {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2099-01-01',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      }),
    },
    400,
    -32022,
  ],
  ['no version header', modern({ 'MCP-Protocol-Version': undefined }), 400, -32020],
  ['a version header that differs', modern({ 'MCP-Protocol-Version': '2025-11-25' }), 400, -32020],
  ['no Mcp-Method header', modern({ 'Mcp-Method': undefined }), 400, -32020],
  ['another Mcp-Method', modern({ 'Mcp-Method': 'tools/list' }), 400, -32020],
  ['no Mcp-Name header', modern({ 'Mcp-Name': undefined }), 400, -32020],
  ['another Mcp-Name', modern({ 'Mcp-Name': 'other' }), 400, -32020],
  [
    'a modern header without the envelope',
    legacy(toMessage('tools/list'), { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' }),
    400,
    -32602,
  ],
  ['an unknown method', modernRequest('tools/frobnicate'), 404, -32601],
  ['initialize in the modern generation', modernRequest('initialize'), 404, -32601],
  ['an unknown method in the old generation', legacy(toMessage('tools/frobnicate')), 200, -32601],
  ['a method that the service does not offer', modernRequest('resources/list'), 404, -32601],
  ['an unknown tool', modernRequest('tools/call', { ...CALL, name: 'other' }), 200, -32602],
  [
    'an unknown tool in the old generation',
    legacy(toMessage('tools/call', { ...CALL, name: 'other' })),
    200,
    -32602,
  ],
  ['a name that no slug can be', modernRequest('tools/call', { ...CALL, name: '../echo' }), 200, -32602],
  ['a call without a name', modernRequest('tools/call', {}), 200, -32602],
  ['arguments that are a list', modernRequest('tools/call', { ...CALL, arguments: [] }), 200, -32602],
  ['an invalid cursor', modernRequest('tools/list', { cursor: 'bogus' }), 200, -32602],
  [
    'an invalid _meta.tenantId',
    modernRequest('tools/call', { ...CALL, _meta: { tenantId: '' } }),
    200,
    -32602,
  ],
  [
    'a _meta.tenantId with half of a surrogate pair',
    modernRequest('tools/call', { ...CALL, _meta: { tenantId: '\ud800' } }),
    200,
    -32602,
  ],
  [
    'an invalid _meta.useCache',
    modernRequest('tools/call', { ...CALL, _meta: { useCache: 'yes' } }),
    200,
    -32602,
  ],
  [
    'an invalid _meta.version',
    modernRequest('tools/call', { ...CALL, _meta: { version: 'latest' } }),
    200,
    -32602,
  ],
  [
    'an unknown _meta.version',
    modernRequest('tools/call', { ...CALL, _meta: { version: crypto.randomUUID() } }),
    200,
    -32602,
  ],
]

describe('POST /v1/mcp', () => {
  it.each(REJECTED)('rejects %s', async (_, request, status, code) => {
    const response = await post(request)
    expect([response.status, response.message.error?.code], response.text).toEqual([status, code])
    expect(response.message.jsonrpc).toBe('2.0')
    expect(response.message.error.message).toEqual(expect.any(String))
  })

  it.each([
    ['legacy', legacy({ jsonrpc: '2.0', method: 'notifications/initialized' })],
    [
      'a cancellation',
      legacy({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
    ],
    [
      'modern',
      {
        ...legacy(
          { jsonrpc: '2.0', method: 'notifications/other' },
          { 'MCP-Protocol-Version': '2026-07-28' },
        ),
      },
    ],
  ])('accepts a notification without a body: %s', async (_, request) => {
    const { status, text } = await post(request)
    expect([status, text]).toEqual([202, ''])
  })

  it('accepts its own pages', async () => {
    const { body, headers } = modernRequest('tools/list')
    const { status } = await post({ body, headers: { ...headers, Origin: inject('service') } })
    expect(status).toBe(200)
  })

  it('ends a subscription at once: nothing can be subscribed to', async () => {
    const notifications = { toolsListChanged: true }
    const { text } = await post(modernRequest('subscriptions/listen', { notifications }))
    expect(parseMessages(text)).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
      { id: 1, result: { resultType: 'complete' } },
    ])
  })

  it.each(['https://evil.example', 'null', 'http://127.0.0.1', 'http://localhost'])(
    'rejects the origin %s',
    async (Origin) => {
      const { status, json } = await post({
        ...modernRequest('tools/list'),
        headers: { ...modernRequest('tools/list').headers, Origin },
      })
      expect(status).toBe(403)
      expect(json).toMatchObject({ code: 'Forbidden' })
    },
  )

  it.each([
    ['none', null, /^Bearer$/],
    ['an invalid one', 'aes_none', /^Bearer error="invalid_token", error_description="[^"]+"$/],
  ])('rejects requests whose token is %s', async (_, token, challenge) => {
    const { status, headers } = await createClient(inject('service'), token)(
      'POST',
      '/v1/mcp',
      modernRequest('tools/list'),
    )
    expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(challenge)])
  })

  it.each(['GET', 'DELETE'])(
    'answers %s, which began streams and ended sessions, with 405',
    async (method) => {
      const { status, headers } = await org.call(method, '/v1/mcp', {
        headers: { Accept: 'text/event-stream' },
      })
      expect([status, headers.get('allow')]).toEqual([405, 'POST'])
    },
  )

  it('ignores a session and a position of other revisions', async () => {
    const headers = { ...modernRequest('tools/list').headers, 'Mcp-Session-Id': 's', 'Last-Event-ID': '1' }
    const response = await post({ ...modernRequest('tools/list'), headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('mcp-session-id')).toBeNull()
  })

  it('echoes the ID of a request with an error', async () => {
    const { body, headers } = modernRequest('tools/frobnicate')
    const { message } = await post({ headers, body: { ...body, id: 'a-7' } })
    expect(message).toMatchObject({ id: 'a-7', error: { code: -32601 } })
  })

  it('negotiates a version that it supports', async () => {
    const initialize = (protocolVersion: string) =>
      post(
        legacy(
          toMessage('initialize', {
            protocolVersion,
            capabilities: {},
            clientInfo: { name: 't', version: '1' },
          }),
        ),
      )
    for (const [asked, given] of [
      ['2025-06-18', '2025-06-18'],
      ['2025-11-25', '2025-11-25'],
      ['2024-11-05', '2025-11-25'],
      ['1999-01-01', '2025-11-25'],
    ])
      expect((await initialize(asked ?? '')).message.result.protocolVersion).toBe(given)
  })

  it('describes itself to clients of 2026-07-28', async () => {
    const { message } = await post(modernRequest('server/discover'))
    expect(message.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      resultType: 'complete',
      ttlMs: expect.any(Number),
      cacheScope: 'public',
    })
  })

  it('limits how long clients may keep a list of tools, and that they keep it to themselves', async () => {
    const { message } = await post(modernRequest('tools/list'))
    expect(message.result).toMatchObject({ resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' })
  })
})
