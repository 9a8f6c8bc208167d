import type { LookupFunction } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sendWebhook } from '../../../lib/engine/notifications/send-webhook.ts'
import { newSecret } from '../../../lib/tools/egress/sign-webhook.ts'
import { failure, OK } from '../../support/notifications/an-outbox.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { serve } from '../../tools/serve.ts'
import { serveTls } from '../../tools/serve-tls.ts'

const SECRET = newSecret()
const BODY = '{"type":"execution.succeeded","data":{"output":"größe, confidential"}}'

type Overrides = Partial<Parameters<typeof sendWebhook>[0]> & { timeoutMs?: number; lookup?: LookupFunction }

const send = (host: string, { timeoutMs = 20_000, lookup, ...overrides }: Overrides = {}) =>
  sendWebhook(
    {
      url: `http://${host}/hook?token=abc`,
      allowedHosts: [host],
      mayBePrivate: () => true,
      secrets: [{ secret: SECRET, createdAt: '2026-11-01T00:00:00.000Z', expiresAt: null }],
      eventId: 'evt_1',
      body: BODY,
      now: 1_764_000_000_000,
      ...overrides,
    },
    { timeoutMs, ...(lookup && { lookup }) },
  )

/** A receiver on a bare socket. `respond` is called when the body of the request has arrived. */
async function listenRaw(respond: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    let request = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      request += chunk.toString()
      if (request.includes('confidential"}}')) respond(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  /** Resolves when the sender has closed all its connections. */
  const closed = () =>
    waitUntil(() => sockets.length > 0 && sockets.every(({ destroyed }) => destroyed), {
      what: 'the end of the connection',
      limitMs: 5_000,
    })
  return { host: `127.0.0.1:${port}`, sockets, closed }
}

it('sends nothing to an address that is not public unless operators allow it', async () => {
  const { host, sockets } = await listenRaw((socket) => socket.end())
  const mayBePrivate = () => false
  const { error } = await send(host, { mayBePrivate })
  expect(error).toContain(`unless operators name "${host}" in the setting webhookHosts`)
  const named = host.replace('127.0.0.1', 'receiver.example')
  const lookup: LookupFunction = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])
  const resolved = await send(named, { mayBePrivate, lookup })
  expect(resolved.error).toContain('resolves to a non-public address')
  expect(sockets).toEqual([])
})

const repeat = (socket: Socket, text: string, ms: number) => {
  const timer = setInterval(() => socket.write(text), ms)
  socket.on('close', () => clearInterval(timer))
}

/** Writes as fast as the reader reads. */
const flood = (socket: Socket) => {
  const write = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x')));
  }
  socket.on('drain', write)
  write()
}

describe('sendWebhook', () => {
  it('posts the body with its signature', async () => {
    const { host, received } = await serve((response) => response.writeHead(204).end())
    expect(await send(host)).toEqual({ ...OK, responseStatus: 204 })
    const headers = expect.objectContaining({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(BODY)),
      'user-agent': 'agent-execution-service',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1764000000',
      'webhook-signature': expect.stringMatching(/^v1,.{44}$/),
    })
    expect(received).toEqual([{ method: 'POST', path: '/hook?token=abc', headers, body: BODY }])
  })

  it.each([400, 404, 410, 429, 500, 304])('fails for %i', async (status) => {
    const { host, closed } = await listenRaw((socket) => {
      socket.write(
        `HTTP/1.1 ${status} X\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 99\r\n\r\n${BODY}`,
      )
    })
    const error = `The receiver answered ${status}.`
    expect(await send(host)).toEqual({ ...failure(error, status), isGone: status === 410 })
    await closed()
  })

  it.each([
    'http://169.254.169.254/latest/meta-data/iam?secret=abc',
    `//user:password@other.example/${'x'.repeat(1_000)}`,
  ])('does not follow a redirect to %s', async (location) => {
    const { host, received } = await serve((response) => response.writeHead(307, { location }).end())
    const result = await send(host)
    expect(result).toEqual(failure(expect.stringMatching(/^The receiver answered 307, a redirect/), 307))
    expect(result.error).not.toMatch(/secret|password/)
    expect(result.error?.length).toBeLessThanOrEqual(200)
    expect(received).toHaveLength(1)
  })

  it('does not send without a valid secret', async () => {
    const { host, connections } = await serve((response) => response.end())
    expect(await send(host, { secrets: [] })).toEqual(failure(expect.stringContaining('no valid secret')))
    expect(connections).toHaveLength(0)
  })

  describe('with a receiver that', () => {
    it.each<[string, number | null, string, string]>([
      ['never answers', null, '', ''],
      ['sends headers without an end', null, 'HTTP/1.1 200 OK\r\n', 'x: 1\r\n'],
      ['hangs after the headers', 200, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab', ''],
      ['sends a byte at a time', 200, 'HTTP/1.1 200 OK\r\n\r\n', 'x'],
    ])('%s, does not wait longer than the timeout', async (_, status, start, more) => {
      const { host, closed } = await listenRaw((socket) => {
        socket.write(start)
        if (more) repeat(socket, more, 20)
      })
      const what = status === null ? 'No answer' : 'The answer was not complete'
      const error = `${what} within 0.3 seconds.`
      expect(await send(host, { timeoutMs: 300 })).toEqual(failure(error, status))
      await closed()
    })

    it('has an endless answer, stops reading', async () => {
      const { host, sockets, closed } = await listenRaw((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        flood(socket)
      })
      expect(await send(host)).toEqual(OK)
      await closed()
      // What the buffers of the sockets take.
      expect(sockets[0]?.bytesWritten).toBeLessThan(20_000_000)
    })

    const ending = (text: string) => (socket: Socket) => socket.end(text)
    const switching = (socket: Socket) =>
      socket.write('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    it.each([
      ['closes after reading', (socket: Socket) => socket.end(), null],
      ['resets after reading', (socket: Socket) => socket.resetAndDestroy(), null],
      ['is killed in its answer', ending('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab'), 200],
      ['switches protocols', switching, null],
      ['is not an HTTP server', ending('220 smtp.example ESMTP\r\n'), null],
      ['sends 1 MB of headers', ending(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(1e6)}\r\n\r\n`), null],
    ])('%s, has not received the event', async (_, respond, status) => {
      const { host } = await listenRaw(respond)
      const error = expect.stringMatching(/^The connection was dropped: /)
      expect(await send(host)).toEqual(failure(error, status))
    })

    it('does not listen, has not received the event', async () => {
      const error = 'Could not connect to 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1.'
      expect(await send('127.0.0.1:1')).toEqual(failure(error))
    })
  })

  it('rejects a certificate that it does not trust, also of an allowed host', async () => {
    const { host } = await serveTls()
    const error = expect.stringMatching(/^Could not connect to localhost:\d+: .*certificate/)
    expect(await send(host, { url: `https://${host}/` })).toEqual(failure(error))
  })
})
