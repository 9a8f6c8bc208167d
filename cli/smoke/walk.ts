import { type OperationName, operationOf, type Route, routes } from '../../lib/api/routes.ts'

/** One request of the walk and how it was answered. */
export type Visit = {
  method: string
  path: string
  expected: number
  status: number | null
  ms: number
  note: string
}

export type WalkOptions = {
  baseUrl: string
  token: string
  /** The agent that is run, and what it is sent. */
  agent: string
  input: object
  onVisit: (visit: Visit) => void
}

const LIMIT_MS = 60_000

/**
 * Calls every route of the service, each with and without a slash at its end, as a client would: runs an agent, reads,
 * rates, cancels and deletes what came of it.
 */
export async function walk(options: WalkOptions): Promise<Visit[]> {
  const visits: Visit[] = []
  const visit = async (request: Request) => {
    const made = await send(options, request)
    visits.push(made.visit)
    options.onVisit(made.visit)
    return made.json
  }
  await visit({ method: 'GET', path: '/v1/agents', expected: 401, token: null })
  await visit({ method: 'GET', path: '/v1/no-such-route', expected: 404 })
  for (const route of routes.filter(({ function: name }) => name !== 'delete-execution')) {
    for (const slash of ['', '/']) await visitRoute(options, visit, route, slash)
  }
  return visits
}

/** A route about an execution gets one of its own, which is then deleted: by the route that does that. */
async function visitRoute(options: WalkOptions, visit: Visitor, route: Route, slash: string): Promise<void> {
  const { method, legacy } = route
  const executionId = route.path.includes('{executionId}') ? await start(options, visit, legacy) : ''
  const path = pathOf(route, { agentId: options.agent, executionId }) + slash
  await visit({ method, path, expected: 200, ...bodyOf(route.function, options.input) })
  if (executionId !== '') await remove(visit, executionId, legacy, slash)
}

type Request = {
  method: string
  path: string
  expected: number
  body?: object
  token?: null
  prefer?: string
}
type Visitor = (request: Request) => Promise<ReturnType<typeof JSON.parse>>

/** An execution that has ended. */
async function start({ agent, input }: WalkOptions, visit: Visitor, isLegacy: boolean): Promise<string> {
  const path = `/v1/${isLegacy ? 'documents' : 'agents'}/${agent}/executions?execMode=async`
  const { id = '' } = (await visit({ method: 'POST', path, expected: 202, body: input })) ?? {}
  await visit({ method: 'GET', path: `/v1/agent_executions/${id}`, expected: 200, prefer: 'wait=20' })
  return id
}

async function remove(visit: Visitor, id: string, isLegacy: boolean, slash: string): Promise<void> {
  const path = `/v1/${isLegacy ? 'document' : 'agent'}_executions/${id}${slash}`
  await visit({ method: 'DELETE', path, expected: 204 })
  await visit({ method: 'GET', path, expected: 404 })
}

function pathOf({ path }: Route, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}

function bodyOf(name: OperationName, input: object): { body?: object } {
  if (name === 'run-agent') return { body: input }
  return operationOf(name).body ? { body: { rating: 1 } } : {}
}

async function send({ baseUrl, token }: WalkOptions, request: Request) {
  const { method, path, expected, body, prefer } = request
  const startedAt = performance.now()
  const done = (status: number | null, note: string): Visit => ({
    method,
    path,
    expected,
    status,
    ms: Math.round(performance.now() - startedAt),
    note,
  })
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      signal: AbortSignal.timeout(LIMIT_MS),
      headers: {
        ...(request.token !== null && { Authorization: `Bearer ${token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
        ...(prefer && { Prefer: prefer }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const json = parsed(await response.text())
    return { visit: done(response.status, response.status === expected ? '' : (json?.detail ?? '')), json }
  } catch (error) {
    const { message, cause } = error as Error
    return { visit: done(null, cause instanceof Error ? cause.message : message), json: null }
  }
}

function parsed(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
