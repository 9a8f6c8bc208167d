/** One server-sent event. `comment` and `retry` are also returned as events. */
export type SentEvent = { event: string; id?: string; data: ReturnType<typeof JSON.parse> }

export type EventStream = {
  response: Response
  /** The events, until the response ends. */
  events: AsyncGenerator<SentEvent>
  /** Closes the connection. */
  close: () => void
}

type Options = {
  token: string
  lastEventId?: number | string
  body?: object
  headers?: Record<string, string>
  timeoutMs?: number
}

/** Opens a stream of events: by POST if there is a body. */
export async function openEventStream(url: string, options: Options): Promise<EventStream> {
  const { token, lastEventId, body, headers, timeoutMs = 60_000 } = options
  const controller = new AbortController()
  const response = await fetch(url, {
    signal: AbortSignal.any([controller.signal, AbortSignal.timeout(timeoutMs)]),
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'Last-Event-ID': String(lastEventId) }),
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  return { response, events: parseEvents(response), close: () => controller.abort() }
}

/** Events end with an empty line; a part of one at the end of the response is dropped, as browsers do. */
async function* parseEvents({ body }: Response): AsyncGenerator<SentEvent> {
  let text = ''
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop() ?? ''
    yield* blocks.map(parseEvent)
  }
}

export function parseEvent(block: string): SentEvent {
  const fields = new Map(
    block.split('\n').map((line) => {
      const [, name = '', value = ''] = /^(\w*): ?(.*)$/.exec(line) ?? []
      return [name, value]
    }),
  )
  const id = fields.get('id')
  const [event, text] = fields.has('data')
    ? [fields.get('event') ?? 'message', fields.get('data')]
    : fields.has('retry')
      ? ['retry', fields.get('retry')]
      : ['comment', JSON.stringify(fields.get(''))]
  return { event, ...(id !== undefined && { id }), data: JSON.parse(text ?? 'null') }
}
