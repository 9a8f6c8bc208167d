import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { beginSignIn, completeSignIn } from '../../../console/sign-in/code-flow.ts'
import type { ProviderResponse } from '../../../console/state/provider-sign-in.ts'
import type { SignInSettings } from '../../../lib/console-server/sign-in-settings.ts'

const ISSUER = 'https://login.example'
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

const settings: SignInSettings = {
  issuer: ISSUER,
  clientId: 'console',
  audience: 'https://agents.example',
  scope: 'openid profile',
  origins: [ISSUER],
}

const description = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize?policy=a`,
  token_endpoint: `${ISSUER}/token`,
}

const pending = { state: 's', verifier: 'v', page: '#/runs' }
const response: ProviderResponse = { code: 'c', error: null, description: null, issuer: null, pending }
const { signal } = new AbortController()

let answers: Record<string, () => Response>
let requests: { url: string; body: URLSearchParams | null; init: RequestInit }[]
let stored: Map<string, string>
let canStore: boolean

beforeEach(() => {
  answers = {
    [`${ISSUER}/.well-known/openid-configuration`]: () => Response.json(description),
    [`${ISSUER}/token`]: () => Response.json({ access_token: JWT, token_type: 'Bearer', id_token: 'x' }),
  }
  requests = []
  stored = new Map()
  canStore = true
  vi.stubGlobal('fetch', async (url: string | URL, init: RequestInit) => {
    requests.push({ url: String(url), body: init.body as URLSearchParams | null, init })
    init.signal?.throwIfAborted()
    const answer = answers[String(url)]
    if (!answer) throw new TypeError('Failed to fetch')
    return answer()
  })
  const sessionStorage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => {
      if (!canStore) throw new DOMException('full', 'QuotaExceededError')
      stored.set(key, text)
    },
    removeItem: (key: string) => stored.delete(key),
  }
  const location = { origin: 'https://api.example', pathname: '/live/console', hash: '#/runs?status=ERROR' }
  vi.stubGlobal('window', { isSecureContext: true, location, sessionStorage })
})
afterEach(() => vi.unstubAllGlobals())

const begin = (given: Partial<SignInSettings> = {}, asksAgain = false) =>
  beginSignIn({ ...settings, ...given }, { signal, asksAgain })
const complete = (given: Partial<ProviderResponse> = {}, change: Partial<SignInSettings> = {}) =>
  completeSignIn({ ...settings, ...change }, { ...response, ...given }, signal)
const describeAs = (change: object) => {
  answers[`${ISSUER}/.well-known/openid-configuration`] = () => Response.json({ ...description, ...change })
}
const kept = () => JSON.parse([...stored.values()][0] ?? 'null')

describe('beginSignIn', () => {
  it('asks for a code with PKCE, and keeps the verifier, the state and the page', async () => {
    const url = new URL(await begin())
    const { code_challenge: challenge, state, ...rest } = Object.fromEntries(url.searchParams)
    expect(url.origin + url.pathname).toBe(`${ISSUER}/authorize`)
    expect(rest).toEqual({
      policy: 'a',
      response_type: 'code',
      client_id: 'console',
      redirect_uri: 'https://api.example/live/console',
      scope: 'openid profile',
      code_challenge_method: 'S256',
      audience: 'https://agents.example',
      resource: 'https://agents.example',
    })
    expect(kept()).toEqual({
      state,
      verifier: expect.stringMatching(/^[\w-]{43}$/),
      page: '#/runs?status=ERROR',
    })
    expect(createHash('sha256').update(kept().verifier).digest('base64url')).toBe(challenge)
    expect(url.href).not.toContain(kept().verifier)
    expect(requests[0]?.init).toMatchObject({ credentials: 'omit', redirect: 'error' })
  })

  it('uses other random values each time, and can ask somebody again whom the provider knows', async () => {
    await begin()
    const first = kept()
    expect(new URL(await begin({}, true)).searchParams.get('prompt')).toBe('login')
    expect(kept().verifier).not.toBe(first.verifier)
    expect(kept().state).not.toBe(first.state)
  })

  it('knows issuers with a slash at their ends', async () => {
    describeAs({ issuer: `${ISSUER}/` })
    expect(await begin({ issuer: `${ISSUER}/` })).toContain('code_challenge')
  })

  it.each(['0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48', 'https://a.example#b', ''])(
    'names a resource only if it is a URI without a fragment: %j',
    async (audience) => {
      expect(new URL(await begin({ audience })).searchParams.get('resource')).toBeNull()
    },
  )

  it.each([
    ['an issuer that only begins with it', { issuer: `${ISSUER}.evil.example` }, 'another issuer'],
    ['the issuer with a slash, as which its tokens are rejected', { issuer: `${ISSUER}/` }, 'another issuer'],
    ['no S256', { code_challenge_methods_supported: ['plain'] }, 'PKCE'],
    ['a script as its endpoint', { authorization_endpoint: 'javascript:alert(1)' }, 'authorization_endpoint'],
    ['no token endpoint', { token_endpoint: null }, 'token_endpoint'],
    ['a token endpoint of plain http', { token_endpoint: 'http://login.example/token' }, 'token_endpoint'],
    ['a token endpoint elsewhere', { token_endpoint: 'https://token.example/a' }, 'https://token.example'],
  ])('leaves nothing and nobody to a provider that describes %s', async (_, change, message) => {
    describeAs(change)
    await expect(begin()).rejects.toThrow(message)
    expect(stored.size).toBe(0)
    await expect(complete()).rejects.toThrow(message)
    expect(requests.map(({ url }) => url)).not.toContain(expect.stringContaining('/token'))
  })

  it('uses a token endpoint of another origin if the service allows it', async () => {
    describeAs({ token_endpoint: 'https://token.example/a' })
    answers['https://token.example/a'] = () => Response.json({ access_token: JWT, token_type: 'bearer' })
    expect(await complete({}, { origins: [ISSUER, 'https://token.example'] })).toBe(JWT)
  })

  it.each([
    [new Response('<h1>', { status: 404 }), 'status 404'],
    [Response.json([1]), 'not with a JSON object'],
  ])('says that the provider responds with something else (%#)', async (answer, message) => {
    answers[`${ISSUER}/.well-known/openid-configuration`] = () => answer
    await expect(begin()).rejects.toThrow(message)
    expect(stored.size).toBe(0)
  })

  it('says that nothing can be stored, or that the page is not secure', async () => {
    canStore = false
    await expect(begin()).rejects.toThrow('store')
    vi.stubGlobal('window', { ...window, isSecureContext: false })
    await expect(begin()).rejects.toThrow('HTTPS')
  })
})

describe('completeSignIn', () => {
  it('exchanges the code for a token', async () => {
    expect(await complete()).toBe(JWT)
    expect(Object.fromEntries(requests[1]?.body ?? [])).toEqual({
      grant_type: 'authorization_code',
      code: 'c',
      redirect_uri: 'https://api.example/live/console',
      client_id: 'console',
      code_verifier: 'v',
      resource: 'https://agents.example',
    })
  })

  it('sends nothing for a response that this tab has not asked for, and does not repeat what it says', async () => {
    for (const given of [{}, { error: 'access_denied', description: 'Call +1 555 0100' }]) {
      const error = await complete({ ...given, pending: null }).catch((cause) => cause)
      expect(error).toMatchObject({ message: expect.stringContaining('not begun in this tab'), quote: null })
    }
    expect(requests).toEqual([])
  })

  it.each([
    ['login_required', 'sign in there first'],
    ['temporarily_unavailable', 'Try again in a minute'],
    ['unauthorized_client', 'redirect URI https://api.example/live/console'],
    ['invalid_target', '“https://agents.example”'],
    ['__proto__', 'could not sign you in'],
  ])('says what the error %s means', async (error, message) => {
    const failed = await complete({ code: null, error, description: '<b>x</b>'.repeat(100) }).catch(
      (cause) => cause,
    )
    expect(failed.message).toContain(message)
    expect(failed.quote).toContain('<b>x</b>')
    expect(failed.quote.length).toBeLessThanOrEqual(300)
    expect(requests).toEqual([])
  })

  it('sends the code of one provider to no other', async () => {
    await expect(complete({ issuer: 'https://evil.example' })).rejects.toThrow('does not come from')
    expect(requests).toEqual([])
    describeAs({ authorization_response_iss_parameter_supported: true })
    await expect(complete()).rejects.toThrow('does not come from')
    expect(requests.length).toBe(1)
    expect(await complete({ issuer: ISSUER })).toBe(JWT)
  })

  it.each([
    [400, { error: 'invalid_grant', error_description: 'grant not found' }, 'used before', 'grant not found'],
    [401, { error: 'invalid_client' }, 'public client', null],
    [400, { error: 'invalid_target' }, 'audience', null],
    [500, {}, 'could not sign you in', 'status 500'],
    [200, { access_token: JWT, token_type: 'DPoP' }, 'no bearer token', null],
    [200, { access_token: 'opaque', token_type: 'Bearer' }, 'not a JSON Web Token', null],
    [200, { access_token: `${JWT}\r\nX: y`, token_type: 'Bearer' }, 'not a JSON Web Token', null],
    [200, { access_token: `${JWT}${'x'.repeat(8_192)}`, token_type: 'Bearer' }, 'fewer claims', null],
  ])('says what is wrong with a response of status %s (%#)', async (status, body, message, quote) => {
    answers[`${ISSUER}/token`] = () => Response.json(body, { status })
    const error = await complete().catch((cause) => cause)
    expect(error.message).toContain(message)
    expect(error.message).not.toContain(JWT)
    expect(error.quote).toBe(quote)
  })

  it('waits for a slow provider, but not forever, and can be cancelled', async () => {
    vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort())
    await expect(complete()).rejects.toThrow('has not answered within 15 s')
    const controller = new AbortController()
    controller.abort()
    await expect(completeSignIn(settings, response, controller.signal)).rejects.toThrow('abort')
  })
})
