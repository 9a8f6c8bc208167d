import { describe, expect, it } from 'vitest'
import { newToken } from '../../../lib/access/tokens.ts'
import { problemRecord } from '../../../lib/contract/records/records.ts'
import {
  functionOf,
  getOperation,
  isPublicPath,
  methodsOf,
  type OperationName,
  operationNames,
  operations,
  routes,
} from '../../../lib/contract/routes.ts'
import { system } from '../../../lib/system.ts'
import { OPTION_SETS } from '../all-options.ts'
import { findResource, findResources, synthesize, toLogicalIdPrefix } from '../synthesize.ts'
import { type ApiOperation, integrationOf, readDefinition, readOperations } from './read-definition.ts'

const template = synthesize()
const every = synthesize(OPTION_SETS['every option'])
const other = synthesize(OPTION_SETS['other values'])
const methods = readOperations(template)

const endpointFunctions = [...new Set(operationNames.map(functionOf))]
const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const)

describe('the API', () => {
  const heads = routes.filter(({ method }) => method === 'GET').map((route) => ({ ...route, method: 'HEAD' }))
  const paths = [...new Set(routes.map(({ path }) => path))]

  it('has exactly the routes of routes.ts, HEAD for each GET, and ANY for each path', () => {
    const expected = [
      ...[...routes, ...heads].map(({ method, path }) => `${method} ${path}`),
      ...paths.map((path) => `ANY ${path}`),
    ]
    expect([...methods.keys()].sort()).toEqual(expected.sort())
  })

  it.each(heads.map(({ path }) => path))('routes HEAD %s like GET', (path) => {
    const [head, get] = ['HEAD', 'GET'].map((method) => methods.get(`${method} ${path}`))
    expect(head).toEqual(get)
  })

  it.each(paths)('responds to other methods of %s with 405 and the supported methods', (path) => {
    const operation = methods.get(`ANY ${path}`)
    const integration = integrationOf(operation)
    expect(operation?.security).toEqual(isPublicPath(path) ? undefined : [{ token: [] }])
    expect(integration).toMatchObject({ type: 'mock', passthroughBehavior: 'never' })
    for (const template of Object.values(integration.requestTemplates))
      expect(JSON.parse(String(template))).toEqual({ statusCode: 405 })
    const { statusCode, responseParameters, responseTemplates } = integration.responses.default
    expect(statusCode).toBe('405')
    expect(responseParameters['method.response.header.Allow']).toBe(`'${methodsOf(path).join(', ')}'`)
    expect(responseParameters['method.response.header.Content-Type']).toBe("'application/problem+json'")
    const declared = Object.keys(operation?.responses[405]?.headers ?? {})
    expect(declared.map((name) => `method.response.header.${name}`)).toEqual(Object.keys(responseParameters))
    const problem = JSON.parse(responseTemplates['application/json'])
    expect(problemRecord.parse(problem)).toMatchObject({ code: 'MethodNotAllowed', status: 405 })
    expect(problem.instance).toBe('$context.requestId')
  })

  it.each(named)('routes %s to its function, and requires a token unless it is public', (name, route) => {
    const { type, httpMethod, uri } = integrationOf(methods.get(name))
    expect([type, httpMethod]).toEqual(['aws_proxy', 'POST'])
    expect(JSON.stringify(uri)).toContain(`"${toLogicalIdPrefix(functionOf(route.operation))}Function`)
    const isPublic = getOperation(route.operation).public
    expect(methods.get(name)?.security).toEqual(isPublic ? undefined : [{ token: [] }])
  })

  it('has only the public paths of the health check, documents of the service, callbacks and the console', () => {
    const open = [...methods].filter(([, { security = [] }]) => security.length === 0)
    const metadata = '/.well-known/oauth-protected-resource'
    const pages = ['/', '/console', '/console/{file}']
    const paths = [...pages, metadata, `${metadata}/v1/mcp`, '/v1/healthcheck', '/v1/openapi.json']
    const reads = paths.flatMap((path) => [`ANY ${path}`, `GET ${path}`, `HEAD ${path}`])
    const callback = '/v1/callbacks/{executionId}/{name}/{mac}'
    const names = [...reads, `ANY ${callback}`, `POST ${callback}`]
    expect(open.map(([name]) => name).sort()).toEqual(names.sort())
  })

  it('caches the result of the authorizer for 60 seconds per token', () => {
    const { token } = readDefinition(template).components.securitySchemes
    expect(token).toMatchObject({ type: 'apiKey', in: 'header', 'x-amazon-apigateway-authtype': 'custom' })
    const authorizer = token['x-amazon-apigateway-authorizer']
    expect(authorizer).toMatchObject({
      type: 'token',
      identitySource: 'method.request.header.Authorization',
      authorizerResultTtlInSeconds: 60,
    })
    expect(JSON.stringify(authorizer.authorizerUri)).toContain('"AuthorizeRequestFunction')
  })

  it('may invoke the function of each endpoint by its stage, the authorizer by authorizers, and no other', () => {
    const permissions = Object.values(findResources(template, 'AWS::Lambda::Permission'))
    for (const { Properties } of permissions) expect(Properties.SourceArn).toBeDefined()
    const sources = permissions
      .filter(({ Properties }) => Properties.Principal === 'apigateway.amazonaws.com')
      .map(({ Properties }) => [
        Properties.FunctionName.Ref.replace(/Function.*/, ''),
        Properties.SourceArn['Fn::Join'][1].at(-1),
      ])
    const endpoints = endpointFunctions.map((name) => [toLogicalIdPrefix(name), '/live/*/*'])
    expect(sources.sort()).toEqual([['AuthorizeRequest', '/authorizers/*'], ...endpoints].sort())
  })

  it('is regional, throttled and traced', () => {
    expect(findResource(template, 'AWS::ApiGateway::RestApi').Properties.EndpointConfiguration).toEqual({
      Types: ['REGIONAL'],
    })
    const { MethodSettings, TracingEnabled } = findResource(template, 'AWS::ApiGateway::Stage').Properties
    expect(TracingEnabled).toBe(true)
    // `stage.slow.test.ts` has the limits of methods.
    expect(MethodSettings).toContainEqual({
      HttpMethod: '*',
      ResourcePath: '/*',
      DataTraceEnabled: false,
      ThrottlingRateLimit: expect.any(Number),
      ThrottlingBurstLimit: expect.any(Number),
    })
  })

  it('logs requests as JSON, without headers and query strings', () => {
    const { AccessLogSetting } = findResource(template, 'AWS::ApiGateway::Stage').Properties
    const line: Record<string, string> = JSON.parse(AccessLogSetting.Format)
    expect(line).toMatchObject({ requestId: '$context.requestId', status: '$context.status' })
    for (const value of Object.values(line)) {
      expect(value).toMatch(/^\$context\.[\w.]+$/)
      expect(value).not.toMatch(/header|query|params|authorizer\.principal|requestOverride|body/i)
    }
  })

  it('outputs the base URL without a trailing slash', () => {
    const { BaseUrl } = template.findOutputs('BaseUrl')
    expect(BaseUrl?.Value['Fn::Join'][1].at(-1)).toEqual({ Ref: expect.stringContaining('Stage') })
  })
})

