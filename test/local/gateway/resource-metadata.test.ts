import { type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { localFunctions } from '../../../local/gateway/functions.ts'
import { closeServer, createGateway, listen, urlOf } from '../../../local/gateway/gateway.ts'

const ISSUER = 'https://login.example.com/'
const ROOT = '/.well-known/oauth-protected-resource'
const OF_MCP = `${ROOT}/v1/mcp`

const closings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0)) await close()
  vi.unstubAllEnvs()
})

const stubProvider = (scopes: unknown = { claim: 'scope' }) => {
  vi.stubEnv('OIDC_ISSUER', ISSUER)
  vi.stubEnv('OIDC_MAPPING', JSON.stringify({ organization: crypto.randomUUID(), scopes }))
}

type Answer = { status: number | undefined; headers: IncomingHttpHeaders; body: string; json: unknown }

/** A gateway that accepts no token. Sends any header, also those that `fetch` sets itself. */
async function serve(options: { publicUrl?: string } = {}) {
  const authorizer = async () => {
    throw new Error('Unauthorized')
  }
  const { handlers } = localFunctions()
  const gateway = createGateway({ handlers, authorizer, corsOrigins: [], ...options })
  await listen(gateway, '127.0.0.1', 0)
  closings.push(() => closeServer(gateway))
  const url = urlOf(gateway, '127.0.0.1')
  const port = Number(new URL(url).port)
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers }, async (response) => {
        const body = await text(response)
        const json = body && JSON.parse(body)
        resolve({ status: response.statusCode, headers: response.headers, body, json })
      })
      sent.on('error', reject)
      sent.end()
    })
  return { url, port, send }
}

const challengeOf = ({ headers }: Answer) => headers['www-authenticate']

describe('without an identity provider', () => {
  it.each([ROOT, OF_MCP])('%s does not exist', async (path) => {
    const { send } = await serve()
    const answer = await send('GET', path)
    expect(answer).toMatchObject({ status: 404, json: { code: 'RouteNotFound' } })
  })

  it('a challenge names nothing but the scheme, and registering says that there is no sign-in', async () => {
    const { send } = await serve()
    expect(challengeOf(await send('POST', '/v1/mcp'))).toBe('Bearer')
    expect((await send('POST', '/register')).json).toMatchObject({ error: 'access_denied' })
  })
})

describe('the metadata of protected resources', () => {
  beforeEach(() => stubProvider())

  it.each([
    [ROOT, '', ['run', 'read', 'manage', 'review', 'approve']],
    [OF_MCP, '/v1/mcp', ['run', 'read']],
  ])('of %s names the URL that clients call and the issuer as it is configured', async (path, of, scopes) => {
    const { url, send } = await serve()
    for (const spelling of [path, `${path}/`])
      expect(await send('GET', spelling)).toMatchObject({
        status: 200,
        headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
        json: {
          resource: `${url}${of}`,
          authorization_servers: [ISSUER],
          bearer_methods_supported: ['header'],
          scopes_supported: scopes,
        },
      })
  })

  it.each([ROOT, OF_MCP])(
    '%s: HEAD has no body, other methods and query parameters are rejected',
    async (path) => {
      const { send } = await serve()
      expect(await send('HEAD', path)).toMatchObject({ status: 200, body: '' })
      expect(await send('POST', path)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
      const query = await send('GET', `${path}?resource=https://evil.example`)
      expect(query).toMatchObject({ status: 400, json: { code: 'InvalidQueryParameter' } })
    },
  )
})

describe('the URLs of a service', () => {
  beforeEach(() => stubProvider())

  const FORGED: Record<string, string>[] = [
    { Host: 'evil.example' },
    { Host: 'evil.example:{port}' },
    { Host: 'localhost:{port}@evil.example' },
    { Host: 'localhost:1' },
    { Host: '"><script>' },
    { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Port': '443' },
    { Forwarded: 'host=evil.example;proto=https' },
    { 'X-Original-Host': 'evil.example', 'X-Forwarded-Prefix': '/evil' },
  ]

  it.each(FORGED)('do not come from %o', async (headers) => {
    const { url, port, send } = await serve()
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('{port}', String(port))]),
    )
    for (const path of [ROOT, OF_MCP]) {
      const { status, body, json } = await send('GET', path, given)
      expect(status).toBe(200)
      expect(json).toMatchObject({ resource: expect.stringMatching(new RegExp(`^${url}(/v1/mcp)?$`)) })
      expect(body).not.toMatch(/evil|script/)
    }
    const challenge = challengeOf(await send('POST', '/v1/mcp', given))
    expect(challenge).toContain(`resource_metadata="${url}${OF_MCP}"`)
    expect(challenge).not.toMatch(/evil|script/)
  })

  it.each(['localhost', '127.0.0.1', '[::1]'])(
    'have the name of this machine that a client uses: %s',
    async (name) => {
      const { port, send } = await serve()
      const headers = { Host: `${name}:${port}` }
      const base = `http://${name}:${port}`
      expect((await send('GET', OF_MCP, headers)).json).toMatchObject({ resource: `${base}/v1/mcp` })
      expect(challengeOf(await send('POST', '/v1/mcp', headers))).toContain(`"${base}${OF_MCP}"`)
    },
  )

  it('begin with PUBLIC_URL if it is set', async () => {
    const publicUrl = 'https://agents.example.com/eu'
    const { port, send } = await serve({ publicUrl })
    for (const Host of ['evil.example', `localhost:${port}`]) {
      expect((await send('GET', ROOT, { Host })).json).toMatchObject({ resource: publicUrl })
      expect(challengeOf(await send('POST', '/v1/mcp', { Host }))).toContain(`"${publicUrl}${OF_MCP}"`)
    }
  })
})

