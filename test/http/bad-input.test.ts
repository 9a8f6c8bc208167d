import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { parameterSchemas } from '../../lib/api/parameters.ts'
import { apiRoutes, getOperation } from '../../lib/api/routes.ts'
import { problemRecord } from '../../lib/api/schemas/records.ts'
import { ERRORS, type ErrorCode } from '../../lib/core/errors.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiResponse, createClient } from '../support/service/client.ts'
import * as bad from './bad-values.ts'

let org: TestOrganization
const RUN = '/v1/agents/echo/executions'
/** The names of the query parameters of all routes. */
const QUERY_PARAMETERS = Object.keys({
  ...parameterSchemas.runParameters.shape,
  ...parameterSchemas.executionPageParameters.shape,
})

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
})

/** After each test in a full run, which names the one that broke the service; otherwise at the end. */
const afterTests = inject('isNightly') ? afterEach : afterAll
afterTests(async () => {
  expect((await org.call('POST', RUN, { body: { text: 'alive' } })).json).toEqual({ text: 'alive' })
})

function expectProblem(response: ApiResponse, code: ErrorCode): void {
  expect(response.json).toMatchObject({ code, status: ERRORS[code].status, title: ERRORS[code].title })
  expect(response.status).toBe(ERRORS[code].status)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(problemRecord.safeParse(response.json).error).toBeUndefined()
  expect(response.json.instance).toBe(response.headers.get('x-amzn-requestid'))
  expect(response.text.length).toBeLessThan(2_000)
}

describe('a request body', () => {
  it.each(Object.entries(bad.BAD_BODIES))('is rejected with InvalidJson: %s', async (_, raw) => {
    expectProblem(await org.call('POST', RUN, { raw }), 'InvalidJson')
  })

  it.each(bad.BAD_CONTENT_TYPES)('of type %s is rejected with UnsupportedMediaType', async (type) => {
    const response = await org.call('POST', RUN, { body: { text: 'a' }, headers: { 'Content-Type': type } })
    expectProblem(response, 'UnsupportedMediaType')
  })

  it('without a content type, or compressed, is rejected with UnsupportedMediaType', async () => {
    const untyped = await org.call('POST', RUN, { raw: new Uint8Array(2), headers: { 'Content-Type': '' } })
    expectProblem(untyped, 'UnsupportedMediaType')
    const zipped = await org.call('POST', RUN, { raw: 'x', headers: { 'Content-Encoding': 'gzip' } })
    expectProblem(zipped, 'UnsupportedMediaType')
  })

  it.each(bad.GOOD_CONTENT_TYPES)('of type %s is accepted', async (type) => {
    const response = await org.call('POST', RUN, { body: { text: 'a' }, headers: { 'Content-Type': type } })
    expect(response.json).toEqual({ text: 'a' })
  })

  it('may start with a byte order mark', async () => {
    expect((await org.call('POST', RUN, { raw: '\ufeff{"text":"a"}' })).json).toEqual({ text: 'a' })
  })

  it.each(inject('isNightly') ? [6_000_001, 7_000_000, 20_000_000] : [6_000_001])(
    'of %i bytes is rejected with PayloadTooLarge',
    async (bytes) => {
      const raw = `{"text":"${'a'.repeat(bytes - 11)}"}`
      expect(raw).toHaveLength(bytes)
      expectProblem(await org.call('POST', RUN, { raw }), 'PayloadTooLarge')
    },
  )

  it('of 7 MB does not prevent a response with Unauthorized or RouteNotFound', async () => {
    const raw = 'a'.repeat(7_000_000)
    expectProblem(await createClient(inject('service'), 'aes_wrong')('POST', RUN, { raw }), 'Unauthorized')
    expectProblem(await org.call('POST', '/v1/nowhere', { raw }), 'RouteNotFound')
  })

  it('may contain keys that are special in JavaScript', async () => {
    const raw = '{"text":"a","__proto__":{"x":1},"constructor":1,"toString":null}'
    expect((await org.call('POST', RUN, { raw })).json).toEqual({ text: 'a' })
    const { text } = await org.call('GET', '/v1/agent_executions?limit=1')
    expect(text).toContain('"__proto__":{"x":1}')
  })
})