/** The functions, in Pascal case, that have a variable. */
const functionsWith = (of: typeof template, variable: string, value = /^/) =>
  Object.entries(findResources(of, 'AWS::Lambda::Function'))
    .map(([id, { Properties }]) => [id, Properties.Environment.Variables[variable]])
    .filter(([, text]) => text !== undefined && value.test(text))
    .map(([id]) => id.replace(/Function.*/, ''))
    .sort()

const streamed = Object.entries(operations).filter(([, operation]) => 'streams' in operation)

describe('response streaming', () => {
  const findIntegrations = (of: Map<string, ApiOperation>, name: string) =>
    routes
      .filter((route) => route.operation === name)
      .map((route) => integrationOf(of.get(`${route.method} ${route.path}`)))

  it.each(Object.keys(operations))('is on for %s if its operation streams', (name) => {
    const isStreamed = streamed.some(([other]) => other === name)
    for (const integration of findIntegrations(methods, name)) {
      expect(integration.responseTransferMode).toBe(isStreamed ? 'STREAM' : undefined)
      expect(JSON.stringify(integration.uri)).toContain(
        isStreamed ? '/response-streaming-invocations' : '/invocations',
      )
    }
  })

  it('sets the integration timeout of a run to 15 minutes, the function timeout', () => {
    for (const integration of findIntegrations(methods, 'run-agent'))
      expect(integration.timeoutInMillis).toBe(900_000)
  })

  it('is passed to exactly the functions whose integration streams', () => {
    const names = new Set(streamed.map(([name]) => toLogicalIdPrefix(functionOf(name as OperationName))))
    expect(functionsWith(template, 'RESPONSE_STREAMING', /^on$/)).toEqual([...names].sort())
  })

  it('is off everywhere with responseStreaming=false, where API Gateway compresses responses', () => {
    for (const operation of readOperations(other).values()) {
      const { responseTransferMode, timeoutInMillis } = integrationOf(operation)
      expect([responseTransferMode, timeoutInMillis]).toEqual([undefined, undefined])
    }
    expect(functionsWith(other, 'RESPONSE_STREAMING', /^on$/)).toEqual([])
    const sizeIn = (of: typeof template) =>
      findResource(of, 'AWS::ApiGateway::RestApi').Properties.MinimumCompressionSize
    expect([template, other].map(sizeIn)).toEqual([undefined, 2048])
  })
})

