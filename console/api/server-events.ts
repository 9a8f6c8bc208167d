import { EventParser, type SentEvent } from '../../clients/typescript/src/runs/sse.ts'
import { unreachable } from './api-error.ts'
import { type RequestOptions, send } from './request.ts'

/** The events of a response, until it ends. @throws ApiError if the connection is lost */
export async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<SentEvent> {
  const parser = new EventParser()
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        signal.throwIfAborted()
        throw unreachable()
      })
      if (done) return
      yield* parser.push(value)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/**
 * Sends a request and reads its events. `EventSource` cannot: it sends no Authorization header.
 * @throws ApiError; an AbortError if the signal aborts
 */
export async function requestEvents(
  path: string,
  options: RequestOptions & { signal: AbortSignal },
): Promise<{ response: Response; events: AsyncGenerator<SentEvent> }> {
  const headers = { Accept: 'text/event-stream', ...options.headers }
  const response = await send(path, { ...options, headers })
  return { response, events: readEvents(response, options.signal) }
}
