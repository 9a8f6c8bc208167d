import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, inject, it } from 'vitest'
import { chooseEncoding, chooseMediaType } from '../../lib/http/negotiation.ts'
import { getExecutionId } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const LONG = 'Grüße aus Köln. 😀 '.repeat(500)

const org = await organizationWith('echo')
const id = getExecutionId(await org.run('echo', { text: LONG }))

type Options = { method?: string; headers?: Record<string, string> }

/** What is sent, without the decompression of fetch. */
async function send(path: string, { method = 'GET', headers = {} }: Options = {}) {
  const url = new URL(path, inject('service'))
  const outgoing = request(url, { method, headers: { Authorization: `Bearer ${org.token}`, ...headers } })
  outgoing.end()
  const [response]: IncomingMessage[] = await once(outgoing, 'response')
  return {
    status: response?.statusCode,
    headers: response?.headers ?? {},
    bytes: await buffer(response as never),
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

describe('chooseEncoding', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br ; q=0.8 , gzip ; q=0.8', 'br'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.001', 'gzip'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    ['*;q=0', undefined],
    ['identity', undefined],
    ['identity, *;q=0.5', undefined],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['deflate, zstd', undefined],
    ['gzip;q=2', undefined],
    [';q=1', undefined],
  ])('%j: %s', (header, expected) => {
    expect(chooseEncoding(header, ['br', 'gzip'])).toBe(expected)
  })

  it('reads a long header in time that grows with its length', () => {
    const header = `${'gzip;q='.repeat(2_000)}${' ;'.repeat(4_000)}`
    expect(chooseEncoding(header, ['gzip'])).toBeUndefined()
  })
})

describe('chooseMediaType', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/csv', 'text/csv'],
    ['text/*', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    ['text/csv, application/json', 'application/json'],
    ['text/csv, application/json;q=0.9', 'text/csv'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/csv;q=0.5, */*;q=0.1', 'text/csv'],
    ['*/*, application/json;q=0.5', 'text/csv'],
    ['application/*;q=0, */*', 'text/csv'],
    ['text/csv;q=0', 'application/json'],
    ['text/csv;q=0, */*', 'application/json'],
    ['application/json;q=0, text/csv;q=0', 'application/json'],
    ['image/png', 'application/json'],
  ])('%j: %s', (header, expected) => {
    expect(chooseMediaType(header, ['application/json', 'text/csv'])).toBe(expected)
  })

  it('reads a long header in time that grows with its length', () => {
    const header = `${'text/csv;q='.repeat(2_000)}${' ;'.repeat(4_000)}${',text/csv'.repeat(2_000)}`
    expect(chooseMediaType(header, ['application/json', 'text/csv'])).toBe('application/json')
  })
})
