import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import type { EgressPolicy } from './egress-policy.ts'
import { type OutgoingRequest, requestOnce } from './send-request.ts'

/** As `fetch`: https://fetch.spec.whatwg.org/#http-redirect-fetch */
const MAX_REDIRECTS = 20
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const OF_BODY = /^content-/
/** Not sent to another origin than the one that they were meant for. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization']
const WITHOUT_BODY = new Set([101, 103, 204, 205, 304])

/** Servers that compress although no compression was requested. */
const DECODERS: Record<string, (() => NodeJS.ReadWriteStream) | undefined> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
}

/**
 * `fetch` that connects where tools may: each redirect is checked as the first URL is. The body of a request is read
 * before it is sent.
 * @param given headers that the request has unless it says otherwise
 * @throws ToolError for what the policy denies, and for a connection that fails; the reason of the request's signal
 */
export async function egressFetch(
  input: ConstructorParameters<typeof Request>[0],
  init: RequestInit | undefined,
  policy: EgressPolicy,
  given: Record<string, string> = {},
): Promise<Response> {
  const request = new Request(input, init)
  const { redirect, signal } = request
  signal.throwIfAborted()
  let sent: OutgoingRequest = {
    method: request.method,
    url: new URL(request.url),
    headers: { accept: '*/*', ...given, ...Object.fromEntries(request.headers) },
    body: request.body === null ? null : Buffer.from(await request.arrayBuffer()),
    signal,
  }
  for (let redirects = 0; ; redirects++) {
    const response = await requestOnce(sent, policy).catch((error: unknown) => {
      signal.throwIfAborted()
      throw error
    })
    const { statusCode = 0, headers } = response
    const isRedirect = REDIRECTS.has(statusCode) && headers.location !== undefined
    if (!isRedirect || redirect === 'manual') return toResponse(response, sent, redirects > 0)
    response.destroy()
    if (redirect === 'error' || redirects === MAX_REDIRECTS)
      throw new TypeError(
        `Unexpected redirect of ${sent.url.href}: ${redirects === 0 ? 'none is allowed' : 'too many'}.`,
      )
    sent = follow(sent, statusCode, new URL(headers.location ?? '', sent.url))
  }
}

function follow(
  { method, url: from, headers, body, signal }: OutgoingRequest,
  status: number,
  url: URL,
): OutgoingRequest {
  const becomesGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST'
  const kept = Object.entries(headers).filter(
    ([name]) =>
      !(becomesGet && OF_BODY.test(name)) && !(url.origin !== from.origin && CREDENTIALS.includes(name)),
  )
  return {
    url,
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(kept),
    body: becomesGet ? null : body,
    signal,
  }
}

function toResponse(
  response: IncomingMessage,
  { method, url }: OutgoingRequest,
  redirected: boolean,
): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
  const headers = new Headers()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  const decode = DECODERS[(headers.get('content-encoding') ?? '').toLowerCase()]
  const stream = decode ? response.pipe(decode() as zlib.Gunzip) : response
  const isEmpty = method === 'HEAD' || WITHOUT_BODY.has(status)
  if (isEmpty) response.resume()
  const body = isEmpty ? null : (Readable.toWeb(stream) as ReadableStream)
  const made = new Response(body, { status, statusText, headers })
  return Object.defineProperties(made, { url: { value: url.href }, redirected: { value: redirected } })
}
