import { AgentError } from '../errors.ts'
import { type Call, sleep, untilAborted } from '../http/call.ts'
import {
  agentPath,
  type Connection,
  executionPath,
  type RequestSpec,
  readJson,
  readRetryAfter,
  request,
  requestJson,
  toQuery,
  unexpectedResponse,
} from '../http/request.ts'
import type { RunOptions, WaitOptions } from '../options.ts'
import type { Execution, SucceededExecution } from '../records.ts'

/** A synchronous run is silent for at most 270 seconds. */
const MAX_RUN_SILENCE_MS = 300_000

/** `Prefer: wait` of the first read, and the longest that the service accepts. */
const FIRST_WAIT_SECONDS = 2
const MAX_WAIT_SECONDS = 25

/** Between two reads, if the service does not tell. */
const PAUSE_MS = 1_000

/** The request of a run. All requests of one call have the same key, so that they lead to one execution. */
export type Run = { agent: string; body: string; key: string; parameters: { deltas?: boolean | undefined } }

export function toRun(
  connection: Connection,
  agent: string,
  input: unknown,
  options: RunOptions & Run['parameters'],
): Run {
  const { signal, timeoutMs, cancelOnAbort, onWaiting, idempotencyKey, ...parameters } = options
  return {
    agent,
    body: connection.stringify(input),
    key: idempotencyKey ?? newIdempotencyKey(),
    parameters,
  }
}

function toRequest({ agent, body, key, parameters }: Run, execMode: 'sync' | 'async'): RequestSpec {
  return {
    method: 'POST',
    path: `${agentPath(agent)}/executions${toQuery({ ...parameters, execMode })}`,
    headers: { 'Idempotency-Key': key },
    body,
  }
}

export const startRun = <Output>(connection: Connection, call: Call, run: Run): Promise<Execution<Output>> =>
  requestJson(connection, call, toRequest(run, 'async'))

type OnWaiting = WaitOptions['onWaiting']

/** Runs synchronously, and waits for the execution if it outlives the request or is suspended. */
export async function runToEnd<Output>(
  connection: Connection,
  call: Call,
  run: Run,
  onWaiting: OnWaiting,
): Promise<Output> {
  const spec = { ...toRequest(run, 'sync'), maxSilenceMs: MAX_RUN_SILENCE_MS }
  const read = async (response: Response) =>
    response.status === 202
      ? { suspendedId: await suspendedIdOf(connection, response) }
      : { output: await readJson<Output>(connection, response) }
  const result = await request(connection, call, spec, read).catch((error: unknown) => ({
    runningId: runningIdOf(error),
  }))
  if ('output' in result) return result.output
  const [id, options] =
    'suspendedId' in result ? [result.suspendedId, { waitSeconds: 0 }] : [result.runningId, {}]
  return (await waitForEnd<Output>(connection, call, id, { ...options, onWaiting })).output
}

/** The body is its record, but the header is enough. */
async function suspendedIdOf(connection: Connection, response: Response): Promise<string> {
  const known = response.headers.get('X-Execution-Id')
  const { id } = known ? { id: known } : await readJson<Partial<Execution>>(connection, response)
  await response.body?.cancel().catch(() => undefined)
  if (id) return id
  throw unexpectedResponse(202, 'The response does not name the execution.')
}

/** The execution that continues without the request. @throws the error if there is none */
function runningIdOf(error: unknown): string {
  const isRunning =
    error instanceof AgentError &&
    (error.code === 'ExecutionStillRunning' || error.code === 'ExecutionInProgress')
  if (isRunning) return error.executionId
  throw error
}

/**
 * Reads the execution whenever the service asks for it (`Retry-After`): a read is cheaper than a request that waits.
 * The service waits (`Prefer: wait`) for runs that end at once, and when the deadline leaves no time for a pause.
 * @param options.waitSeconds of the first read
 * @throws AgentError `ExecutionFailed`, or `InputSchemaMismatch` if the agent failed on input that does not match;
 * what `onWaiting` throws
 */
