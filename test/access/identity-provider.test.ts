import { type CryptoKey, exportSPKI, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openIdentityProvider } from '../../lib/access/identity-provider.ts'
import { Unavailable } from '../../lib/core/errors.ts'
import { isUuid, subjectIdOf } from '../../lib/core/ids.ts'
import { logger } from '../../lib/logger.ts'
import {
  type Behaviour,
  type Claims,
  newSigningKey,
  type ScriptedProvider,
  type SigningKey,
  startScriptedProvider,
} from '../support/identity/start-scripted-provider.ts'

const ORGANIZATION = '0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48'
const MAPPING = { organization: ORGANIZATION, scopes: { claim: 'scope' } }

let provider: ScriptedProvider
let identify: (token: string) => ReturnType<ReturnType<typeof openIdentityProvider>['identify']>

const openProvider = (environment: Record<string, string> = {}) =>
  openIdentityProvider({
    OIDC_ISSUER: provider.issuer,
    OIDC_AUDIENCE: 'agents, https://agents.example',
    OIDC_MAPPING: JSON.stringify(MAPPING),
    ...environment,
  })
const open = (environment?: Record<string, string>) => {
  const opened = openProvider(environment)
  return (token: string) => opened.identify(`Bearer ${token}`)
}

const sign = (claims: Claims = {}, options?: Parameters<ScriptedProvider['sign']>[1]) =>
  provider.sign({ scope: 'run read', ...claims }, options)

const seconds = () => Math.floor(Date.now() / 1_000)

beforeEach(async () => {
  // For what looks at a clock, and not for sockets: a test says when time passes.
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() })
  provider = await startScriptedProvider()
  identify = open()
})
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await provider.stop()
})

const passTime = (ms: number) => vi.advanceTimersByTime(ms)

