import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MAX_RESULT_BYTES } from '../../../lib/core/limits.ts'
import { toToolMessage } from '../../../lib/models/requests/to-prompt.ts'
import { MAX_READ_BYTES } from '../../../lib/tools/egress/read-text.ts'
import { fillPath } from '../../../lib/tools/kinds/url-template.ts'
import { PIXEL, PIXEL_BYTES } from '../../support/data/files.ts'
import { json, serve } from '../serve.ts'
import { serveTls } from '../serve-tls.ts'
import { call, callAs, httpTool, ODD_KEY, openDeclared, SENT_KEY } from '../tools.ts'

const text = { type: 'string' }

type Respond = Parameters<typeof serve>[0]

/** Responds with a body of a content type. */
const typed =
  (type: string, body: string | Buffer): Respond =>
  (response) =>
    response.writeHead(200, { 'content-type': type }).end(body)

async function callTool(respond: Respond, overrides: Record<string, unknown> = {}) {
  const server = await serve(respond)
  const tools = await openDeclared([httpTool(server.host, overrides)])
  return { result: await call(tools, 'get', {}), server }
}

describe('openHttpTool, request', () => {
  it('has the trace context of the call, unless the document has another', async () => {
    const server = await serve((response) => json(response, {}))
    const traceparentOf = (key: string) => `trace of ${key}`
    const own = httpTool(server.host, { headers: { TraceParent: 'mine' } })
    for (const tool of [httpTool(server.host), own])
      await call(await openDeclared([tool], { traceparentOf }), 'get', {})
    await call(await openDeclared([httpTool(server.host)]), 'get', {})
    expect(server.received.map(({ headers }) => headers.traceparent)).toEqual([
      'trace of run/1/call-1',
      'mine',
      undefined,
    ])
  })

  const input = {
    id: text,
    limit: { type: 'integer', required: false },
    tags: { type: 'array', required: false },
  }
  const cases: [string, object, Record<string, unknown>, { path: string; body: string; type?: string }][] = [
    ['path and query', { method: 'GET' }, { id: 'a', limit: 5 }, { path: '/o/a?limit=5', body: '' }],
    [
      'array in the query',
      { method: 'DELETE' },
      { id: 'a', tags: ['x', 'y z'] },
      { path: '/o/a?tags=x&tags=y+z', body: '' },
    ],
    ['HEAD', { method: 'HEAD' }, { id: 'a', limit: 5 }, { path: '/o/a?limit=5', body: '' }],
    [
      'JSON body',
      { method: 'POST' },
      { id: 'a', limit: 5, tags: ['x'] },
      { path: '/o/a', body: '{"limit":5,"tags":["x"]}', type: 'application/json' },
    ],
    ['no inputs for the body', { method: 'PUT' }, { id: 'a' }, { path: '/o/a', body: '' }],
    [
      'query of a POST',
      { method: 'POST', query: ['limit'] },
      { id: 'a', limit: 5, tags: [] },
      { path: '/o/a?limit=5', body: '{"tags":[]}', type: 'application/json' },
    ],
    [
      'body of a DELETE',
      { method: 'DELETE', body: ['tags'] },
      { id: 'a', tags: [1] },
      { path: '/o/a', body: '{"tags":[1]}', type: 'application/json' },
    ],
    [
      'encoded path segment',
      { method: 'GET' },
      { id: 'ä b?c#d%2f&;=+@:' },
      { path: '/o/%C3%A4%20b%3Fc%23d%252f%26%3B%3D%2B%40%3A', body: '' },
    ],
  ]

  it.each(cases)('%s', async (_, http, values, expected) => {
    const server = await serve((response) => json(response, { ok: true }))
    const tools = await openDeclared([
      httpTool(server.host, { input, url: `http://${server.host}/o/{id}`, ...http }),
    ])
    expect(await call(tools, 'get', values as never)).toMatchObject({ ok: true })
    const [received] = server.received
    expect(received).toMatchObject({
      method: (http as { method: string }).method,
      path: expected.path,
      body: expected.body,
    })
    expect(received?.headers['content-type']).toBe(expected.type)
    expect(received?.headers['idempotency-key']).toBe('run/1/call-1')
  })

  it('sends a hash of the id that the model gave to the call', async () => {
    const server = await serve((response) => json(response, {}))
    const tools = await openDeclared([httpTool(server.host)])
    for (const key of [ODD_KEY, ODD_KEY, `${ODD_KEY}2`])
      expect(await callAs(tools, 'get', {}, key)).toEqual({ ok: true, value: {} })
    const [first = '', same, other] = server.received.map(({ headers }) => String(headers['idempotency-key']))
    expect(first).toMatch(SENT_KEY)
    expect([same, other]).toEqual([first, expect.stringMatching(SENT_KEY)])
    expect(other).not.toBe(first)
  })

  it('keeps the query of the URL and the headers of the document, and sends defaults', async () => {
    const server = await serve((response) => json(response, null))
    const url = `http://${server.host}/o?version=3`
    const page = { type: 'integer', default: 1 }
    const tools = await openDeclared([
      httpTool(server.host, { url, input: { page }, headers: { Accept: 'text/csv' } }),
    ])
    await call(tools, 'get', {})
    expect(server.received[0]).toMatchObject({ path: '/o?version=3&page=1', headers: { accept: 'text/csv' } })
  })

  const segments = ['', '.', '..', '/', '../admin', 'a/b', 'a\\b', '\0', 'a\nb', '\ud800']
  it.each(segments)('rejects the path segment %j without sending a request', async (id) => {
    const server = await serve((response) => json(response, 'reached'))
    const tools = await openDeclared([
      httpTool(server.host, { input: { id: text }, url: `http://${server.host}/o/{id}` }),
    ])
    const result = await call(tools, 'get', { id })
    expect(result).toMatchObject({ ok: false, error: expect.stringContaining('The input id') })
    expect(server.connections).toHaveLength(0)
  })

  it('rejects an input that changes the path only in combination with the URL', () => {
    expect(() => fillPath('https://shop.example/a/%2{id}/b', { id: 'e' })).toThrow(
      'change the structure of the URL path',
    )
    expect(fillPath('https://shop.example/a/{id}/b', { id: '2e' }).pathname).toBe('/a/2e/b')
  })
})

