import { HEADERS, responseHeaders } from '../../../lib/contract/response-headers.ts'
import { apiRoutes, type OperationName } from '../../../lib/contract/routes.ts'

const routes = apiRoutes.map(({ method, path, operation }) => ({
  method,
  operation,
  pattern: new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}))

/** The operation of the API that a URL belongs to. */
export function findOperation(method: string, url: string): OperationName | undefined {
  const path = url.replace(/^https?:\/\/[^/]+/, '').split('?', 1)[0] ?? ''
  return routes.find((each) => each.method === method && each.pattern.test(path))?.operation
}

/** @throws an Error if OpenAPI does not say that the operation can respond with one of these headers */
export function assertDocumented(method: string, url: string, { status, headers }: Response): void {
  const operation = findOperation(method, url)
  if (!operation) return
  const documented: string[] = responseHeaders(operation, status)
  const others = Object.keys(HEADERS).filter((name) => headers.has(name) && !documented.includes(name))
  if (others.length > 0)
    throw new Error(`OpenAPI does not say that ${operation} responds ${status} with ${others.join(', ')}.`)
}
