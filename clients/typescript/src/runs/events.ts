import { AgentError } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { sleep, watch } from '../http/call.ts'
import type { Connection } from '../http/request.ts'
import { backoffMs } from '../http/request.ts'
import type { Execution, Step, ToolCall, Wait } from '../records.ts'
import { type DeepPartial, parsePartial } from './partial.ts'
import { EventParser, type SentEvent } from './sse.ts'

/**
 * What happens in an execution. `tool`: the decision on a tool call of step `step`, or its result. `waiting`: it is
 * suspended, and goes on when something has arrived. `done` is the last event.
 */
export type ExecutionEvent<Output = Record<string, unknown>> =
  | { event: 'status'; data: { id: string; status: Execution['status'] } }
  | { event: 'step'; data: Step }
  | { event: 'tool'; data: ToolCall & { step: number } }
  | { event: 'waiting'; data: { id: string; waitingFor: Wait[] } }
  | { event: 'done'; data: Execution<Output> }

/**
 * What a model is writing, with the option `deltas`. `delta`: a piece of the text, or of the arguments of a tool call,
 * of the response `try` for a step. `partial`: the output so far. `reset`: all that came from a try is void. A `step`
 * supersedes what came before it.
 */
export type LiveEvent<Output = Record<string, unknown>> =
  | { event: 'delta'; data: Delta }
  | { event: 'reset'; data: { step: number; try: number } }
  | { event: 'partial'; data: DeepPartial<Output> }

export type Delta = { step: number; try: number } & (
  | { text: string; toolCall?: undefined }
  | { toolCall: { id: string; name: string; arguments: string }; text?: undefined }
)

/** The service sends a comment after 15 seconds of silence. */
const MAX_SILENCE_MS = 45_000

/** What a server may ask for with `retry`. It is not a failure: streams have no deadline unless the caller sets one. */
const MIN_RETRY_MS = 100
const MAX_RETRY_MS = 60_000

/**
 * Reads the events of an execution, however often the stream breaks: each once, and in order.
 * @param open requests the events after a step, by its number
 * @param after the number of the last step that the reader has
 */
export async function* readEvents<Output>(
  { parse, stringify, maxRetries }: Connection,
  call: Call,
  open: (after: string) => Promise<Response>,
  after: string,
): AsyncGenerator<ExecutionEvent<Output> | LiveEvent<Output>> {
  const live = new LiveReader<Output>(parse)
  const isNew = newEventFilter(Number(after), stringify)
  let position = after
  for (let failures = 0; failures <= maxRetries; ) {
    const parser = new EventParser()
    // A new stream begins with the response so far.
    yield* live.restart()
    for await (const part of readText(await open(position), call)) {
      for (const sent of parser.push(part)) {
        if (!EVENTS.has(sent.event)) continue
        failures = 0
        const event = parseEvent<Output>(sent, parse, call)
        if (event.event === 'delta' || event.event === 'reset' || event.event === 'partial') {
          yield* live.take(event)
          continue
        }
        if (event.event === 'step') live.end()
        if (event.event === 'step') position = sent.id ?? position
        if (event.event === 'status') call.executionId ??= event.data.id
        if (isNew(event, Number(sent.id))) yield event
        if (event.event === 'done') return
      }
    }
    const { retryMs } = parser
    if (retryMs === undefined) failures++
    await sleep(
      retryMs === undefined ? backoffMs(failures) : Math.min(Math.max(retryMs, MIN_RETRY_MS), MAX_RETRY_MS),
      call.signal,
    )
  }
  const detail = `The stream of events broke ${maxRetries + 1} times in a row without an event.`
  throw new AgentError({ code: 'ConnectionFailed', detail })
}

/** Others are of a later version of the service, or of something in between. */
const EVENTS = new Set<string>(['status', 'step', 'tool', 'waiting', 'done', 'delta', 'reset'] satisfies (
  | ExecutionEvent
  | LiveEvent
)['event'][])

/** The tool by which a model returns its output. */
const FINAL_ANSWER = 'final_answer'

