import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, inject, it } from 'vitest'
import { UNLIMITED } from '../../lib/core/access.ts'
import { LARGE_BODY_BYTES, MAX_PAYLOAD_BYTES } from '../../lib/core/limits.ts'
import type { RateStore } from '../../lib/core/ports/access.ts'
import { accessControl } from '../../lib/http/access-control.ts'
import { toAuthorizerContext } from '../../lib/http/authorizer-context.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { system } from '../../lib/system.ts'
import { createClient } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const RUN = '/v1/agents/echo/executions'

const post = (headers: string, body = '') => `POST ${RUN} HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`

const BYTES: Record<string, string> = {
  garbage: '\u0016\u0003\u0001 hello\r\n\r\n',
  'a request line without a version': 'GET /v1/agents\r\n\r\n',
  'a header without a colon': post('nonsense'),
  'a header with a NUL byte': post('X-A: \u0000'),
  'a negative length': post('Content-Length: -1'),
  'two lengths': post('Content-Length: 1\r\nContent-Length: 2', 'ab'),
  'a length and chunks': post('Content-Length: 1\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
  'a header of 100 kB': post(`X-A: ${'a'.repeat(100_000)}`),
}

it.each(Object.entries(BYTES))(
  'a malformed HTTP request gets problem details and a closed connection: %s',
  async (_, bytes) => {
    const { hostname, port } = new URL(inject('service'))
    const socket = connect(Number(port), hostname)
    socket.write(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(JSON.parse(body)).toMatchObject({ status: Number(head.slice(9, 12)), code: expect.any(String) })
  },
)

it('a body of 7 MB is too large, and does not hide that the token or the path is wrong', async () => {
  const raw = `{"text":"${'a'.repeat(7_000_000)}"}`
  const { call } = await organizationWith('echo')
  const wrong = createClient(inject('service'), 'aes_wrong')
  expect((await call('POST', RUN, { raw })).json.code).toBe('PayloadTooLarge')
  expect((await wrong('POST', RUN, { raw })).json.code).toBe('Unauthorized')
  expect((await call('POST', '/v1/nowhere', { raw })).json.code).toBe('RouteNotFound')
})

/** A store whose counters begin at `sum`, and what was added to them. */
function counting(sum = 0) {
  const added: number[] = []
  const rates: RateStore = {
    count: () => Promise.reject(new Error('No request of this test has a rate.')),
    countProcess: () => Promise.reject(new Error('No request of this test stays open.')),
    getQuota: async () => null,
    putQuota: async () => {},
    addBytes: async ({ bytes }) => {
      added.push(bytes)
      return sum + added.reduce((total, each) => total + each, 0)
    },
  }
  const { before } = accessControl({ scope: 'run', body: 'Input' }, rates) as {
    before: (request: { event: ServiceEvent }) => Promise<void>
  }
  const access = { ...UNLIMITED, organizationId: system.newId(), tokenId: system.newId() }
  const requestContext = { authorizer: toAuthorizerContext(access) }
  const send = (body: string | null, isBase64Encoded = false) =>
    before({ event: { body, isBase64Encoded, requestContext } as unknown as ServiceEvent })
  return { added, send }
}

describe('accessControl, for large bodies', () => {
  it('makes no request for small bodies, and none for those that are too large to be accepted', async () => {
    const { added, send } = counting(1e12)
    await send(null)
    await send('x'.repeat(LARGE_BODY_BYTES))
    await send('ä'.repeat(LARGE_BODY_BYTES / 2))
    await send(Buffer.alloc(LARGE_BODY_BYTES).toString('base64'), true)
    await send('x'.repeat(MAX_PAYLOAD_BYTES + 1))
    expect(added).toEqual([])
  })

  it('counts the bytes of others, however they are encoded', async () => {
    const { added, send } = counting()
    await send('x'.repeat(LARGE_BODY_BYTES + 1))
    await send('ä'.repeat(LARGE_BODY_BYTES / 2 + 1))
    await send(Buffer.alloc(LARGE_BODY_BYTES + 3).toString('base64'), true)
    expect(added).toEqual([1, 2, 3].map((more) => LARGE_BODY_BYTES + more))
  })

  it('makes no further request in a minute that is used up', async () => {
    const { added, send } = counting(60_000_000)
    const error = { code: 'TooManyRequests', status: 429 }
    for (let n = 0; n < 50; n++) await expect(send('x'.repeat(1_000_000))).rejects.toMatchObject(error)
    // Two, if a minute has begun in between.
    expect(added.length).toBeLessThanOrEqual(2)
  })
})
