import { extname, join } from 'node:path'
import type {
  APIGatewayAuthorizerResult,
  APIGatewayProxyEvent,
  APIGatewayTokenAuthorizerEvent,
} from 'aws-lambda'
import { LRUCache } from 'lru-cache'
import { describeMistake } from '../../lib/access/tokens.ts'
import { functionOf, type OperationName, operationNames } from '../../lib/contract/routes.ts'
import { Unavailable } from '../../lib/core/errors.ts'
import { Unauthorized } from '../../lib/core/request-errors.ts'
import { CONSOLE_FOLDER, readSetting } from '../../lib/environment.ts'
import { dataFolder } from '../data-folder.ts'
import { openLocalConsole } from './local-console.ts'

export type Handlers = Record<
  OperationName,
  (event: APIGatewayProxyEvent, context: object) => Promise<unknown>
>

type Functions = { handlers: Handlers; authorizer: Authorizer; sweep: () => Promise<void> }

const OF_ENVIRONMENT = 'environment'

/** Its functions have no query in their path: Node caches the code of a path. */
let firstTable: string | undefined

/**
 * The Lambda functions of `routes.ts`. Each is loaded at its first call, so that unused ones take no memory.
 * @param table what names the table, in a process that works on several: functions open theirs when they are loaded
 */
export function localFunctions(table = OF_ENVIRONMENT): Functions {
  firstTable ??= table
  const entries = operationNames.map((name) => [name, lazyHandler(functionOf(name), table)])
  return {
    handlers: { ...Object.fromEntries(entries), 'serve-console': consoleHandler(table) } as Handlers,
    authorizer: lazyHandler('authorize-request', table),
    sweep: lazyHandler('sweep-executions', table),
  }
}

function lazyHandler<Args extends unknown[], Result>(
  name: string,
  table: string,
): (...args: Args) => Promise<Result> {
  const query = table === firstTable ? '' : `?${encodeURIComponent(table)}`
  const path = `../../functions/${name}${extname(import.meta.url)}${query}`
  let module: Promise<{ handler: (...args: Args) => Promise<Result> }> | undefined
  return async (...args) => {
    module ??= import(path)
    return (await module).handler(...args)
  }
}

/** Opens the console at the first request to it: a start does not wait, and a service without users saves it. */
function consoleHandler(table: string): Handlers['serve-console'] {
  const serve = lazyHandler<[object, object], unknown>('serve-console', table)
  let opened: Promise<string> | undefined
  return async (event, context) => {
    if (!process.env[CONSOLE_FOLDER]) {
      opened ??= openLocalConsole(join(dataFolder(), 'console'))
      process.env[CONSOLE_FOLDER] = await opened.catch((error: unknown) => {
        opened = undefined
        throw error
      })
    }
    return serve(event, context)
  }
}

export type Authorizer = (event: APIGatewayTokenAuthorizerEvent) => Promise<APIGatewayAuthorizerResult>

/** What a function receives in `requestContext.authorizer`. */
export type AuthorizerContext = Record<string, unknown>

/**
 * Calls the authorizer as API Gateway calls a TOKEN authorizer. A missing header and the error "Unauthorized" are 401.
 * @param route method and path
 * @throws Unauthorized, Unavailable
 */
export async function authorize(
  authorizer: Authorizer,
  header: string | undefined,
  route: string,
): Promise<AuthorizerContext> {
  const issuer = readSetting('oidcIssuer')
  const hasToken = header !== undefined && /^bearer +\S/i.test(header)
  const rejected = () => new Unauthorized({ hasToken, issuer, mistake: describeMistake(header, issuer) })
  if (!header) throw rejected()
  const methodArn = `arn:aws:execute-api:local:000000000000:local/local/${route}`
  const result = await authorizer({ type: 'TOKEN', methodArn, authorizationToken: header }).catch(
    (error: Error) => {
      throw error.message === 'Unauthorized' ? rejected() : new Unavailable(error)
    },
  )
  const isAllowed = result.policyDocument.Statement.every((statement) => statement.Effect === 'Allow')
  if (!isAllowed) throw rejected()
  return { principalId: result.principalId, ...result.context }
}

/**
 * API Gateway caches an authorizer's policy for a minute. A quarter of a second lets a revoked token stop working at
 * once for the person who revokes it, and still saves most of the reads for a busy client.
 */
const TTL_MS = 250
const MAX_TOKENS = 1_000

/**
 * Caches policies by token, not beyond its end. Concurrent requests with a token call the authorizer once. Errors are
 * not cached.
 */
export function cacheAuthorizer(authorizer: Authorizer, now = () => performance.now()): Authorizer {
  const cache = new LRUCache<string, APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent>({
    max: MAX_TOKENS,
    ttl: TTL_MS,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: async (_token, _stale, { context, options }) => {
      const result = await authorizer(context)
      const { expiresAt } = result.context ?? {}
      if (expiresAt) options.ttl = Math.max(Math.min(TTL_MS, Number(expiresAt) * 1_000 - Date.now()), 1)
      return result
    },
  })
  return (event) => cache.forceFetch(event.authorizationToken, { context: event })
}
