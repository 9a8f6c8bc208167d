import { describe, expect, it } from 'vitest'
import { isPublicPath, routes } from '../../../lib/api/routes.ts'
import { findResource, synthesize } from '../synthesize.ts'

type Limits = {
  ResourcePath: string
  HttpMethod: string
  ThrottlingRateLimit: number
  ThrottlingBurstLimit: number
}

/** Rate and burst by method and path; `* /*` for all that have none of their own. */
function limitsOf(context: Record<string, unknown>): Record<string, number[]> {
  const { MethodSettings } = findResource(synthesize(context), 'AWS::ApiGateway::Stage').Properties
  return Object.fromEntries(
    MethodSettings.map(({ ResourcePath, HttpMethod, ...limits }: Limits) => [
      `${HttpMethod} ${ResourcePath.replace(/^\/~1/, '/').replaceAll('~1', '/')}`,
      [limits.ThrottlingRateLimit, limits.ThrottlingBurstLimit],
    ]),
  )
}

const paths = [...new Set(routes.map(({ path }) => path))]
const publicPaths = paths.filter(isPublicPath)

describe('the stage', () => {
  it('limits each method, and all methods of public paths to less', () => {
    const { '* /*': all, ...others } = limitsOf({})
    expect(all).toEqual([1_000, 2_500])
    expect(publicPaths).toContain('/v1/healthcheck')
    expect(Object.keys(others).toSorted()).toEqual(
      publicPaths
        .flatMap((path) =>
          ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'].map((method) => `${method} ${path}`),
        )
        .toSorted(),
    )
    for (const limits of Object.values(others)) expect(limits).toEqual([100, 200])
  })

  it('limits preflight requests, which need no token, on every path', () => {
    const limits = limitsOf({ corsOrigins: 'https://app.example.com' })
    for (const path of paths) expect(limits[`OPTIONS ${path}`]).toEqual([100, 200])
    expect(limits['POST /v1/mcp']).toBeUndefined()
  })

  it('limits public methods to no more than the others', () => {
    const limits = limitsOf({ throttlingRate: 7, throttlingBurst: 9 })
    expect(limits['GET /v1/healthcheck']).toEqual([7, 9])
  })
})
