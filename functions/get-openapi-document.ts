import { endpoint, type Request } from '../lib/http/endpoint.ts'
import document from '../openapi.json' with { type: 'json' }

/** The server URL has no host, so that the document is correct on every stage and domain. */
async function getOpenApiDocument({ basePath }: Request<'get-openapi-document'>) {
  return { status: 200, body: { ...document, servers: [{ url: basePath || '/' }] } }
}

export const handler = endpoint('get-openapi-document', getOpenApiDocument)
