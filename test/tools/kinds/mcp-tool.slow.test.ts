import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { toolsSchema } from '../../../lib/tools/document/tools-schema.ts'
import { openTools } from '../../../lib/tools/open-tools.ts'
import { PIXEL, PIXEL_BYTES } from '../../support/data/files.ts'
import { json, serve } from '../serve.ts'
import { call, depsOf, openDeclared, secret } from '../tools.ts'
import { serveMcp } from './mcp-server.ts'
import { serveOdd } from './odd-mcp-server.ts'

const mcpDocument = (url: string, overrides: Record<string, unknown> = {}) => {
  const { timeoutSeconds = 20, ...mcp } = overrides
  return { name: 'crm', timeoutSeconds, mcp: { url, allowedHosts: [new URL(url).host], ...mcp } }
}

/** A server and its tools. */
async function openServer(
  options?: Parameters<typeof serveMcp>[0],
  overrides?: Record<string, unknown>,
  deps?: Parameters<typeof openDeclared>[1],
) {
  const server = await serveMcp(options)
  return { server, tools: await openDeclared([mcpDocument(server.url, overrides)], deps) }
}

const failed = (text: string) => ({ ok: false, error: expect.stringContaining(text) })

const kinds = [{}, { json: true }, { sessions: true }, { modern: true }]

