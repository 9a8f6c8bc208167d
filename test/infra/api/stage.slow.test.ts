import { Validator } from '@seriousme/openapi-schema-validator'
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { problemRecord } from '../../../lib/contract/records/records.ts'
import { isPublicPath, routes } from '../../../lib/contract/routes.ts'
import { ERRORS, type ErrorCode } from '../../../lib/core/errors.ts'
import { OPTION_SETS } from '../all-options.ts'
import { findResource, findResources, synthesize, withStack } from '../synthesize.ts'
import { integrationOf, readDefinition, readOperations } from './read-definition.ts'

const defaults = synthesize()
const every = synthesize(OPTION_SETS['every option'])
const other = synthesize(OPTION_SETS['other values'])

type Limits = {
  ResourcePath: string
  HttpMethod: string
  ThrottlingRateLimit: number
  ThrottlingBurstLimit: number
}

/** Rate and burst by method and path; `* /*` for all that have none of their own. */
function limitsOf(template: Template): Record<string, number[]> {
  const { MethodSettings } = findResource(template, 'AWS::ApiGateway::Stage').Properties
  return Object.fromEntries(
    MethodSettings.map(({ ResourcePath, HttpMethod, ...limits }: Limits) => [
      `${HttpMethod} ${ResourcePath.replace(/^\/~1/, '/').replaceAll('~1', '/')}`,
      [limits.ThrottlingRateLimit, limits.ThrottlingBurstLimit],
    ]),
  )
}

const paths = [...new Set(routes.map(({ path }) => path))]

describe('the stage', () => {
  it('limits each method, and all methods of public paths to less', () => {
    const { '* /*': all, ...others } = limitsOf(defaults)
    expect(all).toEqual([1_000, 2_500])
    expect(Object.keys(others).toSorted()).toEqual(
      paths
        .filter(isPublicPath)
        .flatMap((path) =>
          ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'].map((method) => `${method} ${path}`),
        )
        .toSorted(),
    )
    for (const limits of Object.values(others)) expect(limits).toEqual([100, 200])
  })

  it('limits preflight requests, which need no token, on every path, to no more than the others', () => {
    const limits = limitsOf(every)
    for (const path of paths) expect(limits[`OPTIONS ${path}`]).toEqual([10, 20])
    expect([limits['* /*'], limits['POST /v1/mcp']]).toEqual([[10, 20], undefined])
  })

  it('has the name of the settings', () => {
    expect(findResource(every, 'AWS::ApiGateway::Stage').Properties.StageName).toBe('v1')
  })
})

describe('the custom domain', () => {
  const baseUrlOf = (template: Template) => template.findOutputs('BaseUrl').BaseUrl?.Value
  const isDisabled = (template: Template) =>
    findResource(template, 'AWS::ApiGateway::RestApi').Properties.DisableExecuteApiEndpoint

  it('is regional, with the certificate, and its target is an output', () => {
    expect(findResource(every, 'AWS::ApiGateway::DomainName').Properties).toMatchObject({
      DomainName: 'agents.example.com',
      EndpointConfiguration: { Types: ['REGIONAL'] },
      RegionalCertificateArn: expect.stringContaining(':certificate/'),
      SecurityPolicy: 'TLS_1_2',
    })
    expect(Object.keys(every.findOutputs('DomainTarget'))).toHaveLength(1)
    expect(defaults.findOutputs('DomainTarget')).toEqual({})
  })

  it('maps a path of one segment, and of several segments, to the stage', () => {
    const { BasePath } = findResource(other, 'AWS::ApiGateway::BasePathMapping').Properties
    expect([BasePath, baseUrlOf(other)]).toEqual(['v1', 'https://agents.example.com/v1'])
    every.resourceCountIs('AWS::ApiGateway::BasePathMapping', 0)
    expect(findResource(every, 'AWS::ApiGatewayV2::ApiMapping').Properties).toMatchObject({
      ApiMappingKey: 'agents/v1',
      DomainName: { Ref: expect.stringMatching(/^Domain/) },
      Stage: { Ref: expect.stringContaining('Stage') },
    })
    expect(baseUrlOf(every)).toBe('https://agents.example.com/agents/v1')
  })

  it('disables the default endpoint unless disableExecuteApiEndpoint is false, by a new deployment', () => {
    const { domainName, certificateArn } = OPTION_SETS['every option']
    const domain = synthesize({ domainName, certificateArn })
    const open = synthesize({ domainName, certificateArn, disableExecuteApiEndpoint: 'false' })
    expect([defaults, domain, open, every].map(isDisabled)).toEqual([false, true, false, true])
    expect(baseUrlOf(domain)).toBe('https://agents.example.com')
    const [deployment, another] = [domain, open].map((of) =>
      Object.keys(findResources(of, 'AWS::ApiGateway::Deployment')),
    )
    expect(deployment).not.toEqual(another)
  })
})

