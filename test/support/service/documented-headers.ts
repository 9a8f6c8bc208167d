import { HEADERS, responseHeaders } from '../../../lib/api/response-headers.ts'
import { apiRoutes } from '../../../lib/api/routes.ts'

const routes = apiRoutes.map(({ method, path, operation }) => ({
  method,
  operation,
  pattern: new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}))

/** @throws an Error if OpenAPI does not say that the operation can respond with one of these headers */
export function assertDocumented(method: string, url: string, { status, headers }: Response): void {
  const path = url.split('?', 1)[0] ?? ''
  const route = routes.find((each) => each.method === method && each.pattern.test(path))
  if (!route) return
  const documented: string[] = responseHeaders(route.operation, status)
  const others = Object.keys(HEADERS).filter((name) => headers.has(name) && !documented.includes(name))
  if (others.length > 0)
    throw new Error(
      `OpenAPI does not say that ${route.operation} responds ${status} with ${others.join(', ')}.`,
    )
}
