import { describe, expect, it } from 'vitest'
import { getOperation, operations, routes } from '../../../lib/api/routes.ts'
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
  const all = Object.values(findResources(of, 'AWS::ApiGateway::Method'))
  return new Map(
    all.map((method) => [
      `${method.Properties.HttpMethod} ${pathOf(method.Properties.ResourceId.Ref)}`,
      method,
    ]),
  )
}

const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const)

describe('the API', () => {
  it('has exactly the routes of routes.ts', () => {
    expect([...methods.keys()].sort()).toEqual(named.map(([name]) => name).sort())
  })

  it.each(named)('routes %s to its function', (name, route) => {
    const { Integration } = methods.get(name)?.Properties ?? {}
    expect(Integration.Type).toBe('AWS_PROXY')
    expect(JSON.stringify(Integration.Uri)).toContain(`"${toLogicalIdPrefix(route.function)}Function`)
  })

  it.each(named)('requires a token on %s unless it is public', (name, route) => {
    const { AuthorizationType, AuthorizerId } = methods.get(name)?.Properties ?? {}
    const [authorizer] = Object.keys(findResources(template, 'AWS::ApiGateway::Authorizer'))
    expect([AuthorizationType, AuthorizerId]).toEqual(
      getOperation(route.function).public ? ['NONE', undefined] : ['CUSTOM', { Ref: authorizer }],
    )
  })

  it('has only one public route, the health check', () => {
    const open = [...methods].filter(([, { Properties }]) => Properties.AuthorizationType !== 'CUSTOM')
    expect(open.map(([name]) => name)).toEqual(['GET /v1/healthcheck'])
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
      /\/v1\//.test(JSON.stringify(Properties.SourceArn)),
    )
    expect(forRoutes).toHaveLength(routes.length)
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

const streamed = Object.entries(operations).filter(([, operation]) => 'streams' in operation)

describe('response streaming', () => {
  const findIntegrations = (of: Map<string, Resource>, name: string) =>
    routes
      .filter((route) => route.function === name)
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

  it('rejects a context value other than true and false', () => {
    expect(() => synthesize({ responseStreaming: 'of' })).toThrow(/responseStreaming: "of"/)
  })
})
