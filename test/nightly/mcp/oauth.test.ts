import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { approvalIdOfWait } from '../../../lib/engine/waiting/approvals.ts'
import type { ToolResult } from '../../mcp/clients.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import {
  CLIENT_ID,
  REDIRECT_URI,
  type RegisteringProvider,
  SCOPES,
  signIn,
  startRegisteringProvider,
} from '../../support/identity/start-registering-provider.ts'
import { freePort } from '../../support/service/port-emulators.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

const services = temporaryServices()
let provider: RegisteringProvider
let org: TestOrganization
let endpoint: URL

beforeAll(async () => {
  provider = await startRegisteringProvider()
  org = await newOrganization()
  await org.publish('echo')
  await org.publish('asks')
  const port = String(await freePort())
  endpoint = new URL(`http://127.0.0.1:${port}/v1/mcp`)
  await services.start(services.newFolder(), {
    PORT: port,
    DYNAMODB_ENDPOINT: inject('dynamodb'),
    OIDC_ISSUER: provider.issuer,
    OIDC_AUDIENCE: endpoint.href,
    OIDC_MAPPING: JSON.stringify({ organization: org.id, scopes: { claim: 'scope', values: SCOPES } }),
  })
})
afterAll(() => provider?.stop())

type Tokens = { access_token: string }
type Stored = { client?: object; tokens?: Tokens; verifier: string; authorization?: URL }

/**
 * An application that keeps everything in memory, and has a browser that shows what it is sent to.
 * @param clientId by default, it registers itself
 */
function newApplication(clientId?: string) {
  const stored: Stored = { verifier: '', ...(clientId && { client: { client_id: clientId } }) }
  return {
    stored,
    provider: {
      redirectUrl: REDIRECT_URI,
      clientMetadata: {
        client_name: 'Editor',
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
      },
      clientInformation: () => stored.client as never,
      saveClientInformation: (client: object) => void Object.assign(stored, { client }),
      tokens: () => stored.tokens as never,
      saveTokens: (tokens: Tokens) => void Object.assign(stored, { tokens }),
      redirectToAuthorization: (url: URL) => void Object.assign(stored, { authorization: url }),
      saveCodeVerifier: (verifier: string) => void Object.assign(stored, { verifier }),
      codeVerifier: () => stored.verifier,
    },
  }
}

type Application = ReturnType<typeof newApplication>
type Session = {
  connect: () => Promise<void>
  finishAuth: (redirected: URL) => Promise<void>
  call: (name: string, input: object) => Promise<ToolResult>
  close: () => Promise<void>
}

const CLIENTS: [string, (application: Application) => Session][] = [
  [
    '1.x',
    (application) => {
      const transport = new Transport1(endpoint, { authProvider: application.provider })
      const client = new Client1({ name: 'test', version: '1' })
      return {
        connect: () => client.connect(transport as Transport),
        finishAuth: ({ searchParams }) => transport.finishAuth(searchParams.get('code') ?? ''),
        call: async (name, input) => (await client.callTool({ name, arguments: { ...input } })) as never,
        close: () => client.close(),
      }
    },
  ],
  [
    '2.x',
    (application) => {
      const transport = new Transport2(endpoint, { authProvider: application.provider })
      const client = new Client2({ name: 'test', version: '1' })
      return {
        connect: () => client.connect(transport),
        finishAuth: ({ searchParams }) => transport.finishAuth(searchParams),
        call: async (name, input) => (await client.callTool({ name, arguments: { ...input } })) as never,
        close: () => client.close(),
      }
    },
  ],
]