describe('a token of the provider', () => {
  it('gives access as its subject, until it ends', async () => {
    const exp = seconds() + 60
    const access = await identify(await sign({ exp, name: 'Ada' }))
    expect(access).toEqual({
      organizationId: ORGANIZATION,
      tokenId: subjectIdOf(provider.issuer, 'ada'),
      tokenName: 'Ada',
      subject: 'ada',
      expiresAt: exp,
      scopes: ['run', 'read'],
      agents: null,
      tenantId: null,
      rate: null,
    })
    expect(isUuid(String(access?.tokenId))).toBe(true)
    expect(provider.requests).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  it.each([
    [{ name: 'Ada', email: 'ada@example.com' }, 'Ada'],
    [{ name: ['Ada'], email: 'ada@example.com' }, 'ada@example.com'],
    [{ name: '', email: 7, preferred_username: 'ada.l' }, 'ada.l'],
    [{ name: 'x'.repeat(101) }, 'ada'],
    [{ name: 'a\nb' }, 'ada'],
    [{}, 'ada'],
  ])('has a name of %j', async (claims, tokenName) => {
    expect(await identify(await sign(claims))).toMatchObject({ tokenName })
  })

  it.each([
    ['a list of audiences with one of ours', { aud: ['x', 'https://agents.example'] }],
    ['a start a moment ahead of our clock', { nbf: seconds() + 4 }],
    ['a nonce, as of earlier releases of Keycloak', { nonce: 'x' }],
    ['an end within a second', { exp: seconds() + 3_600.5 }],
  ])('is accepted with %s', async (_, claims) => {
    expect(await identify(await sign(claims))).toMatchObject({ subject: 'ada', organizationId: ORGANIZATION })
  })

  it.each(['at+jwt', 'application/at+jwt', 'JWT', 'jwt'])('is accepted with the type %s', async (typ) => {
    expect(await identify(await sign({}, { header: { typ } }))).toMatchObject({ subject: 'ada' })
  })

  it.each(['PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'])(
    'is accepted with a signature by %s',
    async (alg) => {
      const key = await newSigningKey('other', alg)
      provider.publish([key.jwk])
      expect(await identify(await sign({}, { key }))).toMatchObject({ subject: 'ada' })
    },
  )

  it('names a claim that is missing or not mapped, and never a value', async () => {
    const tokenId = subjectIdOf(provider.issuer, 'ada')
    const exp = seconds() + 60
    const common = { tokenId, expiresAt: exp }
    expect(await identify(await provider.sign({ exp }))).toEqual({
      ...{ ...common, lacksScope: true },
      forbidden: 'The token has no claim "scope", which gives its scope.',
    })
    const refused = await identify(await sign({ exp, scope: 'hidden' }))
    const forbidden = expect.stringContaining('"scope" gives the token no scope')
    expect(refused).toEqual({ ...common, lacksScope: true, forbidden })
    expect(JSON.stringify(refused)).not.toContain('hidden')
    const OIDC_MAPPING = JSON.stringify({ ...MAPPING, tenant: { claim: 'customer' } })
    expect(await open({ OIDC_MAPPING })(await sign({ exp, scope: 'openid' }))).toEqual({
      ...common,
      forbidden: 'The token has no claim "customer", which gives its tenant.',
    })
  })
})

describe('a token is rejected', () => {
  it.each<[string, Claims]>([
    ['that has expired', { exp: seconds() - 6 }],
    ['without an end', { exp: undefined }],
    ['with an end in milliseconds', { exp: Date.now() + 60_000 }],
    ['that is not valid yet', { nbf: seconds() + 60 }],
    ['of another issuer', { iss: 'https://login.example' }],
    ['without an issuer', { iss: undefined }],
    ['for another audience', { aud: 'other' }],
    ['for other audiences', { aud: ['other', 'agents,'] }],
    ['without an audience', { aud: undefined }],
    ['with an empty list of audiences', { aud: [] }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['with a long subject', { sub: 'a'.repeat(256) }],
    ['that is bound to a key of its client', { cnf: { jkt: 'x' } }],
    ['that is an ID token, issued with an access token', { at_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' }],
    ['that is an ID token, issued with a code', { c_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' }],
  ])('%s', async (_, claims) => {
    expect(await identify(await sign(claims))).toBeNull()
  })

  it('whose issuer differs by a slash at its end', async () => {
    expect(await identify(await sign({ iss: `${provider.issuer}/` }))).toBeNull()
  })

  it.each(['logout+jwt', 'dpop+jwt', 'secevent+jwt', 'at+jwt+x', ''])('of the type "%s"', async (typ) => {
    expect(await identify(await sign({}, { header: { typ } }))).toBeNull()
  })

  it('without a signature, for which the provider is not asked', async () => {
    const claims = { scope: 'run', sub: 'ada', aud: 'agents', iss: provider.issuer }
    const token = new UnsecuredJWT(claims).setExpirationTime('1h').encode()
    const [header, payload] = token.split('.')
    expect(await identify(token)).toBeNull()
    expect(await identify(`${header}.${payload}.AAAA`)).toBeNull()
    const signed = (await sign()).split('.')
    for (const alg of ['none', 'None', 'NONE', 'HS256', '', 7, null, ['RS256']]) {
      const changed = Buffer.from(JSON.stringify({ alg, kid: 'first' })).toString('base64url')
      expect(await identify([changed, ...signed.slice(1)].join('.')), String(alg)).toBeNull()
    }
    expect(provider.requests).toEqual([])
  })

  it('whose claims, header or signature were changed', async () => {
    const [header = '', payload = '', signature = ''] = (await sign()).split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url')
    expect(await identify([header, forged, signature].join('.'))).toBeNull()
    const flipped = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`
    expect(await identify([header, payload, flipped].join('.'))).toBeNull()
    expect(await identify([header, payload, signature].join('.'))).toMatchObject({ subject: 'ada' })
  })

  const signWithSecret = (kid: string, secret: Uint8Array) =>
    new SignJWT({ scope: 'run', sub: 'ada', aud: 'agents', iss: provider.issuer, exp: seconds() + 60 })
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(secret)

  it('signed with the public key as an HMAC secret', async () => {
    const pem = await exportSPKI(provider.key.publicKey)
    for (const secret of [pem, pem.trim(), JSON.stringify(provider.key.jwk), provider.key.jwk.n ?? ''])
      expect(await identify(await signWithSecret('first', Buffer.from(secret)))).toBeNull()
  })

  it('signed with a secret that the provider publishes', async () => {
    const secret = Buffer.alloc(32, 7)
    const jwk = { kty: 'oct', k: secret.toString('base64url'), kid: 'secret' }
    provider.publish([{ ...jwk, alg: 'HS256' }, jwk, { ...jwk, alg: 'none' }, provider.key.jwk])
    expect(await identify(await signWithSecret('secret', secret))).toBeNull()
    expect(await identify(await sign()), 'its other keys are used').toMatchObject({ subject: 'ada' })
  })

  it('with a key of its own in its header, which is not asked for either', async () => {
    const own = await newSigningKey('own', 'ES256')
    const hostile = await startScriptedProvider()
    hostile.publish([own.jwk])
    const url = `${hostile.issuer}/keys`
    for (const header of [{ jwk: own.jwk }, { jku: url }, { x5u: url }, { jwk: own.jwk, kid: 'first' }])
      expect(await identify(await sign({}, { key: own, header }))).toBeNull()
    expect(hostile.requests).toEqual([])
    await hostile.stop()
  })

  it('signed with a key for encryption, or another algorithm than that of the key', async () => {
    const key = await newSigningKey('enc')
    provider.publish([{ ...key.jwk, use: 'enc' }])
    expect(await identify(await sign({}, { key }))).toBeNull()
    const other: SigningKey = { ...provider.key, alg: 'RS512', privateKey: await toRs512(provider.key) }
    provider.publish([provider.key.jwk])
    passTime(51_000)
    expect(await identify(await sign({}, { key: other }))).toBeNull()
  })

  it('that has more than 8 kB, without a request', async () => {
    const filled = async (length: number) => {
      const empty = (await sign({ fill: '' })).length
      return sign({ fill: 'x'.repeat(Math.floor(((length - empty) * 3) / 4)) })
    }
    const large = await filled(8_190)
    const larger = await filled(8_200)
    expect([large.length <= 8_192, larger.length > 8_192]).toEqual([true, true])
    const log = vi.spyOn(logger, 'info').mockImplementation(() => undefined)
    expect(await identify(larger)).toBeNull()
    expect(log.mock.calls).toEqual([['JSON Web Token rejected', { code: 'TOO_LARGE' }]])
    expect(provider.requests).toEqual([])
    expect(await identify(large)).toMatchObject({ subject: 'ada' })
  })
})

async function toRs512({ privateKey }: SigningKey): Promise<CryptoKey> {
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', privateKey)
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' }
  return crypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign'])
}

describe('the keys of the provider', () => {
  it('are found within a minute after a rotation', async () => {
    expect(await identify(await sign())).toMatchObject({ subject: 'ada' })
    await provider.rotate('second')
    passTime(50_000)
    expect(await identify(await sign())).toMatchObject({ subject: 'ada' })
    expect(provider.requests).toHaveLength(4)
  })

  it('are found at another URL within a minute, also while the old URL answers', async () => {
    const old = provider.key
    expect(await identify(await sign())).toMatchObject({ subject: 'ada' })
    const moved = await newSigningKey('moved', 'ES256')
    const { issuer } = provider
    const configuration = JSON.stringify({ issuer, jwks_uri: `${issuer}/moved` })
    provider.behaviours.configuration = (_, response) => void response.end(configuration)
    provider.behaviours.keys = ({ url }, response) => {
      const { jwk } = url === '/moved' ? moved : old
      response.end(JSON.stringify({ keys: [jwk] }))
    }
    passTime(50_000)
    expect(await identify(await sign({}, { key: moved }))).toMatchObject({ subject: 'ada' })
    expect(provider.requests.slice(2)).toEqual(['/.well-known/openid-configuration', '/moved'])
    expect(await identify(await sign()), 'the key that the provider has withdrawn').toBeNull()
  })

  it('are no longer used 10 minutes after the provider has withdrawn them', async () => {
    const token = await sign()
    expect(await identify(token)).toMatchObject({ subject: 'ada' })
    await provider.rotate('second')
    passTime(600_000)
    expect(await identify(token)).toBeNull()
  })

  it('are asked for once, whatever number of tokens name unknown ones at the same time', async () => {
    const eve = await newSigningKey('x', 'ES256')
    const tokens = await Promise.all(
      Array.from({ length: 200 }, (_, index) => sign({}, { key: eve, header: { kid: `unknown-${index}` } })),
    )
    const results = await Promise.all(tokens.map(identify))
    expect(new Set(results)).toEqual(new Set([null]))
    expect(provider.requests).toHaveLength(2)
    expect(await identify(await sign())).toMatchObject({ subject: 'ada' })
    for (const token of tokens) expect(await identify(token)).toBeNull()
    expect(provider.requests, 'in sequence').toHaveLength(2)
    for (const token of tokens.slice(0, 98)) {
      passTime(500)
      expect(await identify(token)).toBeNull()
    }
    expect(provider.requests, 'in 49 seconds').toHaveLength(2)
    passTime(1_000)
    await Promise.all(tokens.map(identify))
    for (const token of tokens.slice(0, 100)) expect(await identify(token)).toBeNull()
    expect(provider.requests, 'later').toHaveLength(4)
  })
})

describe('a provider that does not answer as expected', () => {
  const send =
    (text: string): Behaviour =>
    (_, response) =>
      void response.end(text)
  const huge: Behaviour = (_, response) => {
    response.on('error', () => undefined)
    response.end(`{"keys":[],"fill":"${'x'.repeat(5 * 1024 * 1024)}"}`)
  }

  const FAULTS: [string, Behaviour][] = [
    [
      'hangs up within its response',
      (request, response) => {
        response.writeHead(200, { 'Content-Length': 1_000 })
        response.write('{"keys":', () => request.socket.destroy())
      },
    ],
    ['responds with 500', (_, response) => void response.writeHead(500).end('{"keys":[]}')],
    ['responds with 404', (_, response) => void response.writeHead(404).end()],
    ['redirects', (_, response) => void response.writeHead(302, { Location: '/elsewhere' }).end()],
    ['sends 5 MB', huge],
    ['sends a list', send('[]')],
    ['sends keys that are none', send('{"keys":["a"],"issuer":7}')],
    ['sends no keys', send('{"keys":{}}')],
  ]

  it.each(
    FAULTS.flatMap(([name, behaviour]) =>
      (['configuration', 'keys'] as const).map((part) => [name, part, behaviour] as const),
    ),
  )(
    'is unavailable if it %s for its %s, gets one request in a second, and is used when it is well again',
    async (_, part, behaviour) => {
      const log = vi.spyOn(logger, 'warn').mockImplementation(() => undefined)
      provider.behaviours[part] = behaviour
      const token = await sign()
      const results = await Promise.allSettled(Array.from({ length: 50 }, () => identify(token)))
      for (const result of results)
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
      for (let i = 0; i < 50; i++) await expect(identify(token)).rejects.toThrow(Unavailable)
      expect(provider.requests).toHaveLength(part === 'configuration' ? 1 : 2)
      const logged = { url: expect.stringContaining(provider.issuer), reason: expect.any(String) }
      expect(log.mock.calls).toEqual([['The identity provider does not answer as expected', logged]])
      provider.behaviours[part] = undefined
      passTime(1_000)
      expect(await identify(token)).toMatchObject({ subject: 'ada' })
    },
  )

  it('is given up well within the 10 s for which API Gateway waits for its two responses', async () => {
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return AbortSignal.abort(new DOMException('The operation timed out.', 'TimeoutError'))
    })
    await expect(identify(await sign())).rejects.toThrow(Unavailable)
    expect(limits).toHaveLength(1)
    expect(limits[0]).toBeLessThan(10_000 / 2)
  })

  it('is unavailable with keys without TLS, although they are there', async () => {
    const keys = 'http://keys.example/keys'
    provider.behaviours.configuration = send(JSON.stringify({ issuer: provider.issuer, jwks_uri: keys }))
    const original = fetch
    const requested: string[] = []
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, options) => {
      requested.push(String(url))
      return original(url === keys ? `${provider.issuer}/keys` : url, options)
    })
    await expect(identify(await sign())).rejects.toThrow(Unavailable)
    expect(requested).toEqual([`${provider.issuer}/.well-known/openid-configuration`])
  })

  it.each([
    ['another issuer', (issuer: string) => ({ issuer: `${issuer}/`, jwks_uri: `${issuer}/keys` })],
    ['no keys', (issuer: string) => ({ issuer })],
    ['keys in a file', (issuer: string) => ({ issuer, jwks_uri: 'file:///etc/passwd' })],
    ['keys at no URL', (issuer: string) => ({ issuer, jwks_uri: ['https://keys.example'] })],
  ])('is unavailable with a configuration of %s', async (_, toConfiguration) => {
    const configuration = JSON.stringify(toConfiguration(provider.issuer))
    provider.behaviours.configuration = send(configuration)
    await expect(identify(await sign())).rejects.toThrow(Unavailable)
    expect(provider.requests).toEqual(['/.well-known/openid-configuration'])
  })

  it('that is down at the first token is used when it is up', async () => {
    await provider.stop()
    const token = await sign()
    await expect(identify(token)).rejects.toThrow(Unavailable)
    await provider.restart()
    passTime(1_000)
    expect(await identify(token)).toMatchObject({ subject: 'ada' })
  })

  it('is unavailable for a token whose key is not usable', async () => {
    const key: SigningKey = { ...provider.key, kid: 'short' }
    provider.publish([{ ...key.jwk, kid: 'short', n: 'AQAB' }])
    await expect(identify(await sign({}, { key }))).rejects.toThrow(Unavailable)
  })
})

describe('openIdentityProvider', () => {
  it.each(['OIDC_ISSUER', 'OIDC_AUDIENCE', 'OIDC_MAPPING'])('fails at once without %s', (name) => {
    expect(() => open({ [name]: '' })).toThrow(`The environment variable ${name} is not set.`)
  })

  it('recognizes the form of a JSON Web Token', () => {
    const { isJwt } = openProvider()
    const token = 'eyJhbGciOiJSUzI1NiJ9.e30.AAAA'
    for (const header of [`Bearer ${token}`, `bearer  ${token} `]) expect(isJwt(header)).toBe(true)
    for (const header of [token, `Basic ${token}`, `Bearer ${token}.x`, 'Bearer ey.'])
      expect(isJwt(header)).toBe(false)
  })
})
