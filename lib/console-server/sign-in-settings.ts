import { brotliCompressSync, gzipSync } from 'node:zlib'
import { toSignInScope } from '../access/protected-resource.ts'
import { type Environment, readSetting } from '../environment.ts'
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
  const issuer = readSetting('oidcIssuer', environment)
  const clientId = readSetting('oidcClientId', environment)
  if (!issuer || !clientId) return null
  const urls = [issuer, readSetting('oidcTokenOrigin', environment) || issuer]
  return {
    issuer,
    clientId,
    audience: readSetting('oidcAudience', environment)?.split(',')[0]?.trim() ?? '',
    scope:
      readSetting('oidcScope', environment) || toSignInScope(issuer, readSetting('oidcMapping', environment)),
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