describe('a challenge', () => {
  it('names the metadata of what was requested, the scope, and no error without a token', async () => {
    stubProvider()
    const { url, send } = await serve()
    const metadata = (path: string) => `resource_metadata="${url}${path}"`
    const error =
      'error="invalid_token", error_description="The token is missing, unknown, expired or revoked."'
    const expected: [string, string, string][] = [
      ['POST', '/v1/mcp', `scope="run read", ${metadata(OF_MCP)}`],
      ['POST', '/v1/mcp/', `scope="run read", ${metadata(OF_MCP)}`],
      ['GET', '/v1/mcp', metadata(OF_MCP)],
      ['GET', '/v1/agents', `scope="read", ${metadata(ROOT)}`],
      ['POST', '/v1/agents', `scope="manage", ${metadata(ROOT)}`],
      ['HEAD', '/v1/approvals', `scope="approve", ${metadata(ROOT)}`],
    ]
    for (const [method, path, parameters] of expected) {
      expect(challengeOf(await send(method, path)), path).toBe(`Bearer ${parameters}`)
      const wrong = await send(method, path, { Authorization: 'Bearer aes_wrong' })
      expect([wrong.status, challengeOf(wrong)]).toEqual([401, `Bearer ${error}, ${parameters}`])
    }
  })

  it.each([
    [
      'names of the provider',
      { claim: 'scope', values: { 'agents:run': ['run'], all: ['run', 'read'] } },
      'agents:run all',
    ],
    ['only what the provider has', { claim: 'scope', values: { r: ['read'] } }, 'r'],
    [
      'no name that would end the header',
      { claim: 'scope', values: { 'a"b': ['run'], "a'b": ['run'], 'a b': ['run'], r: ['read'] } },
      'r',
    ],
    ['a scope that every provider has, if others do not matter', { claim: 'groups' }, 'openid'],
    ['a claim of that name within others', { claim: ['realm', 'scope'] }, 'run read'],
  ])('asks for scopes of the provider: %s', async (_, scopes, expected) => {
    stubProvider(scopes)
    const { send } = await serve()
    expect(challengeOf(await send('POST', '/v1/mcp'))).toContain(` scope="${expected}", `)
    const { json } = await send('GET', OF_MCP)
    expect(json).toMatchObject({ scopes_supported: expected.split(' ') })
  })

  it('comes with a text that names both kinds of tokens, and what is wrong', async () => {
    stubProvider()
    const { send } = await serve()
    const detailOf = async (header: string) =>
      ((await send('GET', '/v1/me', { Authorization: header })).json as { detail: string }).detail
    const both = `Send an API token, or an access token of ${ISSUER}, in the header "Authorization: Bearer <token>". `
    expect(await detailOf('Bearer eyJ9.eyJ9.c2ln')).toBe(
      `${both}The access token is invalid or has expired, or it is not for this service.`,
    )
    expect(await detailOf('Bearer x')).toBe(
      `${both}What the header contains does not look like a token: "aes_" and 43 letters and digits, or a JSON Web Token.`,
    )
    expect(await detailOf(`Bearer aes_${'a'.repeat(43)}`)).toBe(
      `${both}The token does not exist, has expired or was revoked.`,
    )
  })
})