describe('an ID in the path', () => {
  const agentPaths = ['/v1/agents/{id}', '/v1/documents/{id}/versions', '/v1/agents/{id}/executions']

  it.each(Object.entries(bad.BAD_IDS))('of an agent is rejected with AgentNotFound: %s', async (_, id) => {
    for (const path of agentPaths)
      expectProblem(await org.call('GET', path.replace('{id}', id)), 'AgentNotFound')
    const ran = await org.call('POST', RUN.replace('echo', id), { body: { text: 'a' } })
    expectProblem(ran, 'AgentNotFound')
  })

  it.each(Object.entries(bad.BAD_IDS))(
    'of an execution is rejected with ExecutionNotFound: %s',
    async (_, id) => {
      const path = `/v1/agent_executions/${id}`
      expectProblem(await org.call('GET', path), 'ExecutionNotFound')
      expectProblem(await org.call('DELETE', path), 'ExecutionNotFound')
      expectProblem(await org.call('POST', `${path}/cancel`), 'ExecutionNotFound')
      const feedback = await org.call('PUT', `${path}/feedback`, { body: { rating: 1 } })
      expectProblem(feedback, 'ExecutionNotFound')
    },
  )

  const named = apiRoutes.flatMap(({ method, path, legacy }) =>
    legacy ? [] : [...path.matchAll(/\{\w+\}/g)].map(([name]) => ({ method, path, name })),
  )
  it.each(named)(
    'of 10 kB is the fault of the client: $method $path, $name',
    async ({ method, path, name }) => {
      const url = path
        .replace(name, 'a'.repeat(10_000))
        .replace('{agentId}', 'echo')
        .replace(/\{\w+\}/g, randomUUID())
      const { status } = await org.call(
        method,
        url,
        method === 'GET' || method === 'DELETE' ? {} : { body: {} },
      )
      expect([status >= 400, status < 500]).toEqual([true, true])
    },
  )

  it.each([
    '/v1/agents/a/b',
    '/v1/agents//versions',
    '/v1/agents/echo//',
    '//v1/agents',
    '/v1',
    '/v2/agents',
  ])('with misplaced slashes is rejected with RouteNotFound: %s', async (path) =>
    expectProblem(await org.call('GET', path), 'RouteNotFound'),
  )

  it('of a missing version is rejected with VersionNotFound', async () => {
    const { json } = await org.call('GET', '/v1/agents/echo')
    const response = await org.call('POST', `${RUN}?version=${json.id}`, { body: { text: 'a' } })
    expectProblem(response, 'VersionNotFound')
  })
})

describe.each(Object.entries(bad.BAD_ENCODINGS))('an invalid encoding: %s', (_, text) => {
  it('in a path is rejected with BadRequest', async () => {
    expectProblem(await org.call('GET', `/v1/agents/${text}`), 'BadRequest')
    expectProblem(await org.call('POST', `/v1/agents/${text}/executions`, { body: {} }), 'BadRequest')
    expectProblem(await org.call('GET', `/v1/agent_executions/${text}`), 'BadRequest')
  })

  it('in a query is rejected with InvalidQueryParameter', async () => {
    for (const query of [`tenantId=${text}`, `${text}=a`, `useCache=true&tenantId=a+${text}`])
      expectProblem(
        await org.call('POST', `${RUN}?${query}`, { body: { text: 'a' } }),
        'InvalidQueryParameter',
      )
    expectProblem(await org.call('GET', `/v1/agents?a=${text}`), 'InvalidQueryParameter')
  })
})

describe('an HTTP method', () => {
  it.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'that the route does not have is rejected with MethodNotAllowed: %s',
    async (method) => {
      expectProblem(await org.call(method, '/v1/agents'), 'MethodNotAllowed')
    },
  )
})

