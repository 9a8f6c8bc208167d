import { EventParser, type SentEvent } from '../../clients/typescript/src/runs/sse.ts'
import { fitsDoubles, parseStoredJson } from '../../lib/core/json/parse-json.ts'
import { type Query, toSearchParams } from '../state/location.ts'
import { credentials, rejectionOf, signOut } from '../state/session.ts'
import { toApiError, unreachable } from './api-error.ts'

type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  query?: Query | URLSearchParams | undefined
  /** JSON text, so that numbers are sent as they were typed. */
  body?: string | undefined
  /** In place of a text. */
  json?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Instead of the one that is signed in. */
  token?: string
  /** It is sent although the page is left. */
  keepalive?: boolean
}

/** The URL of an API path such as `/v1/agents`, on the host of the page. */
export function toUrl(path: string, query: Query | URLSearchParams = {}): string {
  const text = (query instanceof URLSearchParams ? query : toSearchParams(query)).toString()
  return `${basePathOf(window.location.pathname)}${path}${text && `?${text}`}`
}

/** A rejected token signs out. @throws ApiError; an AbortError if the signal aborts */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', query, json, headers, signal, keepalive = false } = options
  const body = json === undefined ? options.body : JSON.stringify(json)
  const token = options.token ?? credentials.get().token
  const response = await fetch(toUrl(path, query), {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
    keepalive,
    cache: 'no-store',
    credentials: 'omit',
  }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw error instanceof TypeError ? unreachable() : error
  })
  if (response.ok) return response
  const error = await toApiError(response)
  // Only if it is still the token of this request.
  if (response.status === 401 && credentials.get().token === token && token !== null)
    signOut(rejectionOf(token))
  throw error
}

/** A JSON text of the service. Numbers that a double would change are `ExactNumber`s. */
export const parseJsonText = <T>(text: string): T => parseStoredJson(text) as T

/** Characters that are checked and parsed within one task of the browser. */
const MAX_TASK_CHARACTERS = 500_000

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text().catch(() => {
    throw unreachable()
  })
  if (text.length < MAX_TASK_CHARACTERS) return parseJsonText<T>(text === '' ? 'null' : text)
  await nextTask()
  const isExact = fitsDoubles(text)
  await nextTask()
  return isExact ? JSON.parse(text) : parseJsonText<T>(text)
}

/** The browser can do other things in between. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve))

/** The JSON body of a response. @throws ApiError */
export const requestJson = async <T>(path: string, options: RequestOptions = {}): Promise<T> =>
  readJson<T>(await send(path, options))

const sender =
  (method: NonNullable<RequestOptions['method']>) =>
  <T>(path: string, options: RequestOptions = {}): Promise<T> =>
    requestJson<T>(path, { method, ...options })

/** Each throws ApiError. */
export const [post, put, patch, remove] = [sender('POST'), sender('PUT'), sender('PATCH'), sender('DELETE')]

/** `next`: the query of the next page, null for the last one. */
export type Page<T> = { items: T[]; next: URLSearchParams | null }

/** One page of a list. @throws ApiError */
export async function requestPage<T>(
  path: string,
  options: RequestOptions = {},
): Promise<Page<T> & { headers: Headers }> {
  const response = await send(path, options)
  const { headers } = response
  return { items: await readJson<T[]>(response), next: nextQueryOf(headers.get('Link')), headers }
}

/** `isComplete`: false if there are more items than the console reads. */
export type LoadedList<T> = { items: T[]; isComplete: boolean }

const MAX_PAGES = 20

/** The first pages of a list. @throws ApiError */
export async function requestPages<T>(
  path: string,
  {
    query,
    signal,
    maxPages = MAX_PAGES,
  }: { query: Query; signal?: AbortSignal | undefined; maxPages?: number },
): Promise<LoadedList<T>> {
  const items: T[] = []
  let next: Query | URLSearchParams | null = query
  for (let page = 0; next && page < maxPages; page += 1) {
    const loaded: Page<T> = await requestPage<T>(path, { query: next, signal })
    items.push(...loaded.items)
    next = loaded.next
  }
  return { items, isComplete: next === null }
}

/** What precedes `/console` in the path of the page: the stage or the base path of a custom domain, usually empty. */
export function basePathOf(pathname: string): string {
  const at = pathname.lastIndexOf('/console')
  return at === -1 ? '' : pathname.slice(0, at)
}

/** The query of the `next` link in a `Link` header (RFC 8288), null without one. Its path is that of the request. */
export function nextQueryOf(header: string | null): URLSearchParams | null {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const isNext = /;\s*rel="?(?:[^";,]* )?next(?: [^";,]*)?"?\s*(?:[;,]|$)/i.test(parameters)
    if (isNext) return new URLSearchParams(target.split('?')[1] ?? '')
  }
  return null
}

/** The events of a response, until it ends. @throws ApiError if the connection is lost */
async function* readEvents(response: Response, signal: AbortSignal): AsyncGenerator<SentEvent> {
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

/** `EventSource` sends no Authorization header. @throws ApiError; an AbortError if the signal aborts */
export async function requestEvents(
  path: string,
  options: RequestOptions & { signal: AbortSignal },
): Promise<{ response: Response; events: AsyncGenerator<SentEvent> }> {
  const headers = { Accept: 'text/event-stream', ...options.headers }
  const response = await send(path, { ...options, headers })
  return { response, events: readEvents(response, options.signal) }
}

/** A new `Idempotency-Key`. `crypto.randomUUID` exists only on HTTPS and on this machine. */
export const newIdempotencyKey = (): string =>
  crypto
    .getRandomValues(new Uint8Array(16))
    .reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), '')
