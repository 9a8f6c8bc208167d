import { type Route, routes } from '../lib/api/routes.ts'

export type Match = { route: Route; path: string; search: string; parameters: Record<string, string> }

const table = routes.map((route) => ({ route, segments: route.path.split('/') }))

/** The route of a request line. One slash at the end makes no difference, as in API Gateway. */
export function matchRoute(method: string, url: string): Match | null {
  const target = url.replace(/^https?:\/\/[^/?]*/i, '')
  const [path = '', ...rest] = target.split('?')
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
      parameters[expected.slice(1, -1)] = decoded(segment)
    }
  }
  return parameters
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
