import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from '../processes/processes.ts'
import { assertDocumented } from './documented-headers.ts'

/** `json` is the parsed body, or undefined if the body is not JSON. */
export type ApiResponse = {
  status: number
  headers: Headers
  text: string
  json: ReturnType<typeof JSON.parse>
}

/** `raw` is sent unchanged, `body` as JSON. */
export type RequestOptions = {
  body?: unknown
  raw?: string | Uint8Array
  headers?: Record<string, string>
}

export type ApiClient = (method: string, path: string, options?: RequestOptions) => Promise<ApiResponse>

const TIMEOUT_MS = 50_000

/** An HTTP client of the service at the URL. Without a token, it sends no Authorization header. */
export function createClient(url: string, token: string | null, timeoutMs = TIMEOUT_MS): ApiClient {
  return async (method, path, { body, raw, headers = {} } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${url}${path}`, {
      method,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload as string }),
    })
    assertDocumented(method, path, response)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parseJson(text) }
  }
}

/** A client of a local service, with the development token in its data folder. */
export const createLocalClient = (url: string, dataDir: string): ApiClient =>
  createClient(url, readDevToken(dataDir))

export const readDevToken = (dataDir: string): string =>
  readFileSync(join(dataDir, 'dev-token'), 'utf8').trim()

export function getExecutionId({ status, headers, text }: ApiResponse): string {
  const id = headers.get('x-execution-id')
  if (!id) throw new Error(`The response has no X-Execution-Id header: ${status} ${text.slice(0, 500)}`)
  return id
}

/** Waits until an execution is final, by requests that wait for it, and returns its record. */
export async function waitForExecution(
  call: ApiClient,
  id: string,
  limitMs = 20_000,
): Promise<ApiResponse['json']> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const remainingMs = deadline - performance.now()
    if (remainingMs < 0) throw new Error(`Waited ${limitMs} ms for the end of execution ${id}.`)
    const headers = { Prefer: `wait=${Math.ceil(remainingMs / 1000)}` }
    const { json } = await call('GET', `/v1/agent_executions/${id}`, { headers })
    if (json?.status !== 'IN_PROGRESS') return json
  }
}

/** Waits until a batch or a trial has ended, and returns its record. */
export async function waitForEnd(call: ApiClient, path: string): Promise<ApiResponse['json']> {
  let json: ApiResponse['json']
  const hasEnded = async () => {
    ;({ json } = await call('GET', path))
    return json.status === 'ENDED'
  }
  await waitUntil(hasEnded, { what: `the end of ${path}`, limitMs: 60_000 })
  return json
}

/** The URL of the next page in the `Link` header, if any. */
export const getNextLink = ({ headers }: ApiResponse): string | undefined =>
  /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]

/** The pages of a list, from the first one on. */
export async function readPages(call: ApiClient, path: string): Promise<ApiResponse[]> {
  const pages: ApiResponse[] = []
  for (let next: string | undefined = path; next; ) {
    const page: ApiResponse = await call('GET', next)
    if (page.status !== 200) throw new Error(`${next} answers ${page.status}: ${page.text}`)
    pages.push(page)
    next = getNextLink(page)
  }
  return pages
}

/** What clients can read in the links of pages: the cursors as text and decoded. */
export const cursorsOf = (pages: ApiResponse[]): string =>
  pages
    .flatMap((page) => getNextLink(page) ?? [])
    .map((link) => [link, new URL(link, 'http://x').searchParams.get('cursor') ?? ''])
    .map(([link, cursor = '']) => `${link} ${Buffer.from(cursor, 'base64url')}`)
    .join('\n')

/** A field of each record of a list, by default the ID. */
export const idsOf = (list: ApiResponse['json'], field = 'id'): ApiResponse['json'][] =>
  list.map((record: ApiResponse['json']) => record[field])

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
