import { type Route, routes } from '../../lib/api/routes.ts'
import { invalidPathEncoding, invalidQueryEncoding } from '../../lib/http/parameters.ts'

/**
 * Checks the percent-encoding of a URL before it is decoded: decoding replaces invalid UTF-8 by U+FFFD, which makes
 * different values equal.
 * @throws ServiceError `BadRequest` for the path, `InvalidQueryParameter` for the query
 */
export function checkEncoding(url: string): void {
  const [path = '', ...rest] = url.split('?')
  if (!isEncoded(path)) throw invalidPathEncoding()
  const invalid = rest
    .join('?')
    .split('&')
    .filter((parameter) => !isEncoded(parameter))
  if (invalid.length > 0) throw invalidQueryEncoding(invalid.map(nameOf))
}

const nameOf = (parameter: string) => new URLSearchParams(parameter).keys().next().value ?? ''

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** A route, with the path and the query of the request that it matches. */
export type RouteMatch = { route: Route; path: string; search: string; parameters: Record<string, string> }

/** A path of the routes. `match` is null if it has no route with the method of the request. */
export type PathMatch = { pattern: string; match: RouteMatch | null }

const paths = [...new Set(routes.map(({ path }) => path))].map((pattern) => ({
  pattern,
  segments: pattern.split('/'),
}))

/** The path of a request with a valid percent-encoding. A trailing slash makes no difference, as in API Gateway. */
export function matchPath(method: string, url: string): PathMatch | null {
  const pathAndQuery = url.replace(/^https?:\/\/[^/?]*/i, '')
  const [path = '', ...rest] = pathAndQuery.split('?')
  const given = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  for (const { pattern, segments } of paths) {
    const parameters = segments.length === given.length ? matchSegments(segments, given) : null
    if (!parameters) continue
    const route = findRoute(method === 'HEAD' ? 'GET' : method, pattern)
    return { pattern, match: route && { route, path, search: rest.join('?'), parameters } }
  }
  return null
}

const findRoute = (method: string, pattern: string): Route | null =>
  routes.find((route) => route.method === method && route.path === pattern) ?? null

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
