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
    expect(events.headers['x-accel-buffering']).toBe('no')
    expect(events.headers['content-encoding']).toBeUndefined()
    expect(events.bytes.toString()).toContain('event: done')
  })
})
