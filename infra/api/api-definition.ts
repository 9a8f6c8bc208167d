import { Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { toProtectedResource, toProvider } from '../../lib/access/protected-resource.ts'
import { JWT_HEADER_PATTERN, TOKEN_HEADER_PATTERN } from '../../lib/access/tokens.ts'
import {
  functionOf,
  getOperation,
  isPublicPath,
  methodsOf,
  type OperationName,
  routes,
} from '../../lib/contract/routes.ts'
import { parseCorsOrigins } from '../../lib/host-list.ts'
import { parsePublicUrl } from '../../lib/public-url.ts'
import { type FunctionName, getFunctionSettings } from '../functions/function-settings.ts'
import type { Functions } from '../functions/functions.ts'
import type { ServiceSettings } from '../settings.ts'
import { getDomainUrl } from './domain.ts'
import { gatewayResponses } from './gateway-responses.ts'
import { type MockOperation, methodNotAllowed, preflight } from './mock-operations.ts'

/** A revoked token is accepted until the cached result of the authorizer expires. */
const AUTHORIZER_CACHE_SECONDS = 60

/** The name of the security scheme, and of the authorizer that API Gateway creates from it. */
const TOKEN = 'token'

type IdentitySettings = Pick<
  ServiceSettings,
  'oidcIssuer' | 'oidcMapping' | 'publicUrl' | 'domainName' | 'domainBasePath'
>

type DefinitionProps = {
  functions: Functions
  settings: Pick<ServiceSettings, 'name' | 'corsOrigins' | 'responseStreaming' | keyof IdentitySettings>
}

/**
 * The OpenAPI document that API Gateway imports: an operation per row of `routes`, HEAD where there is GET, and 405 for
 * all other methods of a path. API Gateway matches paths with and without a trailing slash. Clients get another one, of
 * `lib/contract/openapi.ts`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions.html
 */
export function apiDefinition(scope: Construct, { functions, settings }: DefinitionProps) {
  const { name: title, corsOrigins, responseStreaming, oidcIssuer } = settings
  const origins = corsOrigins ? parseCorsOrigins(corsOrigins) : null
  const uriOf = invocationUris(scope, functions)
  const toProxy = (name: OperationName) => {
    const streams = responseStreaming && getOperation(name).streams === true
    return {
      type: 'aws_proxy',
      httpMethod: 'POST',
      uri: uriOf(functionOf(name), streams),
      ...(streams && {
        responseTransferMode: 'STREAM',
        // Streamed integrations can take up to 15 minutes, but API Gateway closes a stream that is idle for 5. The run
        // function responds before that (SYNC_DEADLINE_MS).
        // https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html
        timeoutInMillis: getFunctionSettings(functionOf(name)).timeoutSeconds * 1_000,
      }),
    }
  }

  function toPathItem(path: string) {
    const parameters = parametersOf(path)
    const withToken = (operation: MockOperation, isPublic: boolean) => ({
      ...(parameters.length > 0 && { parameters }),
      ...(!isPublic && { security: [{ [TOKEN]: [] }] }),
      ...operation,
    })
    const operations = routes
      .filter((route) => route.path === path)
      .flatMap(({ operation: name, method }) => {
        const proxy = {
          // API Gateway requires a response, and passes on those of the function.
          responses: { 200: { description: 'The response of the function' } },
          'x-amazon-apigateway-integration': toProxy(name),
        }
        const operation = withToken(proxy, getOperation(name).public === true)
        return (method === 'GET' ? ['get', 'head'] : [method.toLowerCase()]).map((key) => [key, operation])
      })
    const methods = methodsOf(path)
    return {
      ...Object.fromEntries(operations),
      ...(origins && { options: withToken(preflight(methods, origins), true) }),
      'x-amazon-apigateway-any-method': withToken(methodNotAllowed(methods), isPublicPath(path)),
    }
  }

  const paths = [...new Set(routes.map(({ path }) => path))]
  return {
    openapi: '3.0.1',
    info: { title, version: '1' },
    paths: Object.fromEntries(paths.map((path) => [path, toPathItem(path)])),
    components: {
      securitySchemes: {
        [TOKEN]: {
          type: 'apiKey',
          name: 'Authorization',
          in: 'header',
          'x-amazon-apigateway-authtype': 'custom',
          'x-amazon-apigateway-authorizer': {
            type: 'token',
            identitySource: 'method.request.header.Authorization',
            authorizerUri: uriOf('authorize-request', false),
            authorizerResultTtlInSeconds: AUTHORIZER_CACHE_SECONDS,
            // API Gateway rejects other tokens itself: with the gateway response UNAUTHORIZED, and without an
            // invocation.
            identityValidationExpression: oidcIssuer
              ? `${TOKEN_HEADER_PATTERN}|${JWT_HEADER_PATTERN}`
              : TOKEN_HEADER_PATTERN,
          },
        },
      },
    },
    'x-amazon-apigateway-gateway-responses': gatewayResponses(origins, mcpResource(settings)),
  }
}

/** The URL of the API itself is known only when it is created, which is too late for its definition. */
function mcpResource({ oidcIssuer, oidcMapping, publicUrl, domainName, domainBasePath }: IdentitySettings) {
  if (!oidcIssuer || !oidcMapping) return undefined
  const domainUrl = domainName ? getDomainUrl(domainName, domainBasePath) : undefined
  const baseUrl = publicUrl ? parsePublicUrl(publicUrl) : domainUrl
  return toProtectedResource(toProvider(oidcIssuer, oidcMapping), baseUrl, getOperation('serve-mcp'))
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/response-streaming-lambda-configure.html */
function invocationUris(scope: Construct, functions: Functions) {
  const { partition, region } = Stack.of(scope)
  const prefix = `arn:${partition}:apigateway:${region}:lambda:path`
  return (name: FunctionName, streams: boolean) => {
    const arn = functions[name].live.functionArn
    return streams
      ? `${prefix}/2021-11-15/functions/${arn}/response-streaming-invocations`
      : `${prefix}/2015-03-31/functions/${arn}/invocations`
  }
}

const parametersOf = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