describe('query parameters', () => {
  const expectParameterProblem = (response: ApiResponse, parameter: string) => {
    expectProblem(response, 'InvalidQueryParameter')
    expect(response.json.errors[0].path).toBe(parameter)
    expect(response.json.errors[0].message).toContain(parameter)
  }

  it.each(bad.BAD_RUN_QUERIES)('of a run are rejected: %s', async (query, parameter) => {
    expectParameterProblem(await org.call('POST', `${RUN}?${query}`, { body: { text: 'a' } }), parameter)
  })

  it.each(bad.BAD_EXECUTION_LIST_QUERIES)(
    'of a list of executions are rejected: %s',
    async (query, parameter) => {
      expectParameterProblem(await org.call('GET', `/v1/agent_executions?${query}`), parameter)
      expectParameterProblem(await org.call('GET', `/v1/documents/echo/executions/?${query}`), parameter)
    },
  )

  it.each(bad.BAD_LIST_QUERIES)(
    'of a list of agents or versions are rejected: %s',
    async (query, parameter) => {
      expectParameterProblem(await org.call('GET', `/v1/agents?${query}`), parameter)
      expectParameterProblem(await org.call('GET', `/v1/agents/echo/versions?${query}`), parameter)
    },
  )

  const rejecting = apiRoutes.filter(
    ({ legacy, operation }) => !legacy && !getOperation(operation).ignoresQuery,
  )
  it.each(rejecting)(
    'of other routes are rejected: $method $path',
    async ({ method, path, operation: name }) => {
      const { query } = getOperation(name)
      const own = query ? Object.keys(parameterSchemas[query].shape) : []
      const foreign = QUERY_PARAMETERS.filter((parameter) => !own.includes(parameter))
      const url = path.replace('{agentId}', 'echo').replace('{executionId}', randomUUID())
      const response = await org.call(
        method,
        `${url}?${foreign.map((parameter) => `${parameter}=x`).join('&')}`,
      )
      expect([response.status, response.json.code]).toEqual([400, 'InvalidQueryParameter'])
      expect(response.json.errors.map((error: { path: string }) => error.path).sort()).toEqual(foreign.sort())
    },
  )

  it('are all reported in one response', async () => {
    const { json } = await org.call('POST', `${RUN}?maxAgentSteps=0&execMode=x&nope=1`, { body: {} })
    expect(json.errors.map((error: { path: string }) => error.path).sort()).toEqual([
      'execMode',
      'maxAgentSteps',
      'nope',
    ])
  })

  it('that are misspelled get the nearest name as a hint', async () => {
    const { json } = await org.call('POST', `${RUN}?execmode=async`, { body: {} })
    expect(json.detail).toContain('did you mean execMode?')
  })

  it.each(['maxAgentSteps=1', 'maxAgentSteps=500', `tenantId=${'t'.repeat(128)}`, 'useCache=false'])(
    'are accepted: %s',
    async (query) => {
      expect((await org.call('POST', `${RUN}?${query}`, { body: { text: 'a' } })).status).toBe(200)
    },
  )

  it('of a code agent are rejected with InvalidModelOverride if they contain a model', async () => {
    const response = await org.call('POST', `${RUN}?model=openai/gpt-5:high`, { body: { text: 'a' } })
    expectProblem(response, 'InvalidModelOverride')
  })

  it('are validated before an execution is created', async () => {
    const other = await newOrganization()
    await other.publish('echo')
    await other.call('POST', `${RUN}?maxAgentSteps=0`, { body: { text: 'a' } })
    await other.call('POST', `${RUN}?enforceInputSchema=true`, { body: { text: 1 } })
    expect((await other.call('GET', '/v1/agent_executions')).json).toEqual([])
  })
})

describe('an Authorization header', () => {
  it.each(Object.entries(bad.BAD_AUTHORIZATIONS))(
    'is rejected with Unauthorized: %s',
    async (name, header) => {
      const anonymous = createClient(inject('service'), null)
      const response = await anonymous('GET', '/v1/agents', { headers: { Authorization: header } })
      expectProblem(response, 'Unauthorized')
      const hasToken = !['no scheme', 'another scheme', 'no token', 'a blank token'].includes(name)
      expect(response.headers.get('www-authenticate')).toMatch(
        hasToken ? /^Bearer error="invalid_token", error_description="[^"]+"$/ : /^Bearer$/,
      )
    },
  )

  it('may contain the scheme in any case', async () => {
    const anonymous = createClient(inject('service'), null)
    const response = await anonymous('GET', '/v1/agents', {
      headers: { Authorization: `bearer ${org.token}` },
    })
    expect(response.status).toBe(200)
  })
})

describe('a malformed HTTP request', () => {
  it.each(Object.entries(bad.BAD_REQUEST_BYTES))(
    'gets problem details and a closed connection: %s',
    async (_, bytes) => {
      const { hostname, port } = new URL(inject('service'))
      const socket = connect(Number(port), hostname)
      socket.setTimeout(10_000, () => socket.destroy(new Error('The connection timed out.')))
      const chunks: Buffer[] = []
      socket.on('data', (chunk) => chunks.push(chunk))
      socket.write(bytes)
      await once(socket, 'close')
      const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1\.1 4\d\d /)
      expect(JSON.parse(body)).toMatchObject({ status: Number(head.slice(9, 12)), code: expect.any(String) })
    },
  )
})
