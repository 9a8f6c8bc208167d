import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, inject, it } from 'vitest'
import { type ConsoleFile, etagOf } from '../../lib/console-server/console-files.ts'
import { toFileResponse } from '../../lib/console-server/file-response.ts'
import { addSignIn } from '../../lib/console-server/sign-in-settings.ts'
import type { Environment } from '../../lib/environment.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { type ApiClient, createClient } from '../support/service/client.ts'

const anonymous: ApiClient = createClient(inject('service'), null)

/** Without redirects, and without decoding the body. */
async function getRaw(path: string, headers: Record<string, string> = {}) {
  const [response] = (await once(get(`${inject('service')}${path}`, { headers }), 'response')) as [
    IncomingMessage,
  ]
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

const policyFor = (origins: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'${origins}; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

describe('GET /console', () => {
  it('returns the page without a token, to be validated before each use', async () => {
    const { status, headers, text } = await anonymous('GET', '/console?utm_source=mail')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(headers.get('content-security-policy')).toBe(policyFor(''))
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

it.each([
  ['br, gzip', 'br', brotliDecompressSync],
  ['gzip, deflate, br;q=0', 'gzip', gunzipSync],
  ['identity', undefined, (bytes: Buffer) => bytes],
  ['', undefined, (bytes: Buffer) => bytes],
])(
  'the files of the console are compressed as the client accepts it: "%s"',
  async (accepted, encoding, decode) => {
    const { text: page } = await anonymous('GET', '/console')
    const file = `/${/console\/main-\w+\.js/.exec(page)?.[0]}`
    const plain = await getRaw(file)
    const { headers, body } = await getRaw(file, { 'Accept-Encoding': accepted })
    expect([headers['content-encoding'], headers.vary]).toEqual([encoding, 'Accept-Encoding'])
    expect(decode(body).equals(plain.body)).toBe(true)
    if (encoding) expect(body.length).toBeLessThan(plain.body.length / 2)
  },
)

const content = Buffer.from('<head>\n    <title>Console</title></head>')

const PAGE: ConsoleFile = {
  type: 'text/html; charset=utf-8',
  etag: etagOf(content),
  content,
  compressed: { br: content, gzip: content },
  isImmutable: false,
}

const PROVIDER = {
  OIDC_ISSUER: 'https://login.example.com/acme/',
  OIDC_AUDIENCE: ' https://agents.example.com , api://agents',
  OIDC_CLIENT_ID: 'console',
}

const respond = (file: ConsoleFile, headers: Record<string, string> = {}) =>
  toFileResponse(file, { headers } as unknown as ServiceEvent)

const policyOf = (environment: Environment) =>
  respond(addSignIn(PAGE, environment)).headers?.['Content-Security-Policy']

const metaOf = ({ content }: ConsoleFile) => {
  const [, attribute = ''] = /<meta name="sign-in" content="([^"]*)">/.exec(String(content)) ?? []
  return JSON.parse(attribute.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&'))
}

describe('the page of the console', () => {
  it.each([
    {},
    { OIDC_ISSUER: PROVIDER.OIDC_ISSUER, OIDC_AUDIENCE: 'a' },
    { OIDC_CLIENT_ID: 'console' },
    { OIDC_ISSUER: '', OIDC_CLIENT_ID: '' },
  ])('is the same without an issuer and a client: %j', (environment) => {
    expect(addSignIn(PAGE, environment)).toBe(PAGE)
    expect(policyOf(environment)).toContain("connect-src 'self';")
  })

  it('says where and as what to sign in, in each of its forms', () => {
    const page = addSignIn(PAGE, PROVIDER)
    const expected = {
      issuer: 'https://login.example.com/acme/',
      clientId: 'console',
      audience: 'https://agents.example.com',
      scope: 'openid profile email',
      origins: ['https://login.example.com'],
    }
    expect(metaOf(page)).toEqual(expected)
    expect(page.content.toString()).toContain('<title>Console</title>')
    expect(brotliDecompressSync(page.compressed.br).equals(page.content)).toBe(true)
    expect(gunzipSync(page.compressed.gzip).equals(page.content)).toBe(true)
  })

  const OF_PROVIDER = { all: ['run', 'read', 'manage'], use: ['run', 'read'], email: ['approve'] }
  it.each([
    ['nothing of `scope`', { scopes: ['run'] }, ''],
    ['another claim', { scopes: { claim: 'permissions' } }, ''],
    ['the scopes of the service', { scopes: { claim: 'scope' } }, ' run read manage review approve'],
    ['scopes of the provider', { scopes: { claim: 'scp', values: OF_PROVIDER } }, ' use all'],
  ])('asks for what a mapping needs that reads %s', (_, mapping, more) => {
    const environment = { ...PROVIDER, OIDC_MAPPING: JSON.stringify(mapping) }
    expect(metaOf(addSignIn(PAGE, environment)).scope).toBe(`openid profile email${more}`)
    const own = addSignIn(PAGE, { ...environment, OIDC_SCOPE: 'openid own' })
    expect(metaOf(own).scope).toBe('openid own')
  })

  it('may connect to the issuer and its token endpoint, and to nothing else', () => {
    expect(policyOf(PROVIDER)).toBe(policyFor(' https://login.example.com'))
    expect(policyOf({ ...PROVIDER, OIDC_TOKEN_ORIGIN: 'https://token.example.com' })).toContain(
      "connect-src 'self' https://login.example.com https://token.example.com;",
    )
  })
})
