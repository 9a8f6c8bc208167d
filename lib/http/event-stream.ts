import { omitLargeStepValues, omitLargeValues } from '../contract/omit-values.ts'
import { toExecutionRecord } from '../contract/records/execution.ts'
import { toSeenRecord } from '../contract/records/seen.ts'
import { toStepRecord } from '../contract/records/step.ts'
import type { Access } from '../core/access.ts'
import { EVENT_STREAM_MS, OPEN_RETRY_AFTER_SECONDS } from '../core/limits.ts'
import type { HeldRequest } from '../core/ports/access.ts'
import type { ExecutionEvent, RecordedStep } from '../core/step.ts'
import type { Wait } from '../core/wait.ts'
import { toWaitingFor } from '../core/wait.ts'
import { system } from '../system.ts'
import { type HttpResponse, isStreaming } from './event.ts'
import { retryAfterSeconds } from './responses.ts'
import { toTextStreamResponse } from './text-stream.ts'

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

type StreamOptions = {
  access: Pick<Access, 'scopes'>
  headers?: Record<string, string>
  held: HeldRequest
  maxValueBytes?: number | undefined
}

/**
 * Responds with server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). Where responses
 * are buffered, with all of them at once.
 * @param read is given a signal that aborts when the stream has to end
 * @param options.held released when the stream has ended, however it did
 * @param options.maxValueBytes larger values are left out
 */
export const toEventStreamResponse = (
  read: (signal: AbortSignal) => AsyncIterable<ExecutionEvent[]>,
  { access, headers = {}, held, maxValueBytes }: StreamOptions,
): Promise<HttpResponse> =>
  toTextStreamResponse((signal) => toText(read(signal), held.full, { access, maxValueBytes }), {
    headers: { 'Content-Type': EVENT_STREAM, ...headers },
    held,
  })

/**
 * One chunk per batch. Without the event `done`, the client is told when to reconnect: of a suspended execution the
 * later, the longer it waits.
 */
async function* toText(
  batches: AsyncIterable<ExecutionEvent[]>,
  full: AbortSignal,
  reader: Reader,
): AsyncGenerator<string> {
  let last: ExecutionEvent | undefined
  for await (const events of batches) {
    yield events.map((event) => formatEvent(event, reader)).join('')
    last = events.at(-1)
  }
  if (last?.kind === 'done') return
  yield last?.kind === 'waiting' && !full.aborted ? `retry: ${pauseMs(last.waits)}\n\n` : formatRetry(full)
}

/** Tells a client when to reconnect to a stream that has ended before what it follows. `full`: it may not be open. */
export const formatRetry = (full: AbortSignal): string =>
  `retry: ${full.aborted ? RECONNECT_MS.full : RECONNECT_MS.ended}\n\n`

export const KEEP_ALIVE = ': keep-alive\n\n'

function pauseMs(waits: Wait[]): number {
  const since = Math.max(...waits.map((wait) => Date.parse(wait.since)))
  return 1_000 * retryAfterSeconds((system.now() - since) / 1_000)
}

type Reader = Pick<StreamOptions, 'access' | 'maxValueBytes'>

function formatEvent(event: ExecutionEvent, { access, maxValueBytes: maxBytes }: Reader): string {
  switch (event.kind) {
    case 'status':
      return formatServerEvent('status', JSON.stringify({ id: event.id, status: event.status }))
    case 'step':
      return formatStep(event.recorded, maxBytes)
    case 'tool':
      return formatServerEvent('tool', JSON.stringify(toToolRecord(event.recorded, event.callId, maxBytes)))
    case 'done':
      return formatServerEvent(
        'done',
        // Without the scope `read`, only a token that starts a run follows it.
        JSON.stringify(
          toSeenRecord(omitLargeValues(toExecutionRecord(event.execution), maxBytes), access, true),
        ),
      )
    case 'delta':
    case 'reset': {
      // Without an id: a client that reconnects continues at the last step.
      const { kind, ...data } = event
      return formatServerEvent(kind, JSON.stringify(data))
    }
    case 'waiting':
      return formatServerEvent(
        'waiting',
        JSON.stringify({ id: event.id, waitingFor: toWaitingFor(event.waits) }),
      )
    case 'idle':
      return KEEP_ALIVE
  }
}

/** JSON contains no line breaks, so that it fits one line. */
export const formatServerEvent = (name: string, data: string) => `event: ${name}\ndata: ${data}\n\n`

/** Clients send the id of the last step as `Last-Event-ID` to reconnect. All readers of a whole step share its text. */
function formatStep(recorded: RecordedStep, maxBytes: number | undefined): string {
  const known = maxBytes === undefined ? texts.get(recorded) : undefined
  if (known !== undefined) return known
  const record = omitLargeStepValues(toStepRecord(recorded), maxBytes)
  const text = `id: ${recorded.step.number}\n${formatServerEvent('step', JSON.stringify(record))}`
  if (maxBytes === undefined) texts.set(recorded, text)
  return text
}

const texts = new WeakMap<RecordedStep, string>()

/** The call with this result or decision, the wait that it ended, or the step with this attempt. */
function toToolRecord(recorded: RecordedStep, callId: string, maxBytes: number | undefined) {
  const record = omitLargeStepValues(toStepRecord(recorded), maxBytes)
  const { toolCalls, omitted, name, result, skipped, error, ...step } = record
  const { executionId, attempts, backoffMs, failedAttempts } = step
  const call = toolCalls?.find(({ id, approval }) => id === callId || approval?.id === callId)
  const changed =
    call ??
    (name !== undefined && { name, result, skipped, error, executionId, attempts, backoffMs, failedAttempts })
  return { step: recorded.step.number, ...changed, ...(omitted && { omitted }) }
}
