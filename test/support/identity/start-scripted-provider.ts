import type { RequestListener } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { startServer } from '../service/start-server.ts'

/** What a provider responds with for a path, in place of its configuration and its keys. */
export type Behaviour = RequestListener

/** Claims of any kind. Those that are undefined are left out. */
export type Claims = Record<string, unknown>

const CONFIGURATION = '/.well-known/openid-configuration'
const KEYS = '/keys'

export type SigningKey = { kid: string; alg: string; jwk: JWK; privateKey: CryptoKey; publicKey: CryptoKey }

/** A pair of keys, and what a provider publishes of it. */
export async function newSigningKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** Shared: to create one takes long. */
let firstKey: Promise<SigningKey> | undefined

export type ScriptedProvider = Awaited<ReturnType<typeof startScriptedProvider>>

/** An identity provider on a socket, which counts requests and misbehaves as it is told. */
export async function startScriptedProvider() {
  const requests: string[] = []
  const behaviours: { configuration?: Behaviour | undefined; keys?: Behaviour | undefined } = {}
  const {
    url: issuer,
    stop,
    restart,
  } = await startServer((request, response) => {
    const { url = '' } = request
    requests.push(url)
    const isConfiguration = url === CONFIGURATION
    const behaviour = isConfiguration ? behaviours.configuration : behaviours.keys
    if (behaviour) return behaviour(request, response)
    response.setHeader('Content-Type', 'application/json')
    response.end(
      JSON.stringify(isConfiguration ? { issuer, jwks_uri: `${issuer}${KEYS}` } : { keys: published }),
    )
  })
  firstKey ??= newSigningKey('first')
  let current = await firstKey
  let published = [current.jwk]
  return {
    issuer,
    /** Paths, in the order of the requests. */
    requests,
    behaviours,
    get key() {
      return current
    },
    publish(keys: JWK[]): void {
      published = keys
    },
    /** From now on signs with another key, and publishes only this one. */
    async rotate(kid: string): Promise<void> {
      current = await newSigningKey(kid, 'ES256')
      published = [current.jwk]
    },
    /** An access token for `agents` of `ada`, for an hour. */
    sign: (
      claims: Claims = {},
      { key = current, header = {} }: { key?: SigningKey | undefined; header?: object } = {},
    ): Promise<string> => {
      const now = Math.floor(Date.now() / 1_000)
      const payload = { iss: issuer, aud: 'agents', sub: 'ada', iat: now, exp: now + 3_600, ...claims }
      return new SignJWT(payload)
        .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
        .sign(key.privateKey)
    },
    stop,
    restart,
  }
}
