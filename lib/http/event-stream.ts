import { Readable } from 'node:stream'
import { text as readText } from 'node:stream/consumers'
import { toExecutionRecord, toStepRecord } from '../api/to-execution-record.ts'
import { EVENT_STREAM_MS, OPEN_RETRY_AFTER_SECONDS } from '../core/limits.ts'
import type { HeldRequest } from '../core/ports.ts'
import type { ExecutionEvent, RecordedStep } from '../core/step.ts'
import type { Wait } from '../core/wait.ts'
import { toWaitingFor } from '../core/wait.ts'
import { system } from '../system.ts'
import { type HttpResponse, isStreaming } from './event.ts'
import { retryAfterSeconds } from './responses.ts'

export const EVENT_STREAM = 'text/event-stream'

/** When a client reconnects to a stream that ended before its execution; `full`: because it may not be open. */
const RECONNECT_MS = { ended: 1_000, full: OPEN_RETRY_AFTER_SECONDS * 1_000 } as const

/** How long a stream of events may last. */
export const getMaxStreamMs = (): number => EVENT_STREAM_MS[isStreaming() ? 'streamed' : 'buffered']

/** Whether an `Accept` header (RFC 9110, section 12.5.1) names event streams. */
export function acceptsEvents(accept = ''): boolean {
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()))
  return ranges.some(([type, ...parameters]) => type === EVENT_STREAM && !parameters.some(isZero))
}

const isZero = (parameter: string) => /^q=0(\.0{0,3})?$/.test(parameter)

/**
 * Responds with server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Where responses
 * are buffered, with all of them at once.
 * @param read is given a signal that aborts when the stream has to end
 * @param options.held released when the stream has ended, however it did
 */
export async function toEventStreamResponse(
  read: (signal: AbortSignal) => AsyncIterable<ExecutionEvent[]>,
  { headers = {}, held }: { headers?: Record<string, string>; held: HeldRequest },
): Promise<HttpResponse> {
  const response = { status: 200, headers: { 'Content-Type': EVENT_STREAM, ...headers } }
  const closing = new AbortController()
  const { full, release } = held
  const stream = Readable.from(toText(read(AbortSignal.any([closing.signal, full])), full))
  const { _destroy: destroy } = stream
  // Not on 'close', which a stream emits only after its generator has returned: this one waits for the next event.
  stream._destroy = (error, callback) => {
    closing.abort()
    release()
    destroy.call(stream, error, callback)
  }
  return { ...response, stream: isStreaming() ? stream : await readText(stream) }
}

/**
 * One chunk per batch. Without the event `done`, the client is told when to reconnect: of a suspended execution the
 * later, the longer it waits.
 */
async function* toText(batches: AsyncIterable<ExecutionEvent[]>, full: AbortSignal): AsyncGenerator<string> {
  let last: ExecutionEvent | undefined
  for await (const events of batches) {
    yield events.map(formatEvent).join('')
    last = events.at(-1)
  }
  if (last?.kind === 'done') return
  const { ended, full: later } = RECONNECT_MS
  yield `retry: ${full.aborted ? later : last?.kind === 'waiting' ? pauseMs(last.waits) : ended}\n\n`
}

function pauseMs(waits: Wait[]): number {
  const since = Math.max(...waits.map((wait) => Date.parse(wait.since)))
  return 1_000 * retryAfterSeconds((system.now() - since) / 1_000)
}

function formatEvent(event: ExecutionEvent): string {
  switch (event.kind) {
    case 'status':
      return format('status', JSON.stringify({ id: event.id, status: event.status }))
    case 'step':
      return formatStep(event.recorded)
    case 'tool':
      return format('tool', JSON.stringify(toToolRecord(event.recorded, event.callId)))
    case 'done':
      return format('done', JSON.stringify(toExecutionRecord(event.execution)))
    case 'waiting':
      return format('waiting', JSON.stringify({ id: event.id, waitingFor: toWaitingFor(event.waits) }))
    case 'idle':
      return ': keep-alive\n\n'
  }
}

/** JSON contains no line breaks, so that it fits one line. */
const format = (name: string, data: string) => `event: ${name}\ndata: ${data}\n\n`

/** Clients send the id of the last step as `Last-Event-ID` to reconnect. All readers of a step share its text. */
function formatStep(recorded: RecordedStep): string {
  const text =
    texts.get(recorded) ??
    `id: ${recorded.step.number}\n${format('step', JSON.stringify(toStepRecord(recorded)))}`
  texts.set(recorded, text)
  return text
}

const texts = new WeakMap<RecordedStep, string>()

/** The call with this result or decision, or the wait that it ended. */
function toToolRecord(recorded: RecordedStep, callId: string) {
  const { toolCalls, name, result, skipped } = toStepRecord(recorded)
  const call = toolCalls?.find(({ id, approval }) => id === callId || approval?.id === callId)
  return { step: recorded.step.number, ...(call ?? (name !== undefined && { name, result, skipped })) }
}
