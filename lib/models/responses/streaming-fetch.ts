import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { pipeline, Readable, Transform } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

/**
 * `fetch` for the packages of the providers, without its time limits: the built-in one fails if no headers or bytes
 * arrive for 300 s, which only an undici `Agent` can change (520 kB in each bundle). Redirects are not followed: only
 * the configured URL gets the API key.
 * @param onBytes called with the length of each chunk; if it throws, the response ends with its error
 */
export const streamingFetch =
  (onBytes: (bytes: number) => void): typeof fetch =>
  async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const { method = 'GET', body, signal } = init
    const headers = { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' }
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const { request } = url.protocol === 'https:' ? https : http
      request(url, { method, headers, ...(signal && { signal }) }, resolve)
        // The URL without credentials and query, for the message of the error.
        .on('error', (error) => reject(Object.assign(error, { url: url.origin + url.pathname })))
        .end(body)
    })
    const { statusCode: status = 0, statusMessage: statusText = '' } = response
    const received = toHeaders(response)
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        try {
          onBytes(chunk.length)
          done(null, chunk)
        } catch (error) {
          done(error as Error)
        }
      },
    })
    pipeline(response, counted, () => undefined)
    const stream = Readable.toWeb(counted) as ReadableStream<Uint8Array>
    return new Response(stream, { status, statusText, headers: received })
  }

function toHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value)
  return headers
}
