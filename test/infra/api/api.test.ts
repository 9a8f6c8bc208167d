import { describe, expect, it } from 'vitest'
import {
  functionOf,
  getOperation,
  isPublicPath,
  methodsOf,
  operationNames,
  operations,
  routes,
} from '../../../lib/api/routes.ts'
import { problemRecord } from '../../../lib/api/schemas/records.ts'
import { findResource, findResources, type Resource, synthesize, toLogicalIdPrefix } from '../synthesize.ts'

const template = synthesize()
const methods = findMethods(template)

/** The methods by "METHOD /path". */
function findMethods(of: typeof template): Map<string, Resource> {
  const resources = findResources(of, 'AWS::ApiGateway::Resource')
  const pathOf = (id: string | undefined): string => {
    const resource = id === undefined ? undefined : resources[id]
    return resource ? `${pathOf(resource.Properties.ParentId.Ref)}/${resource.Properties.PathPart}` : ''
  }
  const toPath = (id: string | undefined) => pathOf(id) || '/'
  const all = Object.values(findResources(of, 'AWS::ApiGateway::Method'))
  return new Map(
    all.map((method) => [
      `${method.Properties.HttpMethod} ${toPath(method.Properties.ResourceId.Ref)}`,
      method,
    ]),
  )
}

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
    const [head, get] = ['HEAD', 'GET'].map((method) => methods.get(`${method} ${path}`)?.Properties)
    expect(head).toEqual({ ...get, HttpMethod: 'HEAD' })
  })

  it.each(paths)('responds to other methods of %s with 405 and the supported methods', (path) => {
    const { Integration, AuthorizationType, MethodResponses } = methods.get(`ANY ${path}`)?.Properties ?? {}
    expect(AuthorizationType).toBe(isPublicPath(path) ? 'NONE' : 'CUSTOM')
    expect(Integration).toMatchObject({ Type: 'MOCK', PassthroughBehavior: 'NEVER' })
    for (const template of Object.values(Integration.RequestTemplates))
      expect(JSON.parse(String(template))).toEqual({ statusCode: 405 })
    const [{ StatusCode, ResponseParameters, ResponseTemplates }] = Integration.IntegrationResponses
    expect(StatusCode).toBe('405')
    expect(ResponseParameters['method.response.header.Allow']).toBe(`'${methodsOf(path).join(', ')}'`)
    expect(ResponseParameters['method.response.header.Content-Type']).toBe("'application/problem+json'")
    expect(MethodResponses[0].StatusCode).toBe('405')
    expect(Object.keys(MethodResponses[0].ResponseParameters)).toEqual(Object.keys(ResponseParameters))
    const problem = JSON.parse(ResponseTemplates['application/json'])
    expect(problemRecord.parse(problem)).toMatchObject({ code: 'MethodNotAllowed', status: 405 })
    expect(problem.instance).toBe('$context.requestId')
  })

  it.each(named)('routes %s to its function', (name, route) => {
    const { Integration } = methods.get(name)?.Properties ?? {}
    expect(Integration.Type).toBe('AWS_PROXY')
    expect(JSON.stringify(Integration.Uri)).toContain(
      `"${toLogicalIdPrefix(functionOf(route.operation))}Function`,
    )
  })

  it.each(named)('requires a token on %s unless it is public', (name, route) => {
    const { AuthorizationType, AuthorizerId } = methods.get(name)?.Properties ?? {}
    const [authorizer] = Object.keys(findResources(template, 'AWS::ApiGateway::Authorizer'))
    expect([AuthorizationType, AuthorizerId]).toEqual(
      getOperation(route.operation).public ? ['NONE', undefined] : ['CUSTOM', { Ref: authorizer }],
    )
  })

  it('has only the public paths of the health check, the OpenAPI document and the console', () => {
    const open = [...methods].filter(([, { Properties }]) => Properties.AuthorizationType !== 'CUSTOM')
    const paths = ['/', '/console', '/console/{file}', '/v1/healthcheck', '/v1/openapi.json']
    const names = paths.flatMap((path) => [`ANY ${path}`, `GET ${path}`, `HEAD ${path}`])
    expect(open.map(([name]) => name).sort()).toEqual(names.sort())
  })

  it('caches the result of the authorizer for 60 seconds per token', () => {
    const { Properties } = findResource(template, 'AWS::ApiGateway::Authorizer')
    expect(Properties).toMatchObject({
      Type: 'TOKEN',
      IdentitySource: 'method.request.header.Authorization',
      AuthorizerResultTtlInSeconds: 60,
    })
    expect(JSON.stringify(Properties.AuthorizerUri)).toContain('"AuthorizeRequestFunction')
  })

  it('lets API Gateway invoke a function only for its routes', () => {
    const permissions = Object.values(findResources(template, 'AWS::Lambda::Permission'))
    for (const { Properties } of permissions) expect(Properties.SourceArn).toBeDefined()
    const forRoutes = permissions.filter(({ Properties }) =>
      /\/(?:GET|HEAD|POST|PUT|DELETE)\//.test(JSON.stringify(Properties.SourceArn)),
    )
    expect(forRoutes).toHaveLength(routes.length + heads.length)
  })

  it('is regional, throttled and traced', () => {
    expect(findResource(template, 'AWS::ApiGateway::RestApi').Properties.EndpointConfiguration).toEqual({
      Types: ['REGIONAL'],
    })
    const { MethodSettings, TracingEnabled } = findResource(template, 'AWS::ApiGateway::Stage').Properties
    expect(TracingEnabled).toBe(true)
    expect(MethodSettings).toEqual([
      {
        HttpMethod: '*',
        ResourcePath: '/*',
        DataTraceEnabled: false,
        ThrottlingRateLimit: expect.any(Number),
        ThrottlingBurstLimit: expect.any(Number),
      },
    ])
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

const endpointFunctions = [...new Set(operationNames.map(functionOf))]

const streamed = Object.entries(operations).filter(([, operation]) => 'streams' in operation)

describe('response streaming', () => {
  const findIntegrations = (of: Map<string, Resource>, name: string) =>
    routes
      .filter((route) => route.operation === name)
      .map((route) => of.get(`${route.method} ${route.path}`)?.Properties.Integration)

  const findStreamingFunctions = (of: typeof template) =>
    Object.entries(findResources(of, 'AWS::Lambda::Function'))
      .filter(([, { Properties }]) => Properties.Environment.Variables.RESPONSE_STREAMING === 'on')
      .map(([id]) => id.replace(/Function.*/, ''))
      .sort()

  it.each(Object.keys(operations))('is on for %s if its operation streams', (name) => {
    const isStreamed = streamed.some(([other]) => other === name)
    for (const integration of findIntegrations(methods, name)) {
      expect(integration.ResponseTransferMode).toBe(isStreamed ? 'STREAM' : undefined)
      expect(JSON.stringify(integration.Uri)).toContain(
        isStreamed ? '/response-streaming-invocations' : '/invocations',
      )
    }
  })

  it('sets the integration timeout of a run to 15 minutes, the function timeout', () => {
    for (const integration of findIntegrations(methods, 'run-agent'))
      expect(integration.TimeoutInMillis).toBe(900_000)
  })

  it('is passed to exactly the functions whose integration streams', () => {
    expect(findStreamingFunctions(template)).toEqual(streamed.map(([name]) => toLogicalIdPrefix(name)).sort())
  })

  it.each([false, 'false'])('is off everywhere with responseStreaming=%j', (responseStreaming) => {
    const buffered = synthesize({ responseStreaming })
    for (const { Properties } of findMethods(buffered).values()) {
      expect(Properties.Integration.ResponseTransferMode).toBeUndefined()
      expect(Properties.Integration.TimeoutInMillis).toBeUndefined()
    }
    expect(findStreamingFunctions(buffered)).toEqual([])
  })

  it('leaves the compression of responses to API Gateway where it is off', () => {
    const sizeIn = (of: typeof template) =>
      findResource(of, 'AWS::ApiGateway::RestApi').Properties.MinimumCompressionSize
    expect(sizeIn(template)).toBeUndefined()
    expect(sizeIn(synthesize({ responseStreaming: false }))).toBe(2048)
  })

  it('rejects a context value other than true and false', () => {
    expect(() => synthesize({ responseStreaming: 'of' })).toThrow(/responseStreaming: "of"/)
  })
})

const MANY_RESOURCES = {
  corsOrigins: 'https://app.example.com',
  monitoring: true,
  alarmSubscriptions: 'ops@example.com',
  webAcl: true,
}

describe('corsOrigins', () => {
  const findVariables = (of: typeof template) =>
    Object.entries(findResources(of, 'AWS::Lambda::Function'))
      .filter(([, { Properties }]) => Properties.Environment.Variables.CORS_ORIGINS !== undefined)
      .map(([id]) => id.replace(/Function.*/, ''))
  const findGatewayOrigins = (of: typeof template) => [
    ...new Set(
      Object.values(findResources(of, 'AWS::ApiGateway::GatewayResponse')).map(
        ({ Properties }) =>
          Properties.ResponseParameters['gatewayresponse.header.Access-Control-Allow-Origin'],
      ),
    ),
  ]

  it('is off by default', () => {
    expect([...methods.keys()].filter((name) => name.startsWith('OPTIONS'))).toEqual([])
    expect(findVariables(template)).toEqual([])
    expect(findGatewayOrigins(template)).toEqual([undefined])
  })

  it('answers preflight requests of every path without a token, and is passed to the endpoints', () => {
    const [first, second] = ['https://app.example.com', 'https://b.example.com']
    const open = synthesize({ corsOrigins: `${first}, ${second}` })
    const preflights = [...findMethods(open)].filter(([name]) => name.startsWith('OPTIONS'))
    expect(preflights.map(([name]) => name.slice('OPTIONS '.length)).sort()).toEqual(
      [...new Set(routes.map(({ path }) => path))].sort(),
    )
    for (const [name, { Properties }] of preflights) {
      expect([Properties.AuthorizationType, Properties.Integration.Type]).toEqual(['NONE', 'MOCK'])
      const [{ ResponseParameters }] = Properties.Integration.IntegrationResponses
      const path = name.slice('OPTIONS '.length)
      expect(ResponseParameters).toMatchObject({
        'method.response.header.Access-Control-Allow-Methods': `'${methodsOf(path)}'`,
        'method.response.header.Access-Control-Allow-Headers':
          "'Authorization,Content-Type,Idempotency-Key,Last-Event-ID,Prefer,MCP-Protocol-Version,Mcp-Method,Mcp-Name'",
      })
      const text = JSON.stringify(Properties.Integration)
      expect(text).toContain(first)
      expect(text).toContain(second)
    }
    expect(findVariables(open).sort()).toEqual(endpointFunctions.map(toLogicalIdPrefix).sort())
    expect(findGatewayOrigins(open)).toEqual(["'*'"])
    expect(findGatewayOrigins(synthesize(MANY_RESOURCES))).toEqual([`'${MANY_RESOURCES.corsOrigins}'`])
  })

  it('stays below the limit of 500 resources in a stack', () => {
    const { Resources } = synthesize(MANY_RESOURCES).toJSON()
    expect(Object.keys(Resources).length).toBeLessThan(500)
  })
})
