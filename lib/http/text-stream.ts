import { Readable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import type { HeldRequest } from '../core/ports/access.ts'
import { type HttpResponse, isStreaming } from './event.ts'

// https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
/** A proxy would hold back text until it has much of it. */
const UNBUFFERED = { 'X-Accel-Buffering': 'no' }

/**
 * Responds with text that is read when the client takes it. Where responses are buffered, with all of it at once.
 * @param read is given a signal that aborts when the stream has to end: its client has hung up, or it may not be open
 * @param options.held released when the stream has ended, however it did
 */
export async function toTextStreamResponse(
  read: (signal: AbortSignal) => AsyncIterable<string>,
  { headers, held }: { headers: Record<string, string>; held: HeldRequest },
): Promise<HttpResponse> {
  const closing = new AbortController()
  const stream = Readable.from(read(AbortSignal.any([closing.signal, held.full])))
  const { _destroy: destroy } = stream
  // Not on 'close', which a stream emits only after its generator has returned: this one waits for the next text.
  stream._destroy = (error, callback) => {
    closing.abort()
    held.release()
    destroy.call(stream, error, callback)
  }
  return {
    status: 200,
    headers: { ...headers, ...UNBUFFERED },
    stream: isStreaming() ? stream : await readText(stream),
  }
}