describe.each(CLIENTS)('the official client %s', (_, open) => {
  /** Connects, is told to sign in, and connects again. */
  async function signedIn(application: Application, name: string): Promise<Session> {
    const first = open(application)
    await expect(first.connect()).rejects.toThrow('Unauthorized')
    const { authorization } = application.stored
    if (!authorization) throw new Error('The client opens no browser.')
    await first.finishAuth(await signIn(authorization, name, REDIRECT_URI))
    await first.close()
    const session = open(application)
    await session.connect()
    return session
  }

  it('finds the provider, registers, signs a person in and calls a tool as this person', async () => {
    const application = newApplication()
    const session = await signedIn(application, 'ann')
    expect(Object.fromEntries(application.stored.authorization?.searchParams ?? [])).toMatchObject({
      resource: endpoint.href,
      scope: expect.stringMatching(/^agents:run agents:read( offline_access)?$/),
      code_challenge_method: 'S256',
    })
    const result = await session.call('echo', { text: 'hello' })
    expect(result.structuredContent).toEqual({ text: 'hello' })
    const { json } = await org.call('GET', `/v1/agent_executions/${result._meta?.executionId}`)
    expect(json).toMatchObject({ status: 'SUCCESS' })
    await session.close()
  })

  // oidc-provider refuses scopes that a client did not register, and 1.x first tries its refresh token.
  it('asks for one more scope when a tool needs it, and keeps the others', async () => {
    const application = newApplication(CLIENT_ID)
    const session = await signedIn(application, 'bob')
    const started = await session.call('asks', {})
    const executionId = started._meta?.executionId
    const decision = { executionId, approvalId: approvalIdOfWait('refund'), decision: 'approve' }
    await expect(session.call('decide_approval', decision)).rejects.toThrow('Unauthorized')
    const { authorization } = application.stored
    const scopes = authorization?.searchParams.get('scope')?.split(' ')
    expect(scopes).toEqual(expect.arrayContaining(['agents:run', 'agents:read', 'agents:approve']))
    await session.finishAuth(await signIn(authorization as URL, 'bob', REDIRECT_URI))
    const decided = await session.call('decide_approval', decision)
    expect(decided.structuredContent).toMatchObject({ decision: 'approve' })
    expect((await session.call('echo', { text: 'again' })).structuredContent).toEqual({ text: 'again' })
    await session.close()
  })

  it('gets another token when its own has expired', async () => {
    const application = newApplication()
    const session = await signedIn(application, 'eve')
    const { tokens, authorization } = application.stored
    const expired = { ...tokens, access_token: await provider.expire(tokens?.access_token ?? '') }
    application.stored.tokens = expired
    expect((await session.call('echo', { text: 'later' })).structuredContent).toEqual({ text: 'later' })
    expect(application.stored.tokens?.access_token).not.toBe(expired.access_token)
    // Without its person.
    expect(application.stored.authorization).toBe(authorization)
    await session.close()
  })
})

const MCP_REMOTE = fileURLToPath(new URL('../../../node_modules/mcp-remote/dist/proxy.js', import.meta.url))

/** The URL at the provider that the process asks a person to visit. */
async function findAuthorizationUrl(stderr: Readable): Promise<URL> {
  let text = ''
  for await (const chunk of stderr.iterator({ destroyOnReturn: false })) {
    text += chunk
    const [url] = /http\S+\/auth\?\S+(?=\s)/.exec(text) ?? []
    if (!url) continue
    stderr.resume()
    return new URL(url)
  }
  throw new Error(`mcp-remote asks nobody to sign in:\n${text}`)
}

describe('mcp-remote', () => {
  it('signs a person in, and serves the tools to a client that knows no OAuth', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MCP_REMOTE, endpoint.href],
      env: { PATH: process.env.PATH ?? '', HOME: services.newFolder(), BROWSER: 'true' },
      stderr: 'pipe',
    })
    const client = new Client1({ name: 'test', version: '1' })
    const connected = client.connect(transport)
    const authorization = await findAuthorizationUrl(transport.stderr as Readable)
    const redirectUri = authorization.searchParams.get('redirect_uri') ?? ''
    expect(authorization.searchParams.get('resource')).toBe(endpoint.href)
    expect((await fetch(await signIn(authorization, 'kim', redirectUri))).status).toBe(200)
    await connected
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } })
    expect(result.structuredContent).toEqual({ text: 'hello' })
    await client.close()
  })
})
