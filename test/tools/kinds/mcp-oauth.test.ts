import type { ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { json, type Received, serve } from '../serve.ts'
import { call, openDeclared, secret } from '../tools.ts'
import { FIND, INITIALIZED } from './odd-mcp-server.ts'

const SECRET = 'p+ss/w:rd-of-the-client'
const CREDENTIALS = Buffer.from(`aes:${encodeURIComponent(SECRET)}`).toString('base64')
const environment = { CRM_SECRET: SECRET }

type Grant = { accessToken?: string; expiresIn?: unknown; body?: object; status?: number }
type Granted = Grant | ((response: ServerResponse) => unknown)

/** A token endpoint, and an MCP server that accepts only the tokens in `accepted`. */
async function serveProtected({
  grant = ({ received }) => ({ accessToken: `token-number-${received.length}` }),
  accepts = () => true,
}: {
  grant?: (server: { received: Received[] }) => Granted
  accepts?: (token: string) => boolean
} = {}) {
  const tokens = await serve((response) => {
    const granted = grant(tokens)
    if (typeof granted === 'function') return granted(response)
    const { accessToken, expiresIn, body, status = 200 } = granted
    const token = { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn }
    return json(response, body ?? token, status)
  })
  const results: Record<string, object> = { initialize: INITIALIZED, 'tools/list': { tools: [FIND] } }
  const server = await serve((response, { headers, body }) => {
    const token = String(headers.authorization).replace(/^Bearer /, '')
    if (!accepts(token)) return json(response, { error: 'invalid_token' }, 401)
    const { id, method } = JSON.parse(body)
    if (id === undefined) return response.writeHead(202).end()
    const echo = { content: [{ type: 'text', text: `seen ${headers.authorization}` }] }
    const result = results[method] ?? (method === 'tools/call' ? echo : undefined)
    const error = { code: -32601, message: 'Method not found' }
    return json(response, { jsonrpc: '2.0', id, ...(result ? { result } : { error }) })
  })
  const oauth = { tokenUrl: `${tokens.url}/token`, clientId: 'aes', clientSecret: secret('CRM_SECRET') }
  const documentWith = (overrides: object = {}, allowedHosts = [server.host, tokens.host]) => ({
    name: 'crm',
    timeoutSeconds: 20,
    mcp: { url: `${server.url}/mcp`, allowedHosts, oauth: { ...oauth, ...overrides } },
  })
  const open = (overrides?: object) => openDeclared([documentWith(overrides)], { environment })
  return { tokens, server, documentWith, open }
}

describe('a tool with client credentials', () => {
  it('requests a token once and sends it with each request, also of another run', async () => {
    const { tokens, server, open } = await serveProtected()
    for (let run = 0; run < 2; run++) {
      const tools = await open()
      expect(await call(tools, 'crm_find', {})).toMatchObject({ ok: true })
    }
    expect(tokens.received).toHaveLength(1)
    const [request] = tokens.received
    expect(request).toMatchObject({
      method: 'POST',
      path: '/token',
      body: 'grant_type=client_credentials',
      headers: { authorization: `Basic ${CREDENTIALS}` },
    })
    const sent = new Set(server.received.map(({ headers }) => headers.authorization))
    expect([...sent]).toEqual(['Bearer token-number-1'])
  })

  it('sends the credentials in the body, and the parameters of the document', async () => {
    const { tokens, open } = await serveProtected()
    const more = { scope: 'crm.read crm.write', audience: 'https://crm.example', resource: 'urn:crm' }
    await open({ authentication: 'body', ...more })
    const [request] = tokens.received
    expect(request?.headers.authorization).toBeUndefined()
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'aes',
      client_secret: SECRET,
      ...more,
    })
  })

  it('replaces a token that the server rejects, once for all calls', async () => {
    const valid = new Set(['token-number-1'])
    const { tokens, open } = await serveProtected({ accepts: (token) => valid.has(token) })
    const tools = await open()
    for (const next of [2, 3]) {
      valid.delete(`token-number-${next - 1}`)
      valid.add(`token-number-${next}`)
      const results = await Promise.all(Array.from({ length: 20 }, () => call(tools, 'crm_find', {})))
      expect(results.every(({ ok }) => ok)).toBe(true)
    }
    expect(tokens.received).toHaveLength(3)
  })

  it('stops after one replacement that the server rejects as well', async () => {
    const { tokens, server, open } = await serveProtected({ accepts: () => false })
    const tools = await open()
    expect(await call(tools, 'crm', {})).toMatchObject({ error: expect.stringContaining('invalid_token') })
    expect(tokens.received).toHaveLength(2)
    expect(server.received.length).toBeLessThanOrEqual(4)
  })

  it.each([
    [120, 59, 1],
    [120, 61, 2],
    [3_600, 3_539, 1],
    [3_600, 3_541, 2],
    ['3600', 3_541, 2],
    [undefined, 239, 1],
    [undefined, 241, 2],
    [0, 1, 2],
    [1e300, 86_000, 1],
  ])(
    'uses a token that expires in %s s for a minute less: after %i s, %i requests',
    async (expiresIn, seconds, requests) => {
      const { tokens, open } = await serveProtected({
        grant: ({ received }) => ({ accessToken: `token-number-${received.length}`, expiresIn }),
      })
      const tools = await open()
      const before = tokens.received.length
      expect(before).toBeGreaterThanOrEqual(1)
      const now = performance.now()
      vi.spyOn(performance, 'now').mockImplementation(() => now + seconds * 1_000)
      const count = async () => {
        await call(tools, 'crm_find', {})
        return tokens.received.length
      }
      // The cache reads the clock at most once per millisecond.
      if (expiresIn === 0) await expect.poll(count).toBeGreaterThan(before)
      else await expect.poll(count).toBe(requests)
      vi.restoreAllMocks()
    },
  )

  it('masks the secret and the token in results', async () => {
    const { open } = await serveProtected()
    const value = 'seen Bearer [secret access token]'
    expect(await call(await open(), 'crm_find', {})).toEqual({ ok: true, value })
  })

  const repeated = `${SECRET} ${encodeURIComponent(SECRET)} ${CREDENTIALS}`
  const failures: [string, Granted, RegExp][] = [
    [
      'rejects the client and repeats its credentials',
      { status: 401, body: { error: 'invalid_client', error_description: repeated } },
      /HTTP 401: invalid_client: /,
    ],
    ['returns no token', { body: { token_type: 'Bearer' } }, /no access token/],
    ['returns a token with a line break', { accessToken: 'a\r\nX-Evil: 1' }, /no access token/],
    ['returns another type', { body: { access_token: 'abc', token_type: 'mac' } }, /not of type Bearer/],
    ['returns HTML', (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<a>'), /no access token/],
    ['returns 5 MB', (r) => r.end('x'.repeat(5_000_000)), /no access token/],
    ['hangs up', (r) => r.destroy(), /dropped/],
  ]
  it.each(failures)('returns the error to the model if the endpoint %s', async (_, granted, message) => {
    const { tokens, server, open } = await serveProtected({ grant: () => granted })
    const tools = await open()
    const result = await call(tools, 'crm', {})
    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(message) })
    for (const form of [SECRET, encodeURIComponent(SECRET), 'cCUyQnNz'])
      expect(JSON.stringify(result)).not.toContain(form)
    expect(server.received).toHaveLength(0)
    expect(tokens.received.length).toBeLessThanOrEqual(2)
  })

  it('does not follow a redirect of the endpoint with the secret', async () => {
    const { server, open } = await serveProtected({
      grant: () => (response) => response.writeHead(307, { location: '/elsewhere' }).end(),
    })
    await expect(open()).rejects.toThrow(/redirect \(307\)/)
    expect(server.received).toHaveLength(0)
  })

  it('applies the egress policy to the endpoint', async () => {
    const { tokens, server, documentWith } = await serveProtected()
    const denied = { tokenUrl: `https://internal.example:${new URL(tokens.url).port}/token` }
    const lookup = ((_: string, __: object, callback: (error: null, addresses: object[]) => void) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }])) as never
    const tools = openDeclared([documentWith(denied, [server.host])], { environment, lookup })
    await expect(tools).rejects.toThrow('resolves to a non-public address')
    expect(tokens.connections).toHaveLength(0)
  })

  it('does not send a token of one secret to a run with another', async () => {
    const { tokens, documentWith, open } = await serveProtected()
    await open()
    await openDeclared([documentWith()], { environment: { CRM_SECRET: 'the-secret-of-others' } })
    expect(tokens.received).toHaveLength(2)
    await expect(openDeclared([documentWith()])).rejects.toThrow('Secret CRM_SECRET not found.')
  })
})
