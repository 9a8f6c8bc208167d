import { AgentError } from '../errors.ts'
import type { ClientOptions } from '../options.ts'
import { type Call, sleep, watch } from './call.ts'

/** How requests are sent: the options of the client with their defaults. */
export type Connection = Required<Omit<ClientOptions, 'timeoutMs'>>

const MAX_RETRIES = 20

/** What `fetch` is at the time of a request: programs and tests replace it. */
const globalFetch = (url: string, init: RequestInit) => globalThis.fetch(url, init)

/** @throws TypeError if an option is not valid */
export function toConnection(options: ClientOptions): Connection {
  const { baseUrl, token, fetch = globalFetch, maxRetries = MAX_RETRIES } = options
  const { parse = JSON.parse, stringify = JSON.stringify } = options
  if (!/^https?:\/\/[^?#]+$/.test(baseUrl))
    throw new TypeError(`baseUrl must be a URL such as https://agents.example.com, not ${baseUrl}`)
  if (!token) throw new TypeError('token must be an API token.')
  if (!(maxRetries >= 0)) throw new TypeError(`maxRetries must be a number from 0, not ${maxRetries}.`)
  return { baseUrl: baseUrl.replace(/(\/v1)?\/*$/, ''), token, fetch, maxRetries, parse, stringify }
}

export type RequestSpec = {
  method?: string
  /** From `/v1` on, with the query. */
  path: string
  headers?: Record<string, string>
  body?: string
  /** How long the connection may be silent before it is given up. */
  maxSilenceMs?: number
  /** Not repeated: it may have been executed. */
  once?: true
}

const MAX_SILENCE_MS = 60_000

/**
 * Sends a request until it is answered, as long as a retry can help and the deadline allows it.
 * @param read reads a successful response; a retry follows if it fails because the connection breaks
 * @throws AgentError, or the reason of the signal
 */
export async function request<T>(
  connection: Connection,
  call: Call,
  { method = 'GET', path, headers, body, once, maxSilenceMs = MAX_SILENCE_MS }: RequestSpec,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { fetch, baseUrl, token, maxRetries } = connection
  const init: RequestInit = {
    method,
    // Throws for values that no header can have, which is not a failure of the connection.
    headers: new Headers({
      Authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    }),
    ...(body !== undefined && { body }),
  }
  let failures = 0
  for (let attempt = 0; ; attempt++) {
    let error: AgentError
    const watchdog = watch(call.signal, maxSilenceMs, () => new Error(`No response for ${maxSilenceMs} ms.`))
    try {
      const response = await fetch(baseUrl + path, { ...init, signal: watchdog.signal })
      watchdog.restart()
      // The response to the first request was lost.
      const isDeleted = method === 'DELETE' && attempt > 0 && response.status === 404
      if (response.ok || isDeleted) return await read(response)
      error = await toError(response)
    } catch (cause) {
      if (call.signal.aborted) throw call.signal.reason
      if (cause instanceof AgentError) throw cause
      error = connectionFailed(method, path, watchdog.signal.aborted ? watchdog.signal.reason : cause)
    } finally {
      watchdog.close()
    }
    const { retryAfterMs } = error
    const waitMs = (retryAfterMs ?? 0) + backoffMs(attempt)
    const isLate = performance.now() + waitMs >= call.endsAt
    if (once || !isRetryable(error) || failures >= maxRetries || isLate) throw error
    if (retryAfterMs === undefined) failures++
    call.lastError = error
    await sleep(waitMs, call.signal)
  }
}

/** Sends a request and parses the JSON of its response; undefined if it has no body. */
export function requestJson<T>(
  connection: Connection,
  call: Call,
  spec: RequestSpec,
  onResponse?: (response: Response) => void,
): Promise<T> {
  return request(connection, call, spec, async (response) => {
    onResponse?.(response)
    return readJson<T>(connection, response)
  })
}

export async function readJson<T>(connection: Connection, response: Response): Promise<T> {
  const text = await response.text()
  return (
    response.ok && response.status !== 204 ? parseBody(connection, response.status, text) : undefined
  ) as T
}

/** A JSON body that ends too early is a broken connection: the length of a body is not always known. */
export function parseBody({ parse }: Connection, status: number, text: string): unknown {
  let cause: unknown
  try {
    const value: unknown = parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    if (/^\s*([[{]|$)/.test(text) && error instanceof SyntaxError) throw error
    cause = error
  }
  throw unexpectedResponse(status, 'The response is not a JSON object or list.', cause)
}

export const unexpectedResponse = (status: number, detail: string, cause?: unknown): AgentError =>
  new AgentError({ code: 'UnexpectedResponse', status, detail }, cause)

/** The error of a response: problem details of the service, or whatever something in between has sent. */
async function toError(response: Response): Promise<AgentError> {
  const { status, headers } = response
  const retryAfterMs = readRetryAfter(headers)
  const problem = parseProblem(await response.text()) ?? {
    code: 'UnexpectedResponse',
    detail: `The response is ${status} without problem details.`,
  }
  return new AgentError({ ...problem, status, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

function parseProblem(text: string): { code: string; detail: string } | undefined {
  try {
    const { code, detail, ...members } = JSON.parse(text)
    return typeof code === 'string' ? { ...members, code, detail: String(detail) } : undefined
  } catch {
    return undefined
  }
}

const connectionFailed = (method: string, path: string, cause: unknown): AgentError =>
  new AgentError(
    { code: 'ConnectionFailed', detail: `${method} ${path.split('?')[0]} got no complete response.` },
    cause,
  )

const BASE_MS = 100
const MAX_MS = 10_000

/** 504 without the code of the service comes from a proxy. */
const RETRYABLE = [408, 429, 502, 503, 504]

/** Whether the same request can succeed later. */
function isRetryable(error: AgentError): boolean {
  const { code, status } = error
  if (code === 'ExecutionStillRunning' || isCostLimit(error)) return false
  return code === 'InternalError' || code === 'ConnectionFailed' || RETRYABLE.includes(status)
}

/** Days or weeks can pass before it is not reached any more. */
const isCostLimit = (error: AgentError): boolean =>
  error.code === 'LimitExceeded' && 'limit' in error && String(error.limit).startsWith('maxCostUsd')

/**
 * Exponential backoff with full jitter.
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 * @param failures in a row, from 0
 */
export const backoffMs = (failures: number): number =>
  Math.random() * Math.min(MAX_MS, BASE_MS * 2 ** failures)

/** `Retry-After` in milliseconds: seconds or a date (RFC 9110, section 10.2.3), on the clock of the server if sent. */
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')
  if (!text) return undefined
  const date = Date.parse(headers.get('Date') ?? '') || Date.now()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - date
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}

/** Path segments, encoded. Agents are named by slug or ID. */
export const agentPath = (agent: string): string => `/v1/agents/${encodeURIComponent(agent)}`
export const versionPath = (agent: string, id: string): string =>
  `${agentPath(agent)}/versions/${encodeURIComponent(id)}`
export const rolloutPath = (agent: string): string => `${agentPath(agent)}/rollout`
export const webhookPath = (id: string): string => `/v1/webhooks/${encodeURIComponent(id)}`
export const trialPath = (id: string): string => `/v1/trials/${encodeURIComponent(id)}`
export const batchPath = (id: string): string => `/v1/batches/${encodeURIComponent(id)}`
export const schedulePath = (agent: string, name: string): string =>
  `${agentPath(agent)}/schedules/${encodeURIComponent(name)}`
/** `.` and `..` are no names in a path. */
export function limitsPath(subject: { tenantId: string } | { agent: string }): string {
  if ('agent' in subject) return `${agentPath(subject.agent)}/limits`
  const { tenantId } = subject
  if (/^\.{0,2}$/.test(tenantId)) throw new TypeError('tenantId must not be empty, "." or "..".')
  return `/v1/tenants/${encodeURIComponent(tenantId)}/limits`
}
export const executionPath = (id: string): string => `/v1/agent_executions/${encodeURIComponent(id)}`

/** A query without the parameters that are undefined; empty without any. */
export function toQuery(parameters: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, String(value))
  return `${query}` && `?${query}`
}

/** The query of the next page in a `Link` header (RFC 8288). The path stays: a proxy may have changed it. */
export const nextQuery = (headers: Headers): string | undefined =>
  /<[^>?]*(\?[^>]*)>\s*;\s*rel="?next"?/.exec(headers.get('Link') ?? '')?.[1]
