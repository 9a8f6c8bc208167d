import { brotliCompressSync, gzipSync } from 'node:zlib'
import { toSignInScope } from '../access/protected-resource.ts'
import {
  type Environment,
  OIDC_AUDIENCE,
  OIDC_CLIENT_ID,
  OIDC_ISSUER,
  OIDC_MAPPING,
  OIDC_SCOPE,
  OIDC_TOKEN_ORIGIN,
} from '../environment.ts'
import { type ConsoleFile, etagOf } from './console-files.ts'

/** What the console knows about the identity provider at which its users sign in. All of it is public. */
export type SignInSettings = {
  issuer: string
  clientId: string
  /** The first of those that the service accepts. */
  audience: string
  /** Separated by spaces. */
  scope: string
  /** Where the console may send requests: the origins of the issuer and of the token endpoint. */
  origins: string[]
}

/** The name of the `<meta>` element that has them as JSON. */
export const SIGN_IN_META = 'sign-in'

function readSignInSettings(environment: Environment): SignInSettings | null {
  const { [OIDC_ISSUER]: issuer, [OIDC_CLIENT_ID]: clientId } = environment
  if (!issuer || !clientId) return null
  const urls = [issuer, environment[OIDC_TOKEN_ORIGIN] || issuer]
  return {
    issuer,
    clientId,
    audience: environment[OIDC_AUDIENCE]?.split(',')[0]?.trim() ?? '',
    scope: environment[OIDC_SCOPE] || toSignInScope(issuer, environment[OIDC_MAPPING]),
    origins: [...new Set(urls.map((url) => new URL(url).origin))],
  }
}

/**
 * The page with what it needs to sign in at the identity provider, if there is one. The settings are part of the page,
 * so that its entity tag changes with the policy that allows to connect to the provider: browsers do not take a new
 * policy from a response with 304 (https://fetch.spec.whatwg.org/#http-network-or-cache-fetch, Chromium's
 * `HttpResponseHeaders::Update`).
 */
export function addSignIn(page: ConsoleFile, environment: Environment): ConsoleFile {
  const settings = readSignInSettings(environment)
  if (!settings) return page
  const meta = `<meta name="${SIGN_IN_META}" content="${escapeAttribute(JSON.stringify(settings))}">`
  const content = Buffer.from(page.content.toString().replace('<title>', () => `${meta}\n    <title>`))
  return {
    ...page,
    content,
    etag: etagOf(content),
    compressed: { br: brotliCompressSync(content), gzip: gzipSync(content) },
    connectsTo: settings.origins,
  }
}

const escapeAttribute = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
