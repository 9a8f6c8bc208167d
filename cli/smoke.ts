import { program } from 'commander'
import { apiRoutes, getOperation, type OperationName, type Route } from '../lib/contract/routes.ts'
import { tryParseJson } from '../lib/core/json/json.ts'
import { textTable } from './format.ts'

/** `npm run smoke -- <baseUrl> <token>`. Exit codes: 0 success, 1 unexpected status, 2 wrong usage. */
program
  .name('npm run smoke --')
  .description(
    'Call every route of a service with and without a trailing slash, and compare the status codes with the expected ones.',
  )
  .argument('<baseUrl>', 'the BaseUrl output of the stack, or the URL that npm start prints')
  .argument('<token>', 'an API token')
  .option('--agent <slug>', 'agent to run; choose one that finishes within seconds', 'redact-pii')
  .option('--input <json>', "the agent's input", '{"content":"Write to ada@example.com."}')
  .option('--json', 'print one JSON document to stdout')
  .parse()

const [address = '', token = ''] = program.args
const baseUrl = address.replace(/\/+$/, '')
const {
  agent,
  input: inputText,
  json: asJson,
} = program.opts<{ agent: string; input: string; json?: true }>()
const input = tryParseJson(inputText) as object | undefined
if (input === undefined)
  program.error(`--input is not valid JSON: ${inputText.slice(0, 80)}`, { exitCode: 2 })

/** Statuses that depend on the settings: publishing over HTTP is off on AWS by default, and many have no provider. */
const OTHERWISE: Partial<Record<OperationName, number>> = {
  'publish-agent': 403,
  'get-resource-metadata': 404,
  'get-mcp-resource-metadata': 404,
}

/** Requests that change nothing: the service rejects them. The version that is promoted is the current one. */
const EXPECTED: Partial<Record<OperationName, number>> = {
  'publish-agent': 422,
  'archive-agent': 404,
  'restore-agent': 404,
  'delete-version': 409,
  'retire-version': 409,
  'rerun-execution': 422,
  'put-rollout': 422,
  'get-rollout': 404,
  'delete-rollout': 404,
  'send-signal': 409,
  'send-callback': 404,
  'create-webhook': 422,
  'get-tenant-limits': 404,
  'put-tenant-limits': 422,
  'delete-tenant-limits': 404,
  'get-agent-limits': 404,
  'put-agent-limits': 422,
  'delete-agent-limits': 404,
  'create-token': 422,
  'put-schedule': 422,
  'get-schedule': 404,
  'delete-schedule': 404,
  'run-schedule': 404,
  'start-batch': 422,
  'start-trial': 422,
}
const expectedOf = (name: OperationName): number =>
  EXPECTED[name] ?? (UNKNOWN.some((id) => getOperation(name).path.includes(`{${id}}`)) ? 404 : 200)

const UNKNOWN_AGENT = 'smoke-test-of-an-unknown-agent'
/** Nothing has these IDs. */
const UNKNOWN = ['otherId', 'approvalId', 'webhookId', 'deliveryId', 'batchId', 'trialId', 'tokenId']
const PLACEHOLDERS = {
  ...Object.fromEntries(UNKNOWN.map((name) => [name, 'unknown'])),
  scheduleName: 'smoke.test',
  tenantId: 'smoke test',
  name: 'smoke.test',
  mac: 'guessed',
}

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

/** `status` is null without a response; `detail` says what is wrong. */
type Result = Pick<Request, 'method' | 'path' | 'expected'> & {
  status: number | null
  ms: number
  detail: string
}

const TIMEOUT_MS = 60_000

/** A message of the Model Context Protocol. */
const LIST_TOOLS = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

const results: Result[] = []
const isExpected = ({ status, expected }: Result) => status === expected

await callRoutes()
const failed = results.filter((result) => !isExpected(result))
if (asJson) console.log(JSON.stringify({ failed: failed.length, results }, null, 2))
else {
  if (process.stderr.isTTY) process.stderr.write('\n')
  console.log(textTable(['', 'METHOD', 'PATH', 'STATUS', 'TIME', ''], results.map(toRow)))
  console.log(`\n${results.length} requests, ${failed.length} failed.`)
}
process.exit(failed.length > 0 ? 1 : 0)

function toRow(result: Result): string[] {
  const { method, path, expected, status, ms, detail } = result
  return [
    isExpected(result) ? 'ok' : 'FAILED',
    method,
    path.replace(/[0-9a-f-]{36}/, '{id}'),
    String(status ?? 'no response'),
    `${ms} ms`,
    isExpected(result) ? '' : `expected ${expected}. ${detail}`,
  ]
}

