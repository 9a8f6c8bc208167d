import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getOperation, type OperationName, operationNames, routes } from '../../lib/contract/routes.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { pathParameters } from '../../lib/http/parameters.ts'
import { system } from '../../lib/system.ts'
import { matchPath, toProxyEvent } from '../../local/gateway/proxy-event.ts'
import { CAPTURED, capturedEvent } from '../fixtures/captured-events.ts'
import { localHandlers } from '../support/service/local-handlers.ts'

const handlers = localHandlers()

const authorizerOf = (organizationId: string) => ({
  organizationId,
  tokenId: system.newId(),
  scopes: 'run,read,manage,approve,review',
})

/** Calls the function of an operation with the event of API Gateway for a URL. */
async function call(
  name: OperationName,
  authorizer: Record<string, string>,
  segments: Record<string, string>,
  more: Partial<Parameters<typeof capturedEvent>[0]> = {},
) {
  const { method, path: resource } = getOperation(name)
  const path = resource.replace(/\{(\w+)\}/g, (_, parameter) => segments[parameter] ?? parameter)
  const event = capturedEvent({ method, resource, path, pathParameters: segments, authorizer, ...more })
  const { statusCode, body, headers } = (await handlers[name](event, {})) as APIGatewayProxyResult
  return { status: statusCode, json: JSON.parse(body || 'null'), headers }
}

/** What the gateway of `npm start` passes to a function for a request. */
function localEvent(method: string, url: string): ServiceEvent {
  const match = matchPath(method, url)?.match
  if (!match) throw new Error(`No route has ${method} ${url}.`)
  const request = { headers: {}, headersDistinct: {}, method, httpVersion: '1.1', socket: {} }
  return toProxyEvent({
    request: request as unknown as IncomingMessage,
    requestId: 'r',
    match,
    authorizerContext: {},
    body: Buffer.alloc(0),
    baseUrl: 'http://127.0.0.1:3000',
  })
}

const decode = (given: Record<string, string>) => {
  const event = { pathParameters: given } as unknown as ServiceEvent
  pathParameters().before?.({ event } as never)
  return event.pathParameters
}

describe('path parameters', () => {
  it.each(CAPTURED.segments)('are decoded once: $text ($source)', async ({ text, means }) => {
    expect(decode({ tenantId: text })).toEqual({ tenantId: means })
    const organizationId = system.newId()
    const authorizer = authorizerOf(organizationId)
    const body = JSON.stringify({ maxOpenExecutions: 3 })
    const set = await call('put-tenant-limits', authorizer, { tenantId: text }, { body })
    expect([set.status, set.json.tenantId], JSON.stringify(set.json)).toEqual([200, means])
    const listed = await call('list-limits', authorizer, {})
    expect(listed.json).toEqual([expect.objectContaining({ tenantId: means, maxOpenExecutions: 3 })])
    const [entry] = (await call('list-audit-entries', authorizer, {})).json
    expect(entry.target).toMatchObject({ id: means })
  })

  it('of the local gateway are those of API Gateway, whatever is in them', () => {
    const withParameters = routes.filter(({ path }) => path.includes('{'))
    expect(withParameters.length).toBeGreaterThan(50)
    fc.assert(
      fc.property(
        fc.constantFrom(...withParameters),
        fc.array(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 4, maxLength: 4 }),
        ({ method, path }, values) => {
          const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
          const given = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
          const raw = Object.fromEntries(names.map((name) => [name, encodeURIComponent(given[name] ?? '')]))
          // A segment of dots is a step of the path for clients, and reaches no gateway.
          fc.pre(Object.values(given).every((value) => !/^\.{1,2}$/.test(value)))
          const url = path.replace(/\{(\w+)\}/g, (_, name) => raw[name] ?? '')
          const event = localEvent(method, url)
          if (event.resource !== path) return
          expect(event.pathParameters).toEqual(raw)
          expect(decode(raw)).toEqual(given)
        },
      ),
    )
  })

  it.each(['%', '%E0%A4', 'a%zz', '%C3%28'])('that are malformed are 400, and named: %s', async (text) => {
    const recorded = operationNames.filter(
      (name) => getOperation(name).path.includes('{') && name !== 'serve-console',
    )
    for (const name of recorded) {
      const { path } = getOperation(name)
      const [, parameter = ''] = /\{(\w+)\}/.exec(path) ?? []
      const { status, json } = await call(name, authorizerOf(system.newId()), { [parameter]: text })
      const errors = [{ path: parameter, message: `${parameter} must be percent-encoded UTF-8.` }]
      expect([status, json.code, json.errors], name).toEqual([400, 'BadRequest', errors])
    }
  })

  it('reach an agent by its slug only once decoded', async () => {
    const authorizer = { ...authorizerOf(system.newId()), agents: 'my-agent' }
    const refused = await call('get-agent', authorizer, { agentId: 'my%2Dagent%2Fother' })
    expect([refused.status, refused.json.code]).toEqual([404, 'AgentNotFound'])
  })
})

describe('other fields of an event', () => {
  it.each(CAPTURED.queries)('of the local gateway are those of API Gateway: $sent', (query) => {
    const event = localEvent('GET', `/v1/agents?${query.sent}`)
    expect(event.multiValueQueryStringParameters).toEqual(query.multiValue)
    expect(event.queryStringParameters).toEqual(query.single)
  })

  it('keep the slash at the end, the stage, and the method HEAD', async () => {
    const local = localEvent('HEAD', '/v1/agents/')
    const given = { resource: '/v1/agents', path: '/v1/agents/', httpMethod: 'HEAD' }
    expect(local).toMatchObject({ ...given, queryStringParameters: null })
    const more = { method: 'HEAD', path: '/v1/agents/' }
    expect(await call('list-agents', authorizerOf(system.newId()), {}, more)).toMatchObject({ status: 200 })
  })

  it.each([
    ['a stage', 'prod', '', '/prod'],
    ['a custom domain', null, '', ''],
    ['a custom domain with a base path', null, '/agents', '/agents'],
  ])('give links their prefix: %s', async (_, stage, base, prefix) => {
    const authorizer = authorizerOf(system.newId())
    for (const tenantId of ['a', 'b'])
      await call('put-tenant-limits', authorizer, { tenantId }, { body: '{"maxOpenExecutions":1}' })
    const more = { stage, path: `${base}/v1/limits`, query: { limit: ['1'] } }
    const { headers } = await call('list-limits', authorizer, {}, more)
    expect(headers?.Link).toMatch(new RegExp(`^<${prefix}/v1/limits\\?`))
  })
})
