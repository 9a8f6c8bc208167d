import { describe, expect, it } from 'vitest'
import { findResource, findResources, synthesize } from '../synthesize.ts'

const DOMAIN = {
  domainName: 'agents.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0e1f-2a',
}

/** The endpoint does not affect the base path: one template less to create. */
const ONE_SEGMENT = { ...DOMAIN, domainBasePath: 'v1', disableExecuteApiEndpoint: 'true' }

describe('domainBasePath', () => {
  const findBaseUrl = (template: ReturnType<typeof synthesize>) =>
    template.findOutputs('BaseUrl').BaseUrl?.Value

  it('maps a path of one segment to the stage', () => {
    const template = synthesize(ONE_SEGMENT)
    const { BasePath } = findResource(template, 'AWS::ApiGateway::BasePathMapping').Properties
    expect([BasePath, findBaseUrl(template)]).toEqual(['v1', 'https://agents.example.com/v1'])
  })

  it('maps a path of several segments to the stage', () => {
    const template = synthesize({ ...DOMAIN, domainBasePath: 'agents/v1' })
    template.resourceCountIs('AWS::ApiGateway::BasePathMapping', 0)
    expect(findResource(template, 'AWS::ApiGatewayV2::ApiMapping').Properties).toMatchObject({
      ApiMappingKey: 'agents/v1',
      DomainName: { Ref: expect.stringMatching(/^Domain/) },
      Stage: { Ref: expect.stringContaining('Stage') },
    })
    expect(findBaseUrl(template)).toBe('https://agents.example.com/agents/v1')
  })

  it('is empty by default', () => {
    expect(findBaseUrl(synthesize(DOMAIN))).toBe('https://agents.example.com')
  })
})

describe('disableExecuteApiEndpoint', () => {
  it.each([
    ['off without a custom domain', {}, false],
    ['on with one', DOMAIN, true],
    ['off with one, if it is false', { ...DOMAIN, disableExecuteApiEndpoint: 'false' }, false],
    ['on with one, if it is true', ONE_SEGMENT, true],
  ])('is %s', (_, context, expected) => {
    const { DisableExecuteApiEndpoint } = findResource(
      synthesize(context),
      'AWS::ApiGateway::RestApi',
    ).Properties
    expect(DisableExecuteApiEndpoint).toBe(expected)
  })

  it('takes effect by a new deployment of the API', () => {
    const findDeployment = (context: object) =>
      Object.keys(findResources(synthesize({ ...DOMAIN, ...context }), 'AWS::ApiGateway::Deployment'))
    expect(findDeployment({})).not.toEqual(findDeployment({ disableExecuteApiEndpoint: false }))
  })
})
