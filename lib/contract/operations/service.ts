import { MCP_PATH, METADATA_PATH } from '../../access/protected-resource.ts'
import { type Operation, reading } from './operation.ts'

/** 404 without an identity provider. */
const resourceMetadata = {
  family: 'get-openapi-document',
  method: 'GET',
  public: true,
  responses: { 200: { description: 'The metadata', body: 'ResourceMetadata' } },
  streams: true,
} as const

export const serviceOperations = {
  'check-health': {
    method: 'GET',
    path: '/v1/healthcheck',
    summary: 'Check the health of the service',
    public: true,
    ignoresQuery: true,
    responses: { 200: { description: 'The service is healthy', body: 'Health' } },
    errors: ['Unavailable'],
  },
  'get-openapi-document': {
    family: 'get-openapi-document',
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'Get the OpenAPI document of the service',
    public: true,
    responses: { 200: { description: 'The OpenAPI 3.1 document', body: 'OpenApiDocument' } },
    streams: true,
  },
  'get-resource-metadata': {
    ...resourceMetadata,
    path: METADATA_PATH,
    summary: 'Get the OAuth 2.0 metadata of the service (RFC 9728)',
    errors: ['RouteNotFound'],
  },
  'get-mcp-resource-metadata': {
    ...resourceMetadata,
    path: `${METADATA_PATH}${MCP_PATH}`,
    summary: 'Get the OAuth 2.0 metadata of the MCP endpoint (RFC 9728)',
    errors: ['RouteNotFound'],
  },
  'get-me': {
    ...reading,
    path: '/v1/me',
    summary: 'Get the organization and the limits of the token',
    responses: { 200: { description: 'The token', body: 'Me' } },
  },
  'serve-mcp': {
    method: 'POST',
    path: MCP_PATH,
    summary: 'Call agents as tools of the Model Context Protocol',
    scope: 'any',
    body: 'McpMessage',
    rawBody: true,
    responses: {
      200: {
        description: 'The response to a request, or an event stream that ends with it',
        body: 'McpMessage',
        events: true,
      },
      202: { description: 'The notification is accepted', body: null },
      400: { description: 'Invalid message', body: 'McpMessage' },
      404: { description: 'Unknown method', body: 'McpMessage' },
      406: { description: 'The client does not accept JSON and event streams', body: 'McpMessage' },
      413: { description: 'The message is too large', body: 'McpMessage' },
      415: { description: 'The message is not JSON', body: 'McpMessage' },
    },
    errors: ['Forbidden', 'PayloadTooLarge'],
    streams: true,
  },
} as const satisfies Record<string, Operation>
