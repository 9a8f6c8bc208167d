import { describe, expect, it } from 'vitest'
import type { RequestOptions } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { LEGACY_HEADERS, modernRequest, parseMessages, toMessage } from './messages.ts'

const org = await organizationWith('echo')

const post = async (options: RequestOptions) => {
  const response = await org.call('POST', '/v1/mcp', options)
  return { ...response, message: parseMessages(response.text || '{}').at(-1) }
}

const CALL = { name: 'echo', arguments: { text: 'x' } }
const modern = (headers: Record<string, string | undefined>) => {
  const request = modernRequest('tools/call', CALL)
  const given = Object.entries({ ...request.headers, ...headers }).filter(([, value]) => value !== undefined)
  return { ...request, headers: Object.fromEntries(given) as Record<string, string> }
}
const legacy = (body: unknown, headers: Record<string, string> = {}) => ({
  body,
  headers: { ...LEGACY_HEADERS, ...headers },
})
const callWith = (_meta: object) => modernRequest('tools/call', { ...CALL, _meta })
const LIST = toMessage('tools/list')
const raw = (text: string) => ({ raw: text, headers: LEGACY_HEADERS })

/** The status and code that the specification prescribes. */
const REJECTED: [name: string, request: RequestOptions, status: number, code: number][] = [
  ['no JSON', raw('{'), 400, -32700],
  ['a duplicate key', raw('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'), 400, -32700],
  ['a batch', legacy([toMessage('ping'), LIST]), 400, -32600],
  ['an ID that is an object', legacy({ ...toMessage('ping'), id: {} }), 400, -32600],
  ['another version of JSON-RPC', legacy({ ...toMessage('ping'), jsonrpc: '1.0' }), 400, -32600],
  ['no Accept header', { body: toMessage('ping') }, 406, -32000],
  ['another content type', legacy(toMessage('ping'), { 'Content-Type': 'text/plain' }), 415, -32600],
  ['an unknown protocol version', legacy(LIST, { 'MCP-Protocol-Version': '1999-01-01' }), 400, -32000],
  [
    'an unknown version in both places',
    {
      headers: { ...modernRequest('tools/list').headers, 'MCP-Protocol-Version': '2099-01-01' },
      body: modernRequest('tools/list', {
        _meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
      }).body,
    },
    400,
    -32022,
  ],
  ['no version header', modern({ 'MCP-Protocol-Version': undefined }), 400, -32020],
  ['no Mcp-Method header', modern({ 'Mcp-Method': undefined }), 400, -32020],
  [
    'a modern header without the envelope',
    legacy(LIST, { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' }),
    400,
    -32602,
  ],
  ['an unknown method', modernRequest('tools/frobnicate'), 404, -32601],
  ['an unknown tool', modernRequest('tools/call', { ...CALL, name: 'other' }), 200, -32602],
  ['an invalid cursor', modernRequest('tools/list', { cursor: 'bogus' }), 200, -32602],
  ['an invalid _meta.tenantId', callWith({ tenantId: '' }), 200, -32602],
  ['an invalid _meta.version', callWith({ version: 'latest' }), 200, -32602],
]

describe('POST /v1/mcp', () => {
  it.each(REJECTED)('rejects %s', async (_, request, status, code) => {
    const response = await post(request)
    expect([response.status, response.message.error?.code], response.text).toEqual([status, code])
    expect(response.message.jsonrpc).toBe('2.0')
    expect(response.message.error.message).toEqual(expect.any(String))
  })

  it.each([
    ['legacy', { method: 'notifications/initialized' }, {}],
    ['a cancellation', { method: 'notifications/cancelled', params: { requestId: 1 } }, {}],
    ['modern', { method: 'notifications/other' }, { 'MCP-Protocol-Version': '2026-07-28' }],
  ])('accepts a notification without a body: %s', async (_, notification, headers) => {
    const { status, text } = await post(legacy({ jsonrpc: '2.0', ...notification }, headers))
    expect([status, text]).toEqual([202, ''])
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
      const { status, json } = await post(modern({ Origin }))
      expect([status, json.code]).toEqual([403, 'Forbidden'])
    },
  )

  it('negotiates a version that it supports', async () => {
    const client = { capabilities: {}, clientInfo: { name: 't', version: '1' } }
    const initialize = (protocolVersion: string) =>
      post(legacy(toMessage('initialize', { ...client, protocolVersion })))
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
})