describe('openMcpTools', () => {
  it.each(kinds)('declares and calls the tools of a server (%j)', async (options) => {
    const { server, tools } = await openServer(options)
    expect(tools.declarations.map(({ name }) => name).slice(0, 3)).toEqual([
      'crm_find_customer',
      'crm_find_customer_2',
      'crm_structured',
    ])
    expect(tools.declarations[0]).toMatchObject({
      description: 'Finds one.',
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    })
    expect(await call(tools, 'crm_find_customer', { name: 'Ada' })).toEqual({ ok: true, value: 'found Ada' })
    expect(server.seen.at(-1)?.meta).toMatchObject({ idempotencyKey: 'run/1/call-1' })
    expect(await call(tools, 'crm_find_customer_2', {})).toEqual({ ok: true, value: 'two' })
    expect(await call(tools, 'crm_structured', {})).toEqual({ ok: true, value: { n: 1 } })
  })

  it('tells the server the trace context of a call, in the message and its request', async () => {
    const { server, tools } = await openServer({}, {}, { traceparentOf: (key) => `trace of ${key}` })
    await call(tools, 'crm_find_customer', { name: 'Ada' })
    const traceparent = 'trace of run/1/call-1'
    expect(server.seen.at(-1)).toMatchObject({ method: 'find.customer', meta: { traceparent } })
    expect(server.seen.at(-2)).toMatchObject({ method: 'POST', headers: { traceparent } })
    expect(server.seen[0]?.headers).not.toHaveProperty('traceparent')
  })

  it('declares only the tools that the document names', async () => {
    const { tools } = await openServer({}, { tools: ['find_customer', 'structured'] })
    expect(tools.declarations.map(({ name }) => name)).toEqual(['crm_find_customer', 'crm_structured'])
    expect(await call(tools, 'crm_find_customer', {})).toEqual({ ok: true, value: 'two' })
    const unknown = 'Unknown tool "crm_headers". Available tools: crm_find_customer, crm_structured.'
    expect(await call(tools, 'crm_headers', {})).toEqual({ ok: false, error: unknown, isRefused: true })
  })

  it('fails to open a server that lacks a tool of the document', async () => {
    const server = await serveMcp({ sessions: true })
    const opening = openDeclared([mcpDocument(server.url, { tools: ['structured', 'find-customer'] })])
    await expect(opening).rejects.toThrow(
      /^Could not open the tool crm\. The MCP server has no tool "find-customer"\. Its tools: find\.customer, find_customer, /,
    )
    expect(server.transports.size).toBe(0)
  })

  it.each(kinds)('returns failures as errors (%j)', async (options) => {
    const { tools } = await openServer(options)
    expect(await call(tools, 'crm_failing', {})).toEqual({ ok: false, error: 'no such customer' })
    expect(await call(tools, 'crm_throwing', {})).toEqual({ ok: false, error: 'boom' })
    expect(await call(tools, 'crm_find_customer', { name: 1 })).toMatchObject(failed('does not match'))
    expect(await call(tools, 'crm_dropping', {})).toMatchObject(failed('dropped'))
    expect(await call(tools, 'crm_huge', {})).toMatchObject(failed('larger than'))
    expect(await call(tools, 'crm_find_customer_2', {})).toEqual({ ok: true, value: 'two' })
  })

  it('does not wait for a result after the event stream has ended', async () => {
    const { tools } = await openServer()
    expect(await call(tools, 'crm_ending', {})).toMatchObject(failed('without a result'))
  })

  it('truncates large texts, omits binary content, and returns images with a description of each', async () => {
    const { tools } = await openServer()
    expect(await call(tools, 'crm_large', {})).toMatchObject({
      ok: true,
      value: expect.stringContaining('of 2000000 characters omitted'),
    })
    const value = 'see\n[Binary content of type image/png omitted.]'
    expect(await call(tools, 'crm_image', {})).toEqual({ ok: true, value })
    const described = `[Image of type image/png, ${PIXEL_BYTES.length} bytes.]`
    expect(await call(tools, 'crm_photo', {})).toEqual({
      ok: true,
      value: `${described}\nfrom above\n${described}`,
      images: Array(2).fill({ mediaType: 'image/png', data: PIXEL }),
    })
  })

  it('times out a slow call and accepts further calls', async () => {
    const { tools } = await openServer({}, { timeoutSeconds: 1 })
    const error = 'The call timed out after 1 s.'
    expect(await call(tools, 'crm_hanging', {})).toEqual({ ok: false, error })
    expect(await call(tools, 'crm_find_customer_2', {})).toEqual({ ok: true, value: 'two' })
  })

  it('sends headers with secrets and masks them in results', async () => {
    const headers = { Authorization: `Bearer ${secret('CRM_KEY')}` }
    const environment = { CRM_KEY: 'tiger-lily-88' }
    const { server, tools } = await openServer({}, { headers }, { environment })
    const result = await call(tools, 'crm_headers', {})
    expect(
      server.seen.every(({ headers, meta }) => meta || headers.authorization === 'Bearer tiger-lily-88'),
    ).toBe(true)
    expect(result).toMatchObject({ ok: true, value: expect.stringContaining('Bearer [secret CRM_KEY]') })
    expect(JSON.stringify(result)).not.toContain('tiger')
  })

  it('terminates the session and closes all connections', async () => {
    const server = await serveMcp({ sessions: true })
    const tools = await openTools(toolsSchema.parse([mcpDocument(server.url)]), depsOf())
    expect(server.transports.size).toBe(1)
    await tools.close()
    expect(server.transports.size).toBe(0)
    await expect.poll(() => server.connections.every((socket) => socket.destroyed)).toBe(true)
    expect(server.seen.map(({ method }) => method)).not.toContain('GET')
  })

  const unavailable: [string, Parameters<typeof serve>[0], RegExp][] = [
    ['responds with 401', (r) => json(r, { error: 'no' }, 401), /MCP server error: .*no/],
    [
      'responds with HTML',
      (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<a>'),
      /content type/,
    ],
    ['drops the connection', (r) => r.destroy(), /dropped/],
    ['never responds', () => undefined, /did not respond within 1 s|timed out/],
    ['sends invalid JSON', (r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{'), /JSON/],
  ]
  it.each(unavailable)(
    'declares one tool that returns the error of a server that %s',
    async (_, respond, message) => {
      const server = await serve(respond)
      const tools = await openDeclared([mcpDocument(`${server.url}/mcp`, { timeoutSeconds: 1 })])
      expect(tools.declarations).toEqual([
        { name: 'crm', description: expect.stringContaining('unavailable'), inputSchema: { type: 'object' } },
      ])
      const result = await call(tools, 'crm', { any: 'input' })
      expect(result).toMatchObject({ ok: false, error: expect.stringMatching(message) })
      expect(result).toHaveProperty(
        'error',
        expect.stringMatching(/^The MCP server was unavailable when the run began/),
      )
    },
  )

  const rejections: [string, (response: ServerResponse) => unknown][] = [
    ['with an error of its protocol', (r) => json(r, { error: 'no session' }, 400)],
    ['with 404', (r) => r.writeHead(404).end()],
    ['with 500', (r) => r.writeHead(500).end('Unknown method')],
    ['with 401', (r) => r.writeHead(401).end()],
    ['with JSON that is not JSON-RPC', (r) => json(r, { ok: false })],
    ['with HTML', (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<a>')],
    ['not at all', () => undefined],
  ]
  it.each(rejections)(
    'begins with initialize for a server that responds to other requests %s',
    async (_, reject) => {
      const server = await serveOdd({ other: reject })
      const tools = await openDeclared([mcpDocument(server.url, { timeoutSeconds: 2 })])
      expect(tools.declarations.map(({ name }) => name)).toEqual(['crm_find'])
    },
  )

  it('masks secrets in the error of an unavailable server', async () => {
    const server = await serve((r) => json(r, { error: 'The key key-of-the-crm is invalid.' }, 401))
    const headers = { Authorization: secret('CRM_KEY') }
    const environment = { CRM_KEY: 'key-of-the-crm' }
    const tools = await openDeclared([mcpDocument(server.url, { headers })], { environment })
    const result = await call(tools, 'crm', {})
    expect(result).toMatchObject(failed('is invalid.'))
    expect(JSON.stringify(result)).not.toContain('key-of-the-crm')
  })

  it('fails to open a server that redirects', async () => {
    const server = await serve((response) => response.writeHead(307, { location: '/elsewhere' }).end())
    await expect(openDeclared([mcpDocument(`${server.url}/mcp`)])).rejects.toMatchObject({
      name: 'ToolError',
      message: expect.stringMatching(/^Could not open the tool crm\. .*redirect \(307\) to http.*elsewhere/),
      isTransient: false,
    })
    expect(server.received.map(({ path }) => path)).not.toContain('/elsewhere')
  })

  it('does not connect to a denied address or without the secret', async () => {
    const server = await serveMcp()
    const [document] = toolsSchema.parse([mcpDocument(server.url)])
    if (document?.mcp) document.mcp.allowedHosts = []
    await expect(openTools(document ? [document] : [], depsOf())).rejects.toThrow('https://')
    const headers = { Authorization: secret('CRM_KEY') }
    const opening = openDeclared([mcpDocument(server.url, { headers })])
    await expect(opening).rejects.toThrow('Secret CRM_KEY not found.')
    expect(server.connections).toHaveLength(0)
  })
})
