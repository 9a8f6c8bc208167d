import { apiRoutes, getOperation, type OperationName, type Route } from '../../lib/api/routes.ts'

/** Result of one request. `status` is null without a response; `detail` says what is wrong. */
export type Result = {
  method: string
  path: string
  expected: number
  status: number | null
  ms: number
  detail: string
}

export type Options = {
  baseUrl: string
  token: string
  /** Slug of the agent to run, and its input. */
  agent: string
  input: object
  onResult: (result: Result) => void
}

/** Where publishing over HTTP is off, as it is on AWS by default. */
const PUBLISHING_IS_OFF = 403

/** Requests that change nothing: the service rejects them. The version that is promoted is the current one. */
const EXPECTED: Partial<Record<OperationName, number>> = {
  'publish-agent': 422,
  'archive-agent': 404,
  'restore-agent': 404,
  'delete-version': 409,
  'retire-version': 409,
}
const UNKNOWN_AGENT = 'smoke-test-of-an-unknown-agent'

type Request = {
  method: string
  path: string
  expected: number
  /** A status that is expected, too. */
  otherwise?: number | undefined
  body?: object
  token?: null
  prefer?: string
  accept?: string
}

/** Sends a request, records the result, and returns the body; `json` is null if it is not JSON. */
type Send = (request: Request) => Promise<{ text: string; json: ReturnType<typeof JSON.parse> }>

const TIMEOUT_MS = 60_000

/** A message of the Model Context Protocol. */
const LIST_TOOLS = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/**
 * Calls every route with and without a trailing slash: runs an agent, then reads, rates, cancels and deletes its
 * executions. Last, it loads the console.
 */
export async function callRoutes(options: Options): Promise<Result[]> {
  const results: Result[] = []
  const send: Send = async (request) => {
    const { result, ...body } = await sendRequest(options, request)
    results.push(result)
    options.onResult(result)
    return body
  }
  await send({ method: 'GET', path: '/v1/agents', expected: 401, token: null })
  await send({ method: 'GET', path: '/v1/no-such-route', expected: 404 })
  await send({ method: 'HEAD', path: '/v1/agents', expected: 200 })
  await send({ method: 'PATCH', path: '/v1/agents', expected: 405, body: {} })
  const { json: agent } = await send({ method: 'GET', path: `/v1/agents/${options.agent}`, expected: 200 })
  const versionId: string = agent?.currentVersionId ?? ''
  for (const route of apiRoutes.filter(({ operation }) => operation !== 'delete-execution')) {
    for (const slash of ['', '/']) await callRoute({ ...options, versionId }, send, route, slash)
  }
  await callConsole(send)
  return results
}

/** The page, also by the paths that redirect to it, and the first file that it refers to. */
async function callConsole(send: Send): Promise<void> {
  const request = { method: 'GET', expected: 200, token: null } as const
  for (const path of ['/', '/console/']) await send({ ...request, path })
  const page = await send({ ...request, path: '/console' })
  const [file = 'console/none'] = /console\/[\w-]+\.\w+/.exec(page.text) ?? []
  for (const slash of ['', '/']) await send({ ...request, path: `/${file}${slash}` })
}

/** Each route of an execution gets its own one, which is then deleted. That calls the delete route, too. */
async function callRoute(
  options: Options & { versionId: string },
  send: Send,
  route: Route,
  slash: string,
): Promise<void> {
  const { method, legacy, operation: name } = route
  const expected = EXPECTED[name] ?? 200
  const executionId = route.path.includes('{executionId}') ? await runAgent(options, send, legacy) : ''
  const agentId = expected === 404 ? UNKNOWN_AGENT : options.agent
  const path = toPath(route, { agentId, executionId, versionId: options.versionId }) + slash
  const otherwise = name === 'publish-agent' ? PUBLISHING_IS_OFF : undefined
  await send({ method, path, expected, otherwise, ...contentOf(name, options.input) })
  if (executionId !== '') await deleteExecution(send, executionId, legacy, slash)
}

/** Runs the agent asynchronously and waits until the execution is final. Returns its id. */
async function runAgent({ agent, input }: Options, send: Send, isLegacy: boolean): Promise<string> {
  const path = `/v1/${isLegacy ? 'documents' : 'agents'}/${agent}/executions?execMode=async`
  const { json } = await send({ method: 'POST', path, expected: 202, body: input })
  const { id = '' } = json ?? {}
  await send({ method: 'GET', path: `/v1/agent_executions/${id}`, expected: 200, prefer: 'wait=20' })
  return id
}

async function deleteExecution(send: Send, id: string, isLegacy: boolean, slash: string): Promise<void> {
  const path = `/v1/${isLegacy ? 'document' : 'agent'}_executions/${id}${slash}`
  await send({ method: 'DELETE', path, expected: 204 })
  await send({ method: 'GET', path, expected: 404 })
}

function toPath({ path }: Route, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}

function contentOf(name: OperationName, input: object): { body?: object; accept?: string } {
  if (name === 'run-agent') return { body: input }
  if (name === 'serve-mcp') return { body: LIST_TOOLS, accept: 'application/json, text/event-stream' }
  if (name === 'publish-agent') return { body: { document: '' } }
  return getOperation(name).body ? { body: { rating: 1 } } : {}
}

async function sendRequest({ baseUrl, token }: Options, request: Request) {
  const { method, path, expected, otherwise, body, prefer, accept } = request
  const startedAt = performance.now()
  const toResult = (status: number | null, detail: string): Result => ({
    method,
    path,
    expected: status === otherwise ? otherwise : expected,
    status,
    ms: Math.round(performance.now() - startedAt),
    detail,
  })
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...(request.token !== null && { Authorization: `Bearer ${token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
        ...(prefer && { Prefer: prefer }),
        ...(accept && { Accept: accept }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = parseJson(text)
    const detail = response.status === expected ? '' : (json?.detail ?? '')
    return { result: toResult(response.status, detail), text, json }
  } catch (error) {
    const { message, cause } = error as Error
    return { result: toResult(null, cause instanceof Error ? cause.message : message), text: '', json: null }
  }
}

function parseJson(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