/** The document with a text in place of each value that is known only during deployment. */
const resolve = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, part) =>
    part?.['Fn::Join']
      ? part['Fn::Join'][1].map((each: unknown) => (typeof each === 'string' ? each : 'X')).join('')
      : part,
  )

describe('the document that defines the API', () => {
  it('is valid OpenAPI 3.0', async () => {
    const validator = new Validator()
    const document = resolve(readDefinition(every)) as Record<string, unknown>
    const { valid, errors } = await validator.validate(document)
    expect(errors).toBeUndefined()
    expect([valid, validator.version]).toEqual([true, '3.0'])
  })

  it('declares the parameters of the path with every operation', () => {
    for (const [name, { parameters = [] }] of readOperations(every)) {
      const expected = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
      const declared = parameters.map((parameter) => parameter.name)
      expect(declared, name).toEqual(expected)
    }
  })

  it('contains only texts and joined texts: no value that CloudFormation or Velocity would replace', () => {
    const text = JSON.stringify(resolve(readDefinition(every)))
    expect(text).not.toMatch(/"(?:Fn::|Ref)|\$\{/)
  })

  it('is deployed anew when it changes, and only then', () => {
    const deploymentOf = (template: Template) =>
      Object.keys(findResources(template, 'AWS::ApiGateway::Deployment'))
    expect(deploymentOf(synthesize({ throttlingRate: 7 }))).toEqual(deploymentOf(defaults))
    expect(deploymentOf(other)).not.toEqual(deploymentOf(every))
  })

  it('is deployed when its functions may be invoked', () => {
    const { DependsOn } = findResource(every, 'AWS::ApiGateway::Deployment')
    const permissions = Object.entries(findResources(every, 'AWS::Lambda::Permission'))
      .filter(([, { Properties }]) => Properties.Principal === 'apigateway.amazonaws.com')
      .map(([id]) => id)
    expect(permissions.length).toBeGreaterThan(20)
    expect(DependsOn).toEqual(expect.arrayContaining(permissions))
  })
})

describe('the response to a preflight request', () => {
  const preflightOf = (template: Template) =>
    integrationOf(readOperations(template).get('OPTIONS /v1/agents')).responses.default

  it('allows all origins', () => {
    const { responseParameters, responseTemplates } = preflightOf(other)
    expect(responseParameters['method.response.header.Access-Control-Allow-Origin']).toBe("'*'")
    expect(responseTemplates).toBeUndefined()
  })

  it('replaces the first origin by any other one that the request has', () => {
    const { responseParameters, responseTemplates } = preflightOf(every)
    expect(responseParameters).toMatchObject({
      'method.response.header.Access-Control-Allow-Origin': "'https://app.example.com'",
      'method.response.header.Vary': "'Origin'",
    })
    expect(responseTemplates['application/json']).toContain('#if($origin == "https://b.example.com")')
  })
})

const responses = readDefinition(defaults)['x-amazon-apigateway-gateway-responses']

const CODES: [string, ErrorCode][] = [
  ['UNAUTHORIZED', 'Unauthorized'],
  ['ACCESS_DENIED', 'Unauthorized'],
  ['MISSING_AUTHENTICATION_TOKEN', 'RouteNotFound'],
  ['INVALID_SIGNATURE', 'RouteNotFound'],
  ['EXPIRED_TOKEN', 'RouteNotFound'],
  ['RESOURCE_NOT_FOUND', 'RouteNotFound'],
  ['REQUEST_TOO_LARGE', 'PayloadTooLarge'],
  ['UNSUPPORTED_MEDIA_TYPE', 'UnsupportedMediaType'],
  ['WAF_FILTERED', 'Forbidden'],
  ['THROTTLED', 'TooManyRequests'],
  ['QUOTA_EXCEEDED', 'TooManyRequests'],
  ['AUTHORIZER_FAILURE', 'Unavailable'],
  ['AUTHORIZER_CONFIGURATION_ERROR', 'Unavailable'],
  ['INTEGRATION_FAILURE', 'Unavailable'],
  ['INTEGRATION_TIMEOUT', 'Unavailable'],
  ['DEFAULT_4XX', 'BadRequest'],
  ['DEFAULT_5XX', 'InternalError'],
]

const CHALLENGE =
  'Bearer error="invalid_token", error_description="The token is missing, unknown, expired or revoked."'

/** Replaces the variables of a template as API Gateway does, without escaping. */
const renderTemplate = (template: string) =>
  template.replace(/\$context\.[\w.]+/g, (variable) => {
    if (variable !== '$context.requestId')
      throw new Error(`${variable} can contain characters that break the JSON.`)
    return 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef'
  })

describe('the gateway responses', () => {
  it('are exactly these', () => {
    expect(Object.keys(responses).sort()).toEqual(CODES.map(([type]) => type).sort())
  })

  it.each(CODES)('%s returns problem details with the code %s', (type, code) => {
    const { responseTemplates, responseParameters, statusCode } = responses[type] ?? {}
    expect(Object.keys(responseTemplates)).toEqual(['application/json'])
    const problem = problemRecord.parse(JSON.parse(renderTemplate(responseTemplates['application/json'])))
    expect(problem).toEqual({
      type: `urn:agent-execution-service:problem:${code}`,
      title: ERRORS[code].title,
      status: ERRORS[code].status,
      detail: expect.stringMatching(/^[A-Z].*\.$/),
      instance: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      code,
    })
    expect(statusCode).toBe(type === 'DEFAULT_4XX' ? undefined : String(problem.status))
    expect(responseParameters).toMatchObject({
      'gatewayresponse.header.Content-Type': "'application/problem+json'",
      'gatewayresponse.header.Cache-Control': "'no-store'",
      ...(code === 'Unauthorized' && { 'gatewayresponse.header.WWW-Authenticate': `'${CHALLENGE}'` }),
      ...([429, 503].includes(ERRORS[code].status) && {
        'gatewayresponse.header.Retry-After': expect.stringMatching(/^'\d+'$/),
      }),
    })
  })
})

describe('with an identity provider', () => {
  const options = OPTION_SETS['other values']
  const METADATA = '/.well-known/oauth-protected-resource/v1/mcp'
  const responsesOf = (context: Record<string, unknown>) =>
    readDefinition(synthesize(context))['x-amazon-apigateway-gateway-responses']
  const scopes = ', scope="agents:run agents:read"'

  it.each([
    ['publicUrl', OPTION_SETS['every option'], ', scope="openid"', 'https://agents.example.com/agents/v1'],
    ['the custom domain, with the scopes of claims', options, scopes, 'https://agents.example.com/v1'],
    [
      'publicUrl, whose quotes do not end the value',
      { ...options, publicUrl: 'https://api.example.com/a\'"b' },
      scopes,
      'https://api.example.com/a%27%22b',
    ],
  ])('a 401 names the metadata of the MCP endpoint below %s', (_, context, scope, base) => {
    const generated = responsesOf(context)
    for (const type of ['UNAUTHORIZED', 'ACCESS_DENIED']) {
      const { responseParameters, responseTemplates } = generated[type] ?? {}
      expect(responseParameters['gatewayresponse.header.WWW-Authenticate']).toBe(
        `'${CHALLENGE}${scope}, resource_metadata="${base}${METADATA}"'`,
      )
      expect(responseTemplates['application/json']).toContain(`an access token of ${options.oidcIssuer}`)
      // Pages of allowed origins can read it.
      expect(responseParameters['gatewayresponse.header.Access-Control-Expose-Headers']).toBe(
        "'Retry-After, WWW-Authenticate'",
      )
    }
    expect(generated.THROTTLED?.responseParameters).not.toHaveProperty([
      'gatewayresponse.header.WWW-Authenticate',
    ])
  })

  it('a 401 names none if the URL of the service is not known, and synthesis warns of it', () => {
    const { oidcIssuer, oidcAudience, oidcMapping } = options
    withStack({ oidcIssuer, oidcAudience, oidcMapping }, (stack) => {
      Annotations.fromStack(stack).hasWarning('*', Match.stringLikeRegexp('Set publicUrl'))
      const definition = readDefinition(Template.fromStack(stack))
      const { UNAUTHORIZED } = definition['x-amazon-apigateway-gateway-responses']
      expect(UNAUTHORIZED?.responseParameters['gatewayresponse.header.WWW-Authenticate']).toBe(
        `'${CHALLENGE}${scopes}'`,
      )
    })
  })
})
