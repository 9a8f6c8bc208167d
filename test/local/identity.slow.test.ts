import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type JWK } from 'oidc-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { subjectIdOf } from '../../lib/core/ids.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { newSigningKey } from '../support/identity/start-scripted-provider.ts'
import { createClient, createLocalClient } from '../support/service/client.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const ALGORITHM = 'RS256'
const AUDIENCE = 'https://agents.example'
const CLIENT = { client_id: 'ci', client_secret: 'secret' }

/** `oidc-provider` on a port of this machine: programs get tokens for the audience that they name. */
async function startProvider() {
  const requests: string[] = []
  const ttl = { seconds: 60 }
  let provider: Provider
  const server = createServer((request, response) => {
    requests.push(String(request.url))
    provider.callback()(request, response)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function rotate(kid: string): Promise<void> {
    const { privateKey } = await newSigningKey(kid, ALGORITHM)
    const { key_ops: _, ext: __, ...secret } = await crypto.subtle.exportKey('jwk', privateKey)
    provider = new Provider(issuer, {
      clients: [
        {
          ...CLIENT,
          grant_types: ['client_credentials'],
          response_types: [],
          redirect_uris: [],
        },
      ],
      jwks: { keys: [{ ...secret, kid, alg: ALGORITHM, use: 'sig' } as JWK] },
      ttl: { ClientCredentials: () => ttl.seconds },
      extraTokenClaims: () => ({ org: 'development', email: 'ci@example.com' }),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_, audience) => ({
            scope: 'run read manage',
            audience,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: ALGORITHM } },
          }),
        },
      },
    })
  }

  async function newToken(scope: string, resource = AUDIENCE): Promise<string> {
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope, resource, ...CLIENT })
    const response = await fetch(`${issuer}/token`, { method: 'POST', body })
    const { access_token: token } = (await response.json()) as { access_token?: string }
    if (!token) throw new Error(`The provider responded with ${response.status}.`)
    return token
  }
  await rotate('first')
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { issuer, requests, ttl, rotate, newToken, stop }
}

const { start, newFolder } = temporaryServices()
let provider: Awaited<ReturnType<typeof startProvider>>
let url: string
let folder: string

beforeAll(async () => {
  provider = await startProvider()
  folder = newFolder()
  const service = await start(folder, {
    OIDC_ISSUER: provider.issuer,
    OIDC_AUDIENCE: AUDIENCE,
    OIDC_MAPPING: JSON.stringify({
      organization: { claim: 'org', values: { development: DEVELOPMENT_ORGANIZATION.id } },
      scopes: { claim: 'scope' },
    }),
  })
  url = service.url
})
afterAll(() => provider?.stop())

const clientOf = async (scope: string, audience?: string) =>
  createClient(url, await provider.newToken(scope, audience))

describe('a token of oidc-provider', () => {
  it('is accepted for its audience, with its scopes, beside API tokens', async () => {
    const call = await clientOf('run read')
    const subjectId = subjectIdOf(provider.issuer, 'ci')
    expect(await call('GET', '/v1/me')).toMatchObject({
      status: 200,
      json: {
        ...{ organizationId: DEVELOPMENT_ORGANIZATION.id, tokenId: subjectId, subject: 'ci' },
        scopes: ['run', 'read'],
      },
    })
    const content = 'Write to ada@example.com.'
    const path = '/v1/agents/redact-pii/executions?execMode=async'
    const accepted = await call('POST', path, { body: { content } })
    expect(accepted).toMatchObject({ status: 202, json: { tokenId: subjectId } })
    expect(await call('DELETE', `/v1/agent_executions/${accepted.json.id}`)).toMatchObject({ status: 403 })
    expect((await createLocalClient(url, folder)('GET', '/v1/me')).status).toBe(200)
  })

  it('is rejected for another audience, and as soon as it has expired', async () => {
    expect((await (await clientOf('run', 'https://other.example'))('GET', '/v1/me')).status).toBe(401)
    provider.ttl.seconds = 1
    const call = await clientOf('read')
    provider.ttl.seconds = 60
    const statusOf = async () => (await call('GET', '/v1/me')).status
    await expect.poll(statusOf, { interval: 50 }).toBe(401)
  })

  it('is accepted within a minute after its provider has got other keys', async () => {
    await provider.rotate('second')
    const call = await clientOf('read')
    const statusOf = async () => (await call('GET', '/v1/me')).status
    await expect.poll(statusOf, { interval: 1_000, timeout: 60_000 }).toBe(200)
    const asked = provider.requests.filter((path) => !path.startsWith('/token'))
    const once = ['/.well-known/openid-configuration', '/jwks']
    expect(asked).toEqual([...once, ...once])
  })
})
