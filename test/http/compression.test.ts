import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'

const LONG = 'Grüße aus Köln. 😀 '.repeat(500)

let org: TestOrganization
let id: string

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  await org.publish('three-steps', { title: 'Three steps. '.repeat(100) })
  const run = await org.run('echo', { text: LONG })
  id = String(run.headers.get('x-execution-id'))
})

type Options = { method?: string; headers?: Record<string, string>; body?: string }

/** What is sent, without the decompression of fetch. */
async function send(path: string, { method = 'GET', headers = {}, body }: Options = {}) {
  const url = new URL(path, inject('service'))
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof read>>>()
  const outgoing = request(url, { method, headers: { Authorization: `Bearer ${org.token}`, ...headers } })
  outgoing.on('error', reject).on('response', (response) => read(response).then(resolve, reject))
  outgoing.end(body)
  return promise

  async function read(response: IncomingMessage) {
    return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) }
  }
}

const gzip = { 'Accept-Encoding': 'gzip' }
const plain = (bytes: Buffer) => JSON.parse(bytes.toString())
const unzipped = (bytes: Buffer) => plain(gunzipSync(bytes))

describe('a streamed operation', () => {
  it('compresses JSON for clients that accept it, and for no others', async () => {
    const path = `/v1/agent_executions/${id}`
    const identity = await send(path)
    expect(identity.headers['content-encoding']).toBeUndefined()
    expect(identity.headers.vary).toBe('Accept-Encoding')
    const compressed = await send(path, { headers: gzip })
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    expect(compressed.headers['content-type']).toBe('application/json')
    expect(unzipped(compressed.bytes)).toEqual(plain(identity.bytes))
    expect(compressed.bytes.length).toBeLessThan(identity.bytes.length / 4)
  })

  it('compresses outputs, lists and problem details', async () => {
    const headers = { ...gzip, 'Content-Type': 'application/json' }
    const run = await send('/v1/agents/echo/executions', {
      method: 'POST',
      headers,
      body: JSON.stringify({ text: LONG }),
    })
    expect(run.headers['content-encoding']).toBe('gzip')
    expect(JSON.stringify(unzipped(run.bytes))).toContain('Grüße aus Köln. 😀')
    const list = await send('/v1/agent_executions', { headers: gzip })
    expect(unzipped(list.bytes).map((record: { id: string }) => record.id)).toContain(id)
    const query = Array.from({ length: 30 }, (_, number) => `unknown${number}=1`).join('&')
    const problem = await send(`/v1/agent_executions?${query}`, { headers: gzip })
    expect([problem.status, problem.headers['content-type']]).toEqual([400, 'application/problem+json'])
    expect(unzipped(problem.bytes).errors).toHaveLength(30)
  })

  it.each(['/v1/openapi.json', '/v1/agents', '/v1/agents/three-steps', '/v1/agents/three-steps/versions'])(
    'compresses GET %s',
    async (path) => {
      const { status, headers, bytes } = await send(path, { headers: gzip })
      expect([status, headers['content-encoding']]).toEqual([200, 'gzip'])
      expect(unzipped(bytes)).toEqual(plain((await send(path)).bytes))
    },
  )

  it('sends small responses as they are, and no body in response to HEAD', async () => {
    const small = await send('/v1/agent_executions/01a2003a-d1f2-7169-a695-5ea4428d9251', { headers: gzip })
    expect(small.headers['content-encoding']).toBeUndefined()
    expect(plain(small.bytes).code).toBe('ExecutionNotFound')
    const head = await send(`/v1/agent_executions/${id}`, { method: 'HEAD', headers: gzip })
    expect([head.status, head.bytes.length]).toEqual([200, 0])
  })

  it('sends events as they are', async () => {
    const events = await send(`/v1/agent_executions/${id}/events`, { headers: gzip })
    expect(events.headers['content-type']).toBe('text/event-stream')
    expect(events.headers['content-encoding']).toBeUndefined()
    expect(events.bytes.toString()).toContain('event: done')
  })

  it('responds to fetch with the same bytes', async () => {
    const { json, headers } = await org.call('GET', `/v1/agent_executions/${id}`)
    expect(headers.get('content-encoding')).toBe('gzip')
    expect(json.input.text).toBe(LONG)
  })

  it('keeps the other headers', async () => {
    const { headers } = await send(`/v1/agent_executions/${id}`, { headers: { ...gzip, Prefer: 'wait=1' } })
    expect(headers).toMatchObject({ 'preference-applied': 'wait=1', 'cache-control': 'no-store' })
  })
})
