import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { createClient } from '../support/service/client.ts'

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

describe('a malformed HTTP request', () => {
  it.each(Object.entries(BYTES))('gets problem details and a closed connection: %s', async (_, bytes) => {
    const { hostname, port } = new URL(inject('service'))
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.write(bytes)
    await once(socket, 'close')
    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(JSON.parse(body)).toMatchObject({ status: Number(head.slice(9, 12)), code: expect.any(String) })
  })
})

describe('a body of 7 MB', () => {
  const raw = `{"text":"${'a'.repeat(7_000_000)}"}`
  let org: TestOrganization
  beforeAll(async () => {
    org = await newOrganization()
    await org.publish('echo')
  })

  it('is too large, and does not hide that the token or the path is wrong', async () => {
    const wrong = createClient(inject('service'), 'aes_wrong')
    const responses = [
      await org.call('POST', RUN, { raw }),
      await wrong('POST', RUN, { raw }),
      await org.call('POST', '/v1/nowhere', { raw }),
    ]
    const codes = responses.map(({ json }) => json.code)
    expect(codes).toEqual(['PayloadTooLarge', 'Unauthorized', 'RouteNotFound'])
  })
})
