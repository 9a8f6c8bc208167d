import { describe, expect, it } from 'vitest'
import { operationOf, operations, routes } from '../../../lib/api/routes.ts'
import { onlyResource, prefixOf, type Resource, resourcesOf, synthesize } from '../synthesize.ts'

const template = synthesize()
const methods = methodsOf(template)

/** Methods by "METHOD /path", the path put together from the resources above it. */
function methodsOf(of: typeof template): Map<string, Resource> {
  const resources = resourcesOf(of, 'AWS::ApiGateway::Resource')
  const pathOf = (id: string | undefined): string => {
    const resource = id === undefined ? undefined : resources[id]
    return resource ? `${pathOf(resource.Properties.ParentId.Ref)}/${resource.Properties.PathPart}` : ''
  }
  const all = Object.values(resourcesOf(of, 'AWS::ApiGateway::Method'))
  return new Map(
    all.map((method) => [
      `${method.Properties.HttpMethod} ${pathOf(method.Properties.ResourceId.Ref)}`,
      method,
    ]),
  )
}

const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const)

describe('the API', () => {
  it('has the routes of routes.ts and no other', () => {
    expect([...methods.keys()].sort()).toEqual(named.map(([name]) => name).sort())
  })

  it.each(named)('sends %s to its function', (name, route) => {
    const { Integration } = methods.get(name)?.Properties ?? {}
    expect(Integration.Type).toBe('AWS_PROXY')
    expect(JSON.stringify(Integration.Uri)).toContain(`"${prefixOf(route.function)}Function`)
  })

  it.each(named)('asks for a token on %s unless it is open', (name, route) => {
    const { AuthorizationType, AuthorizerId } = methods.get(name)?.Properties ?? {}
    const [authorizer] = Object.keys(resourcesOf(template, 'AWS::ApiGateway::Authorizer'))
    expect([AuthorizationType, AuthorizerId]).toEqual(
      operationOf(route.function).public ? ['NONE', undefined] : ['CUSTOM', { Ref: authorizer }],
    )
  })

  it('leaves only the health check open', () => {
    const open = [...methods].filter(([, { Properties }]) => Properties.AuthorizationType !== 'CUSTOM')
    expect(open.map(([name]) => name)).toEqual(['GET /v1/healthcheck'])
  })

  it('caches what the authorizer said of a token for a minute', () => {
    const { Properties } = onlyResource(template, 'AWS::ApiGateway::Authorizer')
    expect(Properties).toMatchObject({
      Type: 'TOKEN',
      IdentitySource: 'method.request.header.Authorization',
      AuthorizerResultTtlInSeconds: 60,
    })
    expect(JSON.stringify(Properties.AuthorizerUri)).toContain('"AuthorizeRequestFunction')
  })

  it('lets API Gateway call a function for its own routes and for no other', () => {
    const permissions = Object.values(resourcesOf(template, 'AWS::Lambda::Permission'))
    for (const { Properties } of permissions) expect(Properties.SourceArn).toBeDefined()
    const forRoutes = permissions.filter(({ Properties }) =>
      /\/v1\//.test(JSON.stringify(Properties.SourceArn)),
    )
    expect(forRoutes).toHaveLength(routes.length)
  })

  it('is regional, throttled and traced', () => {
    expect(onlyResource(template, 'AWS::ApiGateway::RestApi').Properties.EndpointConfiguration).toEqual({
      Types: ['REGIONAL'],
    })
    const { MethodSettings, TracingEnabled } = onlyResource(template, 'AWS::ApiGateway::Stage').Properties
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

  it('logs a line of JSON a request, without headers and query', () => {
    const { AccessLogSetting } = onlyResource(template, 'AWS::ApiGateway::Stage').Properties
    const line: Record<string, string> = JSON.parse(AccessLogSetting.Format)
    expect(line).toMatchObject({ requestId: '$context.requestId', status: '$context.status' })
    for (const value of Object.values(line)) {
      expect(value).toMatch(/^\$context\.[\w.]+$/)
      expect(value).not.toMatch(/header|query|params|authorizer\.principal|requestOverride|body/i)
    }
  })

  it('gives its address without a slash at its end, as paths are appended to it', () => {
    const { BaseUrl } = template.findOutputs('BaseUrl')
    expect(BaseUrl?.Value['Fn::Join'][1].at(-1)).toEqual({ Ref: expect.stringContaining('Stage') })
  })
})

const streamed = Object.entries(operations).filter(([, operation]) => 'streams' in operation)

describe('response streaming', () => {
  const ofFunction = (of: Map<string, Resource>, name: string) =>
    routes
      .filter((route) => route.function === name)
      .map((route) => of.get(`${route.method} ${route.path}`)?.Properties.Integration)

  const variablesOf = (of: typeof template) =>
    Object.entries(resourcesOf(of, 'AWS::Lambda::Function'))
      .filter(([, { Properties }]) => Properties.Environment.Variables.RESPONSE_STREAMING === 'on')
      .map(([id]) => id.replace(/Function.*/, ''))
      .sort()

  it.each(Object.keys(operations))('is on for %s if routes.ts says so', (name) => {
    const isStreamed = streamed.some(([other]) => other === name)
    for (const integration of ofFunction(methods, name)) {
      expect(integration.ResponseTransferMode).toBe(isStreamed ? 'STREAM' : undefined)
      expect(JSON.stringify(integration.Uri)).toContain(
        isStreamed ? '/response-streaming-invocations' : '/invocations',
      )
    }
  })

  it('gives a run as long as its function has, 15 minutes', () => {
    for (const integration of ofFunction(methods, 'run-agent'))
      expect(integration.TimeoutInMillis).toBe(900_000)
  })

  it('tells exactly the functions whose integration streams', () => {
    expect(variablesOf(template)).toEqual(streamed.map(([name]) => prefixOf(name)).sort())
  })

  it.each([false, 'false'])('is off everywhere with the context value %j', (responseStreaming) => {
    const buffered = synthesize({ responseStreaming })
    for (const { Properties } of methodsOf(buffered).values()) {
      expect(Properties.Integration.ResponseTransferMode).toBeUndefined()
      expect(Properties.Integration.TimeoutInMillis).toBeUndefined()
    }
    expect(variablesOf(buffered)).toEqual([])
  })

  it('refuses a context value that is neither true nor false', () => {
    expect(() => synthesize({ responseStreaming: 'of' })).toThrow(/responseStreaming is "of"/)
  })
})