/**
 * Calls every route with and without a trailing slash: runs the agent, then reads, rates, cancels and deletes its
 * executions. Last, it loads the console.
 */
async function callRoutes(): Promise<void> {
  await send({ method: 'GET', path: '/v1/agents', expected: 401, token: null })
  await send({ method: 'GET', path: '/v1/no-such-route', expected: 404 })
  await send({ method: 'HEAD', path: '/v1/agents', expected: 200 })
  await send({ method: 'PATCH', path: '/v1/agents', expected: 405, body: {} })
  const { json } = await send({ method: 'GET', path: `/v1/agents/${agent}`, expected: 200 })
  const versionId: string = json?.currentVersionId ?? ''
  for (const route of apiRoutes.filter(({ operation }) => operation !== 'delete-execution')) {
    for (const slash of ['', '/']) await callRoute(route, versionId, slash)
  }
  await callConsole()
}

/** The page, also by the paths that redirect to it, and the first file that it refers to. */
async function callConsole(): Promise<void> {
  const request = { method: 'GET', expected: 200, token: null } as const
  for (const path of ['/', '/console/']) await send({ ...request, path })
  const page = await send({ ...request, path: '/console' })
  const [file = 'console/none'] = /console\/[\w-]+\.\w+/.exec(page.text) ?? []
  for (const slash of ['', '/']) await send({ ...request, path: `/${file}${slash}` })
}

/** Each route of an execution gets its own one, which is then deleted. That calls the delete route, too. */
async function callRoute(route: Route, versionId: string, slash: string): Promise<void> {
  const { method, legacy, operation: name } = route
  const expected = expectedOf(name)
  const executionId = route.path.includes('{executionId}') ? await runAgent(legacy) : ''
  const agentId = expected === 404 ? UNKNOWN_AGENT : agent
  const path = toPath(route, { ...PLACEHOLDERS, agentId, executionId, versionId }) + slash
  await send({ method, path, expected, otherwise: OTHERWISE[name], ...contentOf(name) })
  if (executionId !== '') await deleteExecution(executionId, legacy, slash)
}

/** Runs the agent asynchronously and waits until the execution is final. Returns its id. */
async function runAgent(isLegacy: boolean): Promise<string> {
  const path = `/v1/${isLegacy ? 'documents' : 'agents'}/${agent}/executions?execMode=async`
  const { json } = await send({ method: 'POST', path, expected: 202, body: input as object })
  const { id = '' } = json ?? {}
  await send({ method: 'GET', path: `/v1/agent_executions/${id}`, expected: 200, prefer: 'wait=20' })
  return id
}

async function deleteExecution(id: string, isLegacy: boolean, slash: string): Promise<void> {
  const path = `/v1/${isLegacy ? 'document' : 'agent'}_executions/${id}${slash}`
  await send({ method: 'DELETE', path, expected: 204 })
  await send({ method: 'GET', path, expected: 404 })
}

function toPath({ path }: Route, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? name))
}

function contentOf(name: OperationName): { body?: object; accept?: string } {
  if (name === 'run-agent') return { body: input as object }
  if (name === 'serve-mcp') return { body: LIST_TOOLS, accept: 'application/json, text/event-stream' }
  if (name === 'publish-agent') return { body: { document: '' } }
  if (name === 'update-webhook') return { body: {} }
  if (name === 'start-batch') return { body: [] }
  if (name === 'decide-approval') return { body: { decision: 'reject' } }
  return getOperation(name).body ? { body: { rating: 1 } } : {}
}

/** Sends a request, records the result, and returns the body; `json` is null if it is not JSON. */
async function send(request: Request): Promise<{ text: string; json: ReturnType<typeof JSON.parse> }> {
  const { method, path, expected, otherwise, body, prefer, accept } = request
  const startedAt = performance.now()
  const record = (status: number | null, detail: string) => {
    const ms = Math.round(performance.now() - startedAt)
    const result = { method, path, expected: status === otherwise ? otherwise : expected, status, ms, detail }
    results.push(result)
    if (!asJson && process.stderr.isTTY) process.stderr.write(isExpected(result) ? '.' : 'x')
  }
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
    const json = tryParseJson(text) as ReturnType<typeof JSON.parse>
    record(response.status, response.status === expected ? '' : (json?.detail ?? ''))
    return { text, json: json ?? null }
  } catch (error) {
    const { message, cause } = error as Error
    record(null, cause instanceof Error ? cause.message : message)
    return { text: '', json: null }
  }
}
