import type { JsonObject } from '../../core/json.ts'
import type { HttpDocument } from '../tool-document.ts'
import { appendQuery, fillPath, placeholdersOf } from './url-template.ts'

const QUERY_METHODS = ['GET', 'HEAD', 'DELETE']

/**
 * Where each input goes: to its place in the path; else to the query or body that lists it; else to the query for
 * GET, HEAD and DELETE, and to the body, an object in JSON, for the other methods. Without inputs for it there is no body.
 * @throws ToolError
 */
export function httpRequest(http: HttpDocument, input: JsonObject): { url: URL; body: string | null } {
  const inPath = new Set(placeholdersOf(http.url))
  const url = fillPath(http.url, input)
  const rest = Object.entries(input).filter(([name]) => !inPath.has(name))
  const isQuery = ([name]: [string, unknown]) =>
    http.query.includes(name) || (!http.body.includes(name) && QUERY_METHODS.includes(http.method))
  appendQuery(url, Object.fromEntries(rest.filter(isQuery)))
  const body = rest.filter((entry) => !isQuery(entry))
  return { url, body: body.length > 0 ? JSON.stringify(Object.fromEntries(body)) : null }
}