describe('corsOrigins', () => {
  const findGatewayOrigins = (of: typeof template) => [
    ...new Set(
      Object.values(readDefinition(of)['x-amazon-apigateway-gateway-responses']).map(
        ({ responseParameters }) => responseParameters['gatewayresponse.header.Access-Control-Allow-Origin'],
      ),
    ),
  ]

  it('is off by default', () => {
    expect([...methods.keys()].filter((name) => name.startsWith('OPTIONS'))).toEqual([])
    expect(functionsWith(template, 'CORS_ORIGINS')).toEqual([])
    expect(findGatewayOrigins(template)).toEqual([undefined])
  })

  it('answers preflight requests of every path without a token, and is passed to the endpoints', () => {
    const preflights = [...readOperations(every)].filter(([name]) => name.startsWith('OPTIONS'))
    expect(preflights.map(([name]) => name.slice('OPTIONS '.length)).sort()).toEqual(
      [...new Set(routes.map(({ path }) => path))].sort(),
    )
    for (const [name, operation] of preflights) {
      const { type, responses } = integrationOf(operation)
      expect([operation.security, type]).toEqual([undefined, 'mock'])
      const { responseParameters } = responses.default
      const path = name.slice('OPTIONS '.length)
      expect(responseParameters).toMatchObject({
        'method.response.header.Access-Control-Allow-Methods': `'${methodsOf(path)}'`,
        'method.response.header.Access-Control-Allow-Headers':
          "'Authorization,Content-Type,Idempotency-Key,Last-Event-ID,Prefer,traceparent,MCP-Protocol-Version,Mcp-Method,Mcp-Name'",
      })
      const text = JSON.stringify(responses)
      for (const origin of OPTION_SETS['every option'].corsOrigins.split(', ')) expect(text).toContain(origin)
    }
    // With managed instances.
    const prefixes = endpointFunctions
      .map(toLogicalIdPrefix)
      .map((name) => name.replace(/^RunAgent$/, '$&Shared'))
    expect(functionsWith(every, 'CORS_ORIGINS')).toEqual(prefixes.sort())
    expect(findGatewayOrigins(every)).toEqual(["'*'"])
  })
})

/** The gateway passes only headers that match it to the authorizer. */
const patternOf = (of: typeof template) => {
  const { token } = readDefinition(of).components.securitySchemes
  return new RegExp(token['x-amazon-apigateway-authorizer'].identityValidationExpression)
}
const createToken = () =>
  newToken({ system, organizationId: '', name: '', createdBy: '', lifetimeMs: null }).text

describe('the tokens that reach the authorizer', () => {
  const pattern = patternOf(template)
  it('are those that newToken generates', () => {
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer  '])
      for (let i = 0; i < 100; i += 1) expect(`${scheme}${createToken()}`).toMatch(pattern)
  })

  it.each([
    '',
    'Bearer ',
    createToken(),
    `Basic ${createToken()}`,
    `Bearer ${createToken().slice(0, -1)}`,
    `Bearer ${createToken()}x`,
    `Bearer ${createToken()}\n`,
    `Bearer ${createToken().replace('aes_', 'sk-')}`,
    `x Bearer ${createToken()}`,
    'Bearer eyJhbGciOiJIUzI1NiJ9.e30.ZRrHA1JJJW8opsbCGfG_HACGpVUMN_a9IV7pAx_Zmeo',
  ])('do not include %j', (header) => {
    expect(header).not.toMatch(pattern)
  })
})

describe('with an identity provider', () => {
  const pattern = patternOf(every)
  const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl-_'
  const apiToken = createToken()

  it('JSON Web Tokens reach the authorizer too, also large ones', () => {
    const large = `eyJ${'a'.repeat(4_000)}.${'b'.repeat(4_000)}.${'c'.repeat(180)}`
    for (const token of [jwt, large, apiToken])
      for (const scheme of ['Bearer ', 'bearer  ']) expect(`${scheme}${token}`).toMatch(pattern)
  })

  it.each([
    jwt,
    `Basic ${jwt}`,
    `Bearer ${jwt}.encrypted.x`,
    `Bearer ${jwt.slice(0, jwt.lastIndexOf('.'))}`,
    'Bearer eyJh..x',
    `Bearer ${jwt} ${jwt}`,
    `Bearer ${apiToken}|${jwt}`,
    `Bearer ${jwt}\n`,
    `x\nBearer ${jwt}`,
    '',
  ])('%j does not', (header) => {
    expect(header).not.toMatch(pattern)
  })
})
