import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type ApiClient, createClient } from '../support/service/client.ts'

const anonymous: ApiClient = createClient(inject('service'), null)

/** Paths of the files that the page refers to, by their ends. */
const files = { js: '', css: '' }

beforeAll(async () => {
  const { text: page } = await anonymous('GET', '/console')
  for (const type of ['js', 'css'] as const)
    files[type] = `/${new RegExp(`console/main-\\w+\\.${type}`).exec(page)?.[0]}`
})

/** Without redirects, and without decoding the body. */
function getRaw(path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: Record<string, string | undefined>; body: Buffer }>(
    (resolve, reject) => {
      request(`${inject('service')}${path}`, { headers }, async (response) => {
        const chunks = await response.toArray()
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          body: Buffer.concat(chunks),
        })
      })
        .on('error', reject)
        .end()
    },
  )
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

describe('GET /console', () => {
  it('returns the page without a token, to be validated before each use', async () => {
    const { status, headers, text } = await anonymous('GET', '/console?utm_source=mail')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(headers.get('content-security-policy')).toBe(POLICY)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(text).not.toMatch(/<style|style=|<script>|https?:\/\/(?!www\.w3\.org)|\son\w+=/)
  })

  it('responds with 304 if the client has the page', async () => {
    const { headers } = await anonymous('GET', '/console')
    const etag = headers.get('etag') ?? ''
    for (const given of [etag, `"other", ${etag}`, '*', etag.replace('W/', '')]) {
      const response = await getRaw('/console', { 'If-None-Match': given })
      expect([response.status, response.body.length]).toEqual([304, 0])
      expect(response.headers.etag).toBe(etag)
    }
    expect((await getRaw('/console', { 'If-None-Match': '"other"' })).status).toBe(200)
  })

  it.each(['/', '/console/', '//', '/?token=x'])('is where %s redirects to', async (path) => {
    const { status, headers } = await getRaw(path)
    expect([status, headers.location]).toEqual([302, '/console'])
  })
})

describe('the files of the console', () => {
  it.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate, br;q=0', 'gzip', gunzipSync],
    ['identity', undefined, (bytes: Buffer) => bytes],
    ['', undefined, (bytes: Buffer) => bytes],
  ])('are compressed as the client accepts it: "%s"', async (accepted, encoding, decode) => {
    const plain = await getRaw(files.js)
    const { headers, body } = await getRaw(files.js, { 'Accept-Encoding': accepted })
    expect([headers['content-encoding'], headers.vary]).toEqual([encoding, 'Accept-Encoding'])
    expect(decode(body).equals(plain.body)).toBe(true)
    if (encoding) expect(body.length).toBeLessThan(plain.body.length / 2)
  })
})
