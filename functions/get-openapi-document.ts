import { METADATA_PATH, readProvider, toResourceMetadata } from '../lib/access/protected-resource.ts'
import { RouteNotFound } from '../lib/core/request-errors.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { getBaseUrl } from '../lib/http/event.ts'

let document: object | undefined

/** The server URL has no host, so that the document is correct on every stage and domain. */
async function getOpenApiDocument({ basePath }: Request<'get-openapi-document'>) {
  const { openApiDocument } = await import('../lib/contract/openapi.ts')
  document ??= openApiDocument()
  return { status: 200, body: { ...document, servers: [{ url: basePath || '/' }] } }
}

async function getResourceMetadata({ event }: Pick<Request, 'event'>) {
  const provider = readProvider()
  if (!provider) throw new RouteNotFound()
  const path = event.resource.slice(METADATA_PATH.length)
  return { status: 200, body: toResourceMetadata(provider, getBaseUrl(event), path) }
}

export const handler = family({
  'get-openapi-document': endpoint('get-openapi-document', getOpenApiDocument),
  'get-resource-metadata': endpoint('get-resource-metadata', getResourceMetadata),
  'get-mcp-resource-metadata': endpoint('get-mcp-resource-metadata', getResourceMetadata),
})
