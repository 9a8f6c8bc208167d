import { type Route, routes } from '../../lib/api/routes.ts'

/** A route, with the path and the query of the request that it matches. */
export type RouteMatch = { route: Route; path: string; search: string; parameters: Record<string, string> }

const table = routes.map((route) => ({ route, segments: route.path.split('/') }))

/** The route of a request with a valid percent-encoding. A trailing slash makes no difference, as in API Gateway. */
export function matchRoute(method: string, url: string): RouteMatch | null {
  const pathAndQuery = url.replace(/^https?:\/\/[^/?]*/i, '')
  const [path = '', ...rest] = pathAndQuery.split('?')
  const given = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  for (const { route, segments } of table) {
    if (route.method !== method || segments.length !== given.length) continue
    const parameters = matchSegments(segments, given)
    if (parameters) return { route, path, search: rest.join('?'), parameters }
  }
  return null
}

function matchSegments(pattern: string[], given: string[]): Record<string, string> | null {
  const parameters: Record<string, string> = {}
  for (const [index, expected] of pattern.entries()) {
    const segment = given[index] ?? ''
    if (!expected.startsWith('{')) {
      if (segment !== expected) return null
    } else {
      if (segment === '') return null
      parameters[expected.slice(1, -1)] = decodeURIComponent(segment)
    }
  }
  return parameters
}
