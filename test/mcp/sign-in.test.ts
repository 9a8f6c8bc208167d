import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { describe, expect, inject, it } from 'vitest'

const MESSAGE = 'configure the client to send an API token in the header'

/** An application that signs its users in with OAuth, as editors do. */
const newProvider = (token: string | undefined) => ({
  redirectUrl: 'http://127.0.0.1:1/callback',
  clientMetadata: { client_name: 'Editor', redirect_uris: ['http://127.0.0.1:1/callback'] },
  clientInformation: () => undefined,
  saveClientInformation: () => undefined,
  tokens: () => (token === undefined ? undefined : { access_token: token, token_type: 'Bearer' }),
  saveTokens: () => undefined,
  redirectToAuthorization: () => {
    throw new Error('The client opens a browser.')
  },
  saveCodeVerifier: () => undefined,
  codeVerifier: () => '',
})

const CLIENTS: [string, (url: URL, token: string | undefined) => Promise<unknown>][] = [
  [
    '1.x',
    (url, token) => {
      const transport = new Transport1(url, { authProvider: newProvider(token) })
      return new Client1({ name: 'test', version: '1' }).connect(transport as Transport)
    },
  ],
  [
    '2.x',
    (url, token) => {
      const transport = new Transport2(url, { authProvider: newProvider(token) })
      return new Client2({ name: 'test', version: '1' }).connect(transport)
    },
  ],
]

describe.each(CLIENTS)('the official client %s that signs in with OAuth', (_, connect) => {
  it.each([undefined, 'wrong'])('says that the service needs an API token; its token: %s', async (token) => {
    const url = new URL(`${inject('service')}/v1/mcp`)
    const error = await connect(url, token).then(
      () => new Error('connected'),
      (reason: Error) => reason,
    )
    expect(error.message).toContain(MESSAGE)
  })
})

describe('the 401 of the endpoint', () => {
  const call = (headers: Record<string, string>) =>
    fetch(`${inject('service')}/v1/mcp`, { method: 'POST', body: '{}', headers })

  it('says in the header what is wrong with a token, and nothing if there is none', async () => {
    const challenges = [await call({}), await call({ Authorization: 'Bearer aes_wrong' })].map(
      ({ status, headers }) => [status, headers.get('www-authenticate')],
    )
    expect(challenges).toEqual([
      [401, 'Bearer'],
      [401, expect.stringMatching(/^Bearer error="invalid_token", error_description="[^"\\]+"$/)],
    ])
  })
})
