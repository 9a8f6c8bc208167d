import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type ConsoleFile, etagOf } from '../../lib/console-server/console-files.ts'
import { toFileResponse } from '../../lib/console-server/file-response.ts'
import { addSignIn } from '../../lib/console-server/sign-in-settings.ts'
import type { Environment } from '../../lib/environment.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'

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

const metaOf = (text: string) => {
  const [, attribute = ''] = /<meta name="sign-in" content="([^"]*)">/.exec(text) ?? []
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
    expect(metaOf(page.content.toString())).toEqual(expected)
    expect(page.content.toString()).toContain('<title>Console</title>')
    expect(brotliDecompressSync(page.compressed.br).equals(page.content)).toBe(true)
    expect(gunzipSync(page.compressed.gzip).equals(page.content)).toBe(true)
  })

  it.each([
    ['nothing of `scope`', { scopes: ['run'] }, ''],
    ['another claim', { scopes: { claim: 'permissions' } }, ''],
    ['the scopes of the service', { scopes: { claim: 'scope' } }, ' run read manage review approve'],
    [
      'scopes of the provider',
      {
        scopes: {
          claim: 'scp',
          values: { all: ['run', 'read', 'manage'], use: ['run', 'read'], email: ['approve'] },
        },
      },
      ' use all',
    ],
  ])('asks for what a mapping needs that reads %s', (_, mapping, more) => {
    const environment = { ...PROVIDER, OIDC_MAPPING: JSON.stringify(mapping) }
    expect(metaOf(addSignIn(PAGE, environment).content.toString()).scope).toBe(`openid profile email${more}`)
    const own = addSignIn(PAGE, { ...environment, OIDC_SCOPE: 'openid own' })
    expect(metaOf(own.content.toString()).scope).toBe('openid own')
  })

  it('may connect to the issuer and its token endpoint, and to nothing else', () => {
    expect(policyOf(PROVIDER)).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' https://login.example.com; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(policyOf({ ...PROVIDER, OIDC_TOKEN_ORIGIN: 'https://token.example.com' })).toContain(
      "connect-src 'self' https://login.example.com https://token.example.com;",
    )
  })
})