describe('openHttpTool, response', () => {
  it.each([
    ['7615917337495251231', '7615917337495251231'],
    ['-0.12345678901234567890', '-0.12345678901234567890'],
    ['1e999', '1e999'],
    ['1.50', '1.5'],
  ])('keeps the digits of the number %s', async (number, expected) => {
    const body = `{"a":[{"n":${number}}],"a":[{"n":${number}}]}`
    const { result } = await callTool(typed('application/json', body))
    expect(JSON.stringify(result)).toBe(`{"ok":true,"value":{"a":[{"n":${expected}}]}}`)
    const message = toToolMessage([{ call: { id: 'c', name: 'get', input: {}, error: null }, result }])
    expect(JSON.stringify(message)).toContain(`{\\"n\\":${expected}}`)
  })

  it('parses JSON by content type and returns other responses as text', async () => {
    const asJson = await callTool((response) => json(response, { a: [1, 'ü'] }))
    expect(asJson.result).toEqual({ ok: true, value: { a: [1, 'ü'] } })
    const asSuffix = await callTool(typed('application/vnd.x+json; charset=utf-8', '[1]'))
    expect(asSuffix.result).toEqual({ ok: true, value: [1] })
    const asText = await callTool((response) => response.end('{"a":1}'))
    expect(asText.result).toEqual({ ok: true, value: '{"a":1}' })
    const asLatin = await callTool(typed('text/plain; charset="iso-8859-1"', Buffer.from([0xfc])))
    expect(asLatin.result).toEqual({ ok: true, value: 'ü' })
    const empty = await callTool((response) => response.writeHead(204).end())
    expect(empty.result).toEqual({ ok: true, value: null })
  })

  it('returns an image with its description', async () => {
    const { result } = await callTool(typed('image/png', PIXEL_BYTES))
    expect(result).toEqual({
      ok: true,
      value: `[Image of type image/png, ${PIXEL_BYTES.length} bytes.]`,
      images: [{ mediaType: 'image/png', data: PIXEL }],
    })
    const large = Buffer.concat([PIXEL_BYTES, Buffer.alloc(4_000_000)])
    const tooLarge = await callTool(typed('image/png', large))
    expect(tooLarge.result).toMatchObject({
      ok: false,
      error: expect.stringContaining('is binary (image/png'),
    })
  })

  it('returns an error status with the start of the body as an error', async () => {
    const small = await callTool((response) => json(response, { message: 'no such order' }, 404))
    expect(small.result).toEqual({
      ok: false,
      error: 'The request failed with HTTP 404 Not Found: {"message":"no such order"}',
    })
    const large = await callTool((response) => response.writeHead(500).end('x'.repeat(1_000_000)))
    expect(large.result).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^.{4000} \[Truncated: \d+ characters omitted\.\]$/),
    })
    const binary = await callTool((response) => response.writeHead(502).end(Buffer.from([0xff, 0])))
    expect(binary.result).toEqual({ ok: false, error: 'The request failed with HTTP 502 Bad Gateway.' })
  })

  const redirects = [301, 302, 303, 307, 308]
  it.each(redirects)(
    'does not follow a redirect (%s) and returns an error with its target',
    async (status) => {
      const target = await serve((response) => json(response, 'reached'))
      const { result } = await callTool((response) =>
        response.writeHead(status, { location: `${target.url}/x` }).end(),
      )
      expect(result).toMatchObject({
        ok: false,
        error: expect.stringContaining(`(${status}) to ${target.url}/x`),
      })
      expect(target.connections).toHaveLength(0)
    },
  )

  const nested = '['.repeat(200_000) + ']'.repeat(200_000)
  const invalid: [string, Respond, RegExp][] = [
    ['invalid JSON', typed('application/json', '{"a":'), /is not valid JSON: \{"a":$/],
    ['binary', typed('image/png', Buffer.from([0x89, 0x50, 0xff])), /binary \(image\/png, 3 bytes\)/],
    ['NUL in text', (r) => r.end('a\0b'), /binary/],
    ['unknown charset', typed('text/plain; charset=klingon', 'a'), /binary/],
    ['compressed', (r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end('a'), /compressed \(gzip\)/],
    ['dropped before the headers', (r) => r.destroy(), /dropped/],
    [
      'dropped within the body',
      (r) => {
        r.writeHead(200, { 'content-length': '10' }).write('abc', () => r.destroy())
      },
      /dropped/,
    ],
    [
      'not HTTP',
      (r) => {
        r.socket?.end('garbage\r\n\r\n')
      },
      /dropped/,
    ],
    ['nested too deeply', typed('application/json', nested), /maximum nesting depth/],
  ]
  it.each(invalid)('returns an error for: %s', async (_, respond, error) => {
    const { result } = await callTool(respond)
    expect(result).toMatchObject({ ok: false, error: expect.stringMatching(error) })
  })

  it.each([
    ['32 kB', {}, MAX_RESULT_BYTES.default],
    ['maxResultBytes', { maxResultBytes: 256_000 }, 256_000],
    ['a small maxResultBytes', { maxResultBytes: 1_000 }, 1_000],
  ])('truncates 2 MB at %s and states how much is omitted', async (_, options, maxBytes) => {
    const whole = { text: 'é"\n😀'.repeat(250_000) }
    const { result } = await callTool((response) => json(response, whole), options)
    const value = result.ok ? String(result.value) : ''
    expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(maxBytes)
    expect(Buffer.byteLength(value)).toBeGreaterThan(maxBytes / 2)
    const [, kept = '', left, total] =
      /^(.*)\n\[Truncated: (\d+) of (\d+) characters omitted\.\]$/s.exec(value) ?? []
    expect(JSON.stringify(whole).startsWith(kept)).toBe(true)
    expect(Number(total)).toBe(JSON.stringify(whole).length)
    expect(Number(left)).toBe(Number(total) - kept.length)
  })

  it('stops reading an endless response at the limit and closes the connection', async () => {
    let sent = 0
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const { result } = await callTool((response) => {
      response.on('close', resolve)
      const more = () => {
        let isFlowing = !response.destroyed
        for (; isFlowing && !response.destroyed; sent += 65_536)
          isFlowing = response.write('é'.repeat(32_768))
      }
      response.on('drain', more)
      response.write('x')
      more()
    })
    await closed
    expect(result).toMatchObject({ ok: true, value: expect.stringContaining('was not read.]') })
    expect(sent).toBeLessThan(MAX_READ_BYTES * 20)
  })

  it('times out without a response and closes the connection', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const { result } = await callTool((response) => void response.on('close', resolve), { timeoutSeconds: 1 })
    await closed
    expect(result).toEqual({ ok: false, error: 'The call timed out after 1 s.' })
  })

  it('times out while the response body is incomplete', async () => {
    const { result } = await callTool(
      (response) => {
        const timer = setInterval(() => response.write('x'), 20)
        response.on('close', () => clearInterval(timer))
      },
      { timeoutSeconds: 1 },
    )
    expect(result).toEqual({ ok: false, error: 'The call timed out after 1 s.' })
  })

  it('returns an error if the connection is refused', async () => {
    const tools = await openDeclared([httpTool('127.0.0.1:1')])
    const error = expect.stringContaining('Could not connect to 127.0.0.1:1')
    expect(await call(tools, 'get', {})).toEqual({ ok: false, error })
  })
})

it('openHttpTool over TLS accepts trusted certificates only', async () => {
  const trusted = await serveTls()
  const other = await serveTls()
  const usual = getCACertificates('default')
  onTestFinished(() => setDefaultCACertificates(usual))
  setDefaultCACertificates([trusted.certificate])
  const tool = (host: string) => httpTool(host, { url: `https://${host}/` })
  const results = await Promise.all(
    [trusted, other].map(async ({ host }) => call(await openDeclared([tool(host)]), 'get', {})),
  )
  expect(results[0]).toEqual({ ok: true, value: 'over TLS' })
  expect(results[1]).toMatchObject({ ok: false, error: expect.stringContaining('certificate') })
})
