import { createParser } from 'eventsource-parser'
import { unreachable } from './api-error.ts'
import { type RequestOptions, send } from './request.ts'

/** One server-sent event; `data` is JSON. */
export type ServerEvent = { event: string; data: string; id: string | undefined }

/** The events of a response, until it ends. @throws ApiError if the connection is lost */
export async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const events: ServerEvent[] = []
  const parser = createParser({
    onEvent: ({ event = 'message', data, id }) => events.push({ event, data, id }),
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        signal.throwIfAborted()
        throw unreachable()
      })
      if (done) return
      parser.feed(value)
      yield* events.splice(0)
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
): Promise<{ response: Response; events: AsyncGenerator<ServerEvent> }> {
  const headers = { Accept: 'text/event-stream', ...options.headers }
  const response = await send(path, { ...options, headers })
  return { response, events: readEvents(response, options.signal) }
}