export async function waitForEnd<Output>(
  connection: Connection,
  call: Call,
  id: string,
  {
    onWaiting,
    waitSeconds = FIRST_WAIT_SECONDS,
  }: { onWaiting?: OnWaiting; waitSeconds?: number | undefined } = {},
): Promise<SucceededExecution<Output>> {
  call.executionId = id
  let reported: string | undefined
  for (;;) {
    const startedAt = performance.now()
    let pauseMs = PAUSE_MS
    const headers: Record<string, string> = waitSeconds > 0 ? { Prefer: `wait=${waitSeconds}` } : {}
    const spec = { path: executionPath(id), headers }
    const execution = await requestJson<Execution<Output>>(connection, call, spec, (response) => {
      pauseMs = readRetryAfter(response.headers) ?? pauseMs
    })
    if (execution.status === 'SUCCESS') return execution as SucceededExecution<Output>
    if (execution.status === 'ERROR') throw executionFailed(execution)
    const { waitingFor } = execution
    const waits = waitingFor && connection.stringify(waitingFor)
    if (onWaiting && waitingFor && waits !== reported)
      await untilAborted((async () => onWaiting(waitingFor, execution as Execution))(), call.signal)
    reported = waits ?? reported
    const now = performance.now()
    const remainingMs = call.endsAt - now
    const hasTime = pauseMs < remainingMs
    waitSeconds = hasTime ? 0 : Math.min(Math.ceil(remainingMs / 1000), MAX_WAIT_SECONDS)
    // A service that does not wait is not asked without a pause.
    await sleep(hasTime ? pauseMs : Math.max(startedAt + PAUSE_MS - now, 0), call.signal)
  }
}

/** The same error as that of a synchronous run. */
function executionFailed({ id, error }: Execution<unknown>): AgentError {
  const members = { executionId: id, error }
  const errors = error?.code === 'AgentFailed' ? error.errors : error?.inputErrors
  if (Array.isArray(errors) && errors.length > 0) {
    const detail = `The agent failed on input that does not match its schema: ${error?.message}`
    return new AgentError({ code: 'InputSchemaMismatch', status: 422, detail, errors, ...members })
  }
  const detail = `The execution ended in ERROR: ${error?.message}`
  return new AgentError({ code: 'ExecutionFailed', status: 500, detail, ...members })
}

/** Opens the stream of a run, or that of its execution once it is known. */
export async function openRunEvents(
  connection: Connection,
  call: Call,
  run: Run,
  after: string,
): Promise<Response> {
  const { deltas } = run.parameters
  if (call.executionId !== undefined) return openEvents(connection, call, call.executionId, { after, deltas })
  const response = await openStream(connection, call, toRequest(run, 'sync'))
  call.executionId = response.headers.get('X-Execution-Id') ?? undefined
  return response
}

export const openEvents = (
  connection: Connection,
  call: Call,
  id: string,
  { after, deltas }: { after: string; deltas?: boolean | undefined },
): Promise<Response> => {
  const path = `${executionPath(id)}/events${toQuery({ deltas })}`
  return openStream(connection, call, { path, headers: { 'Last-Event-ID': after } })
}

const EVENT_STREAM = 'text/event-stream'

/** @throws AgentError `UnexpectedResponse` if the response is something else than a stream of events */
function openStream(connection: Connection, call: Call, spec: RequestSpec): Promise<Response> {
  const headers = { ...spec.headers, Accept: EVENT_STREAM }
  return request(connection, call, { ...spec, headers }, async (response) => {
    if (response.headers.get('Content-Type')?.startsWith(EVENT_STREAM)) return response
    await response.body?.cancel()
    throw unexpectedResponse(response.status, 'The response is not a stream of events.')
  })
}

/** 128 random bits. `crypto.randomUUID` is missing on pages without TLS, and `crypto` itself in Node 18. */
export function newIdempotencyKey(): string {
  const bytes = Array.from({ length: 16 }, () => Math.floor(Math.random() * 256))
  const random = globalThis.crypto?.getRandomValues(new Uint8Array(16)) ?? bytes
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
