import { type IncomingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CorsOrigins } from '../../../lib/http/cors.ts'
import { localFunctions } from '../../../local/gateway/functions.ts'
import { createGateway } from '../../../local/gateway/gateway.ts'
import { closeServer, listen, urlOf } from '../../../local/gateway/listen.ts'

const ISSUER = 'https://login.example.com/'
const ROOT = '/.well-known/oauth-protected-resource'
const OF_MCP = `${ROOT}/v1/mcp`

const closings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0)) await close()
  vi.unstubAllEnvs()
})

const stubProvider = () => {
  const mapping = { organization: crypto.randomUUID(), scopes: { claim: 'scope' } }
  vi.stubEnv('OIDC_ISSUER', ISSUER)
  vi.stubEnv('OIDC_MAPPING', JSON.stringify(mapping))
}

type Answer = { status: number | undefined; headers: IncomingHttpHeaders; body: string; json: unknown }

/** A gateway that accepts no token. Sends any header, also those that `fetch` sets itself. */
async function serve(options: { publicUrl?: string; corsOrigins?: CorsOrigins } = {}) {
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
})

describe('pages of other origins', () => {
  beforeEach(() => stubProvider())
  const INSPECTOR = 'http://localhost:6274'

  it('read the metadata and the challenge if their origin is allowed, after a preflight request', async () => {
    const { send } = await serve({ corsOrigins: ['https://app.example', INSPECTOR] })
    const preflight = { Origin: INSPECTOR, 'Access-Control-Request-Method': 'GET' }
    const allowed = { 'access-control-allow-origin': INSPECTOR, vary: 'Origin' }
    expect(await send('OPTIONS', OF_MCP, preflight)).toMatchObject({
      status: 204,
      headers: {
        ...allowed,
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers':
          'Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, traceparent, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
        'access-control-max-age': '7200',
      },
    })
    for (const [method, path, status] of [
      ['GET', OF_MCP, 200],
      ['POST', '/v1/mcp', 401],
      ['GET', '/v1/nowhere', 404],
    ] as const) {
      const answer = await send(method, path, { Origin: INSPECTOR })
      expect(answer).toMatchObject({ status, headers: allowed })
      expect(answer.headers['access-control-expose-headers']).toMatch(/WWW-Authenticate.*X-Execution-Id/)
    }
  })

  it('read nothing otherwise', async () => {
    const { send } = await serve({ corsOrigins: [INSPECTOR] })
    for (const [method, Origin] of [
      ['GET', 'http://localhost:6275'],
      ['GET', 'null'],
      ['OPTIONS', 'https://evil.example'],
    ] as const) {
      const { headers } = await send(method, OF_MCP, { Origin, 'Access-Control-Request-Method': 'GET' })
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
  })
})
