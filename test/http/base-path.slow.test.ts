import { fileURLToPath } from 'node:url'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { publishAgent } from '../../lib/agents/lifecycle/publish-agent.ts'
import { loadFolder } from '../../lib/agents/load-folder.ts'
import { getOperation, type OperationName } from '../../lib/contract/routes.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { system } from '../../lib/system.ts'
import { localHandlers } from '../support/service/local-handlers.ts'

const organizationId = system.newId()
const handlers = localHandlers()

beforeAll(async () => {
  const folder = fileURLToPath(new URL('../../agents/wait', import.meta.url))
  const { agent } = await loadFolder(folder)
  if (!agent) throw new Error(`${folder} is invalid.`)
  await publishAgent({
    ...{ store: agentStore(openTable()), system, organizationId, createdBy: organizationId, draft: false },
    agent: { ...agent, document: { ...agent.document, slug: 'v1' } },
  })
})

type Call = { basePath: string; suffix?: string; body?: unknown }

/**
 * The event of API Gateway: on a custom domain, `requestContext.path` starts with the base path, at the default
 * endpoint with the stage.
 */
function createEvent(name: OperationName, { basePath, suffix = '', body }: Call) {
  const { method, path: resource } = getOperation(name)
  const path = `${basePath}${resource.replace('{agentId}', 'v1')}${suffix}`
  const requestContext = { requestId: 'r', path, resourcePath: resource, domainName: 'agents.example.com' }
  return {
    ...{ resource, path, httpMethod: method, pathParameters: { agentId: 'v1' }, isBase64Encoded: false },
    headers: { 'Content-Type': 'application/json', Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' },
    requestContext: { ...requestContext, authorizer: { organizationId } },
    body: body === undefined ? null : JSON.stringify(body),
  } as unknown as APIGatewayProxyEvent
}

const call = (name: OperationName, options: Call) =>
  handlers[name](createEvent(name, options), {}) as Promise<APIGatewayProxyResult>

describe.each(['', '/live', '/v1'])('the base path "%s"', (basePath) => {
  it.each(['', '/'])(
    'precedes the Location of an execution of the agent "v1" (path + "%s")',
    async (suffix) => {
      const { statusCode, headers } = await call('run-agent', { basePath, suffix, body: { seconds: 0 } })
      expect(statusCode).toBe(200)
      const id = headers?.['X-Execution-Id']
      expect(headers?.Location).toBe(`${basePath}/v1/agent_executions/${id}`)
    },
  )

  it('is the server of the OpenAPI document', async () => {
    const { body } = await call('get-openapi-document', { basePath })
    expect(JSON.parse(body).servers).toEqual([{ url: basePath || '/' }])
  })

  it('is in the metadata of protected resources, whose host is that of API Gateway', async () => {
    vi.stubEnv('OIDC_ISSUER', 'https://login.example.com')
    for (const [name, path] of [
      ['get-resource-metadata', ''],
      ['get-mcp-resource-metadata', '/v1/mcp'],
    ] as const)
      for (const suffix of ['', '/']) {
        const { statusCode, body } = await call(name, { basePath, suffix })
        expect(statusCode).toBe(200)
        expect(JSON.parse(body).resource).toBe(`https://agents.example.com${basePath}${path}`)
      }
    vi.stubEnv('PUBLIC_URL', 'https://public.example.com/x')
    const { body } = await call('get-mcp-resource-metadata', { basePath })
    expect(JSON.parse(body).resource).toBe('https://public.example.com/x/v1/mcp')
    vi.stubEnv('PUBLIC_URL', undefined)
    vi.stubEnv('OIDC_ISSUER', undefined)
  })
})
