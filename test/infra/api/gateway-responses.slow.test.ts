import { Annotations, Match, Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { problemRecord } from '../../../lib/contract/records/records.ts'
import { ERRORS, type ErrorCode } from '../../../lib/core/errors.ts'
import { OPTION_SETS } from '../all-options.ts'
import { synthesize, withStack } from '../synthesize.ts'
import { readDefinition } from './read-definition.ts'

const responses = readDefinition(synthesize())['x-amazon-apigateway-gateway-responses']

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
  const every = OPTION_SETS['every option']
  const other = OPTION_SETS['other values']
  const METADATA = '/.well-known/oauth-protected-resource/v1/mcp'
  const responsesOf = (context: Record<string, unknown>) =>
    readDefinition(synthesize(context))['x-amazon-apigateway-gateway-responses']
  const scopes = ', scope="agents:run agents:read"'

  it.each([
    ['publicUrl', every, ', scope="openid"', 'https://agents.example.com/agents/v1'],
    ['the custom domain, with the scopes of claims', other, scopes, 'https://agents.example.com/v1'],
    [
      'publicUrl, whose quotes do not end the value',
      { ...other, publicUrl: 'https://api.example.com/a\'"b' },
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
      expect(responseTemplates['application/json']).toContain(`an access token of ${every.oidcIssuer}`)
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
    const { oidcIssuer, oidcAudience, oidcMapping } = other
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
