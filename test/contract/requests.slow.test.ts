import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { parameterSchemas } from '../../lib/contract/parameters/parameters.ts'
import {
  getOperation,
  isPublicPath,
  methodsOf,
  type OperationName,
  routes,
} from '../../lib/contract/routes.ts'
import type { ErrorCode } from '../../lib/core/errors.ts'
import { createClient } from '../support/service/client.ts'
import { openColumns } from '../support/service/token-columns.ts'
import { describeAccess } from './access.ts'
import {
  contractOperations,
  exampleOf,
  expectProblem,
  type Ids,
  missingIds,
  newWorld,
  pathOf,
  send,
  type World,
  withoutExample,
} from './world.ts'

describe('requests', () => {
  let world: World
  beforeAll(async () => {
    world = await newWorld()
  })

  /** Sends what is invalid: nothing is changed, so that all operations can share their resources. */
  const sendTo = (name: OperationName, changes: Parameters<typeof send>[3], ids: Ids = world.ids) =>
    send(world.org.call, name, ids, changes)
  const pathsOf = ({ errors }: { errors: { path: string }[] }) => errors.map(({ path }) => path)

  /** What a header cannot be; null if every value is accepted. A new header needs a value here. */
  const INVALID_HEADERS: Record<string, string | null> = {
    'Idempotency-Key': 'k'.repeat(256),
    'Last-Event-ID': 'x'.repeat(101),
    Prefer: null,
    traceparent: null,
  }

  /** The error for a resource that does not exist. */
  const NOT_FOUND: Record<string, ErrorCode | null> = {
    agentId: 'AgentNotFound',
    versionId: 'VersionNotFound',
    executionId: 'ExecutionNotFound',
    otherId: 'ExecutionNotFound',
    approvalId: 'ApprovalNotFound',
    webhookId: 'WebhookNotFound',
    deliveryId: 'DeliveryNotFound',
    scheduleName: 'ScheduleNotFound',
    batchId: 'BatchNotFound',
    trialId: 'TrialNotFound',
    tokenId: 'TokenNotFound',
    tenantId: 'LimitsNotFound',
    mac: 'ExecutionNotFound',
    // A signal can have any name.
    name: null,
  }

  /** What operations create if it does not exist. Some names are invalid. */
  const CREATED: Partial<Record<OperationName, string>> = {
    'put-schedule': 'scheduleName',
    'put-tenant-limits': 'tenantId',
  }

  const HOSTILE_IDS = {
    'an ID of nothing': '01a2003a-d1f2-7169-a695-5ea4428d9251',
    'an encoded slash': 'echo%2Fversions',
    'a NUL byte': 'echo%00',
    'a key separator': 'AGENT%23echo',
    'a prototype property': '__proto__',
    'a trailing space': 'echo%20',
    '10 kB': 'a'.repeat(10_000),
  }

  /**
   * By day, the operations with a parameter share the ids, except the first, which each of them gets: two at least, and
   * each id at least once.
   */
  function hostileIds(name: OperationName, parameter: string) {
    const [nothing, ...ids] = Object.entries(HOSTILE_IDS)
    const sharing = contractOperations.filter((each) => getOperation(each).path.includes(`{${parameter}}`))
    const place = sharing.indexOf(name)
    const isOwn = (index: number) =>
      inject('isNightly') || index % sharing.length === place || place % ids.length === index
    return [nothing as [string, string], ...ids.filter((_, index) => isOwn(index))]
  }

  it('every operation with a body has an example', () => expect(withoutExample()).toEqual([]))

  describe.concurrent.each(contractOperations)('%s', (name) => {
    const operation = getOperation(name)
    const { path, method } = operation
    const query = operation.query ? Object.keys(parameterSchemas[operation.query].shape) : []

    if (!operation.ignoresQuery)
      it('rejects unknown, repeated, empty and badly encoded query parameters, and names each', async () => {
        const unknown = await sendTo(name, { query: '?nope=1&%00=1&__proto__=1&=' })
        expectProblem(unknown, 'InvalidQueryParameter', name)
        expect(pathsOf(unknown.json).sort()).toEqual(['', '\0', '__proto__', 'nope'])
        const encoded = await sendTo(name, { query: '?a=%ff&%C3=1' })
        expectProblem(encoded, 'InvalidQueryParameter', name)
        for (const parameter of query) {
          // An empty list is one.
          const empty = parameter === 'groupBy' ? [] : [`${parameter}=`]
          for (const values of [`${parameter}=a&${parameter}=a`, ...empty]) {
            const response = await sendTo(name, { query: `?${values}` })
            expect(response.status, `${values}: ${response.text}`).toBe(400)
            if (response.json.errors) expect(pathsOf(response.json)).toContain(parameter)
          }
        }
      })

    for (const [placeholder, parameter = ''] of path.matchAll(/\{(\w+)\}/g))
      it(`answers any ${parameter} that names nothing with an error of its contract`, async () => {
        const code = NOT_FOUND[parameter]
        const isCreated = CREATED[name] === parameter
        for (const [what, hostile] of hostileIds(name, parameter)) {
          if (isCreated && !['a NUL byte', '10 kB'].includes(what)) continue
          const response = await sendTo(name, { path: path.replace(placeholder, hostile) })
          if (isCreated) expectProblem(response, 'BadRequest', name)
          else if (code) expectProblem(response, code, name)
          else expect(response.status, what).toBeLessThan(500)
        }
        const undecodable = await sendTo(name, { path: path.replace(placeholder, '%ff') })
        expectProblem(undecodable, 'BadRequest', name)
      })

    if (operation.body && !operation.rawBody)
      it('rejects a body that is not JSON, of another type, or compressed', async () => {
        expectProblem(await sendTo(name, { raw: '{"a":' }), 'InvalidJson', name)
        expectProblem(await sendTo(name, { raw: '{"a":1,"a":2}' }), 'InvalidJson', name)
        if (!operation.anyBody) expectProblem(await sendTo(name, { raw: '[1,2]' }), 'InvalidJson', name)
        for (const headers of [
          { 'Content-Type': 'text/plain' },
          { 'Content-Type': 'application/json; charset=utf-16' },
          { 'Content-Encoding': 'gzip' },
        ])
          expectProblem(await sendTo(name, { raw: '{}', headers }), 'UnsupportedMediaType', name)
      })

    if (operation.body && !operation.anyBody && !operation.rawBody)
      it('rejects an unknown field of its body, and names it', async () => {
        const { status, json, text } = await sendTo(name, { body: { 'no/such': 1 } })
        expect(status, text).toBe(422)
        expect(pathsOf(json)).toContain('/no~1such')
      })

    if (operation.headers)
      it('rejects invalid headers, and names them', async () => {
        for (const header of Object.keys(parameterSchemas[operation.headers ?? 'runHeaders'].shape)) {
          expect(INVALID_HEADERS, 'an invalid value of each header').toHaveProperty(header)
          const value = INVALID_HEADERS[header]
          if (!value) continue
          const response = await sendTo(name, { headers: { [header]: value } })
          expectProblem(response, 'InvalidHeader', name)
          expect(pathsOf(response.json)).toEqual([header])
        }
      })

    it('answers a missing resource as its contract says, before it looks at anything else of the request', async () => {
      const first = /\{(\w+)\}/.exec(path)?.[1]
      const code = first && NOT_FOUND[first]
      if (!code || CREATED[name] === first || operation.public) return
      expectProblem(await sendTo(name, {}, missingIds(world.ids)), code, name)
    })

    if (method === 'GET' && !operation.public)
      it('answers HEAD, a trailing slash and the path of documents like GET', async () => {
        const ids = operation.query ? world.ids : await world.fresh(name)
        const changes = name === 'list-audit-entries' ? { query: '?to=2000-01-01T00:00:00Z' } : {}
        const legacy = routes.find((route) => route.legacy && route.operation === name)
        const paths = [`${path}/`, ...(legacy ? [legacy.path] : [])]
        // Other tests, or an attempt of a delivery, can change what is read between two requests.
        await vi.waitFor(async () => {
          const get = await sendTo(name, changes, ids)
          for (const other of paths) {
            const answer = await sendTo(name, { ...changes, path: other }, ids)
            expect([answer.status, answer.json], other).toEqual([get.status, get.json])
          }
        }, 20_000)
        const { query: given = '' } = exampleOf(name, ids)
        const head = await world.org.call('HEAD', pathOf(path, ids) + given)
        expect([head.status, head.text]).toEqual([200, ''])
      })
  })

  describe.each([...new Set(routes.map((route) => route.path))])('%s', (path) => {
    const allowed = methodsOf(path)
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
      (method) => !allowed.includes(method),
    )

    it(`allows ${allowed.join(', ')}, and says so for other methods; to nobody without a token`, async () => {
      const url = path.replaceAll(/[{}]/g, '')
      const anonymous = createClient(inject('service'), null)
      for (const method of others)
        for (const each of [url, `${url}/`]) {
          const response = await world.org.call(method, each)
          expectProblem(response, 'MethodNotAllowed')
          expect(response.headers.get('allow')).toBe(allowed.join(', '))
        }
      const [method = 'PUT'] = others
      expect((await anonymous(method, url)).status).toBe(isPublicPath(path) ? 405 : 401)
    })
  })

  it.each([
    '/v1/agents/a/b',
    '/v1/agents//versions',
    '/v1/agents/echo//',
    '//v1/agents',
    '/v1',
    '/v2/agents',
  ])('the path %s is not one', async (path) =>
    expectProblem(await world.org.call('GET', path), 'RouteNotFound'),
  )

  it('says which path was meant if /v1 is missing, and repeats no other path', async () => {
    const detailOf = async (path: string) => (await world.org.call('POST', path)).json.detail
    expect(await detailOf('/agents/shout/executions?cache=true')).toContain(
      'Did you mean /v1/agents/shout/executions?',
    )
    expect(await detailOf('/no/such/path')).toBe(
      'No route has this path. The paths of the API begin with /v1. GET /v1/openapi.json describes all routes.',
    )
  })
})

describeAccess(openColumns)

describe('a request without a token', () => {
  const anonymous = createClient(inject('service'), null)
  const isProtected = ({ operation }: (typeof routes)[number]) => !getOperation(operation).public

  it.each(routes.filter(isProtected))('is 401: $method $path', async ({ method, path, operation }) => {
    for (const url of [path, `${path}/`]) {
      const response = await anonymous(method, url.replaceAll(/[{}]/g, ''))
      expectProblem(response, 'Unauthorized', operation)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
    }
  })
})
