import { agentOperations } from './operations/agents.ts'
import { batchOperations } from './operations/batches.ts'
import { executionOperations } from './operations/executions.ts'
import { limitsOperations } from './operations/limits.ts'
import { type Operation, reading } from './operations/operation.ts'
import { replyOperations } from './operations/replies.ts'
import { scheduleOperations } from './operations/schedules.ts'
import { serviceOperations } from './operations/service.ts'
import { tokenOperations } from './operations/tokens.ts'
import { trialOperations } from './operations/trials.ts'
import { webhookOperations } from './operations/webhooks.ts'

/**
 * The operations by name: the single source of the HTTP contract. The stack, the local gateway, request validation and
 * OpenAPI read it. To add an endpoint, add a row to its subject in `operations/` and a file in `functions/`, or to its
 * family's.
 */
export const operations = {
  ...serviceOperations,
  ...agentOperations,
  ...executionOperations,
  ...replyOperations,
  ...webhookOperations,
  ...limitsOperations,
  ...tokenOperations,
  ...scheduleOperations,
  ...batchOperations,
  ...trialOperations,
  'get-usage': {
    family: 'read-usage',
    ...reading,
    path: '/v1/usage',
    summary: 'Get what the runs that have ended used and cost, by interval and group',
    query: 'usageParameters',
    responses: {
      200: {
        description:
          'Rows by interval, oldest first, then by group; comma-separated values with a header (RFC 4180) if `Accept` prefers `text/csv`. Intervals without runs have no row. Runs are in it usually within two minutes after their end, at the latest 8 minutes after the interval has ended.',
        body: ['UsageRow'],
        csv: true,
      },
    },
    errors: ['AgentNotFound'],
    streams: true,
  },
  'get-scores': {
    family: 'read-usage',
    ...reading,
    path: '/v1/scores',
    summary: 'Get what scorers have said about production runs, by interval, agent, version and scorer',
    query: 'scoreParameters',
    responses: {
      200: {
        description: 'Rows by interval, oldest first, then by agent, version and scorer',
        body: ['ScoreRow'],
      },
    },
    errors: ['AgentNotFound'],
    streams: true,
  },
  'get-agreement': {
    family: 'read-usage',
    ...reading,
    path: '/v1/scores/agreement',
    summary: 'Get how far scorers agree with people on the newest 1,000 runs that have a score and a review',
    query: 'agreementParameters',
    responses: { 200: { description: 'The scorers, by slug', body: ['Agreement'] } },
    errors: ['AgentNotFound'],
    streams: true,
  },
  'serve-console': {
    method: 'GET',
    path: '/console',
    page: { otherPaths: ['/', '/console/{file}'] },
    summary: 'Serve the web console',
    public: true,
    ignoresQuery: true,
    responses: { 200: { description: 'A file of the console', body: null } },
    streams: true,
  },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof operations

/** An operation without its literal types. */
export const getOperation = (name: OperationName): Operation => operations[name]

/** A file of `functions/` that serves operations. */
export type EndpointFunction = {
  [Name in OperationName]: (typeof operations)[Name] extends { family: infer Family extends string }
    ? Family
    : Name
}[OperationName]

export const functionOf = (name: OperationName): EndpointFunction =>
  (getOperation(name).family ?? name) as EndpointFunction

/** The operations that a function serves: one, or a family. None for a function that is not an endpoint. */
export const operationsOf = (functionName: string): OperationName[] =>
  operationNames.filter((name) => functionOf(name) === functionName)

export const operationNames = Object.keys(operations) as OperationName[]

export type Route = { operation: OperationName; method: Operation['method']; path: string; legacy: boolean }

const currentRoutes: Route[] = operationNames.flatMap((name) => {
  const { method, path, page } = getOperation(name)
  const paths = [path, ...(page?.otherPaths ?? [])]
  return paths.map((path) => ({ operation: name, method, path, legacy: false }))
})

/** Routes under the legacy name of agents, document: all of agents and executions, except those of families. */
const legacyRoutes: Route[] = currentRoutes
  .filter(({ path, operation }) => path.startsWith('/v1/agent') && !getOperation(operation).family)
  .map((route) => ({ ...route, path: route.path.replace('/v1/agent', '/v1/document'), legacy: true }))

/** Every route. Each path works with and without a trailing slash. */
export const routes: Route[] = [...currentRoutes, ...legacyRoutes]

/** The routes of the contract: all but those of pages. */
export const apiRoutes: Route[] = routes.filter((route) => !getOperation(route.operation).page)

/** The methods of a path of `routes`, sorted. HEAD behaves like GET, without a body. */
export function methodsOf(path: string): string[] {
  const methods = routes.filter((route) => route.path === path).map(({ method }) => method)
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()
}

/** Whether no operation of the path requires a token. */
export const isPublicPath = (path: string): boolean =>
  routes.every((route) => route.path !== path || getOperation(route.operation).public)