/** Adds the output so far to the deltas. */
class LiveReader<Output> {
  private readonly parse: Connection['parse']
  private at: { step: number; try: number } | null = null
  /** The text, and the arguments of each call that returns an output. */
  private texts = new Map<string, string>()

  constructor(parse: Connection['parse']) {
    this.parse = parse
  }

  *take(event: LiveEvent<Output>): Generator<LiveEvent<Output>> {
    yield event
    if (event.event !== 'delta') {
      this.end()
      return
    }
    const { step, try: number, text, toolCall } = event.data
    if (step !== this.at?.step || number !== this.at.try) this.texts.clear()
    this.at = { step, try: number }
    if (toolCall && toolCall.name !== FINAL_ANSWER) return
    const key = toolCall?.id ?? ''
    const whole = (this.texts.get(key) ?? '') + (toolCall?.arguments ?? text)
    this.texts.set(key, whole)
    const data = parsePartial(whole, this.parse)
    if (data) yield { event: 'partial', data: data as DeepPartial<Output> }
  }

  *restart(): Generator<LiveEvent<Output>> {
    if (this.at) yield { event: 'reset', data: this.at }
    this.end()
  }

  /** A step supersedes its deltas. */
  end(): void {
    this.at = null
    this.texts.clear()
  }
}

const MAX_QUOTED_CHARACTERS = 80

/** @throws AgentError `UnexpectedResponse` if the data is not a JSON object */
function parseEvent<Output>(
  { event, id, data: text }: SentEvent,
  parse: Connection['parse'],
  { executionId }: Call,
): ExecutionEvent<Output> | LiveEvent<Output> {
  let cause: unknown
  try {
    const data: unknown = parse(text)
    if (typeof data === 'object' && data !== null) return { event, data } as ExecutionEvent<Output>
  } catch (error) {
    cause = error
  }
  const name = `${event}${id === undefined ? '' : ` ${id}`}`
  const detail = `The data of the event "${name}" is not a JSON object. It begins with: ${text.slice(0, MAX_QUOTED_CHARACTERS)}`
  const fields = {
    code: 'UnexpectedResponse',
    status: 200,
    detail,
    ...(executionId !== undefined && { executionId }),
  }
  throw new AgentError(fields, cause)
}

/** Whether an event is new: a stream that continues repeats the status, the results of the last step and the waits. */
function newEventFilter(after: number, stringify: Connection['stringify']) {
  let lastStep = after
  let lastWaits: string | undefined
  let lastStatus: string | undefined
  const results = new Set<string>()
  return ({ event, data }: ExecutionEvent<unknown>, number: number): boolean => {
    if (event === 'status') {
      const isChange = data.status !== lastStatus
      lastStatus = data.status
      return isChange
    }
    if (event === 'step') {
      const isNext = number > lastStep
      if (isNext) lastStep = number
      return isNext
    }
    if (event === 'tool') {
      // The decision on a call comes before its result.
      const count = results.size
      return results.add(`${data.step} ${data.id} ${data.durationMs !== undefined}`).size > count
    }
    if (event === 'waiting') {
      const waits = stringify(data.waitingFor)
      const isChange = waits !== lastWaits
      lastWaits = waits
      return isChange
    }
    return event === 'done'
  }
}

/** The text of a response in parts, until it ends, breaks or stays silent. @throws the reason of the call's signal */
async function* readText({ body }: Response, { signal }: Call): AsyncGenerator<string> {
  // Safari cannot iterate over streams.
  const reader = body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  const watchdog = watch(signal, MAX_SILENCE_MS, () => undefined)
  const stop = () => void reader.cancel().catch(() => undefined)
  watchdog.signal.addEventListener('abort', stop)
  try {
    for (;;) {
      const part = await reader.read().catch(() => undefined)
      signal.throwIfAborted()
      if (!part?.value) return
      watchdog.restart()
      yield decoder.decode(part.value, { stream: true })
    }
  } finally {
    watchdog.close()
    stop()
  }
}
