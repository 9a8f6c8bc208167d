import { describe, expect, it } from 'vitest'
import { isPublicPath, routes } from '../../../lib/contract/routes.ts'
import { OPTION_SETS } from '../all-options.ts'
import { findResource, findResources, synthesize } from '../synthesize.ts'

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
function limitsOf(template: typeof defaults): Record<string, number[]> {
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
  const baseUrlOf = (template: typeof defaults) => template.findOutputs('BaseUrl').BaseUrl?.Value
  const isDisabled = (template: typeof defaults) =>
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
