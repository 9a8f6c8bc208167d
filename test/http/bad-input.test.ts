import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { problemRecord } from '../../lib/api/schemas/problem-record.ts'
import { ERRORS, type ErrorCode } from '../../lib/core/errors.ts'
import { type ApiResponse, createClient } from '../support/client.ts'
import { newOrganization, type TestOrganization } from '../support/organization.ts'
import * as bad from './bad-values.ts'

let own: TestOrganization
const RUN = '/v1/agents/echo/executions'

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('echo')
})

afterEach(async () => {
  expect((await own.call('POST', RUN, { body: { text: 'still here' } })).json).toEqual({ text: 'still here' })
})

function expectProblem(answer: ApiResponse, code: ErrorCode): void {
  expect(answer.json).toMatchObject({ code, status: ERRORS[code].status, title: ERRORS[code].title })
  expect(answer.status).toBe(ERRORS[code].status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(problemRecord.safeParse(answer.json).error).toBeUndefined()
  expect(answer.json.instance).toBe(answer.headers.get('x-amzn-requestid'))
  expect(answer.text.length).toBeLessThan(2_000)
}

describe('a body', () => {
  it.each(Object.entries(bad.BAD_BODIES))('that is %s is InvalidJson', async (_, raw) => {
    expectProblem(await own.call('POST', RUN, { raw }), 'InvalidJson')
  })

  it.each(bad.BAD_CONTENT_TYPES)('of type %s is UnsupportedMediaType', async (type) => {
    const answer = await own.call('POST', RUN, { body: { text: 'a' }, headers: { 'Content-Type': type } })
    expectProblem(answer, 'UnsupportedMediaType')
  })

  it('without a type, or compressed, is UnsupportedMediaType', async () => {
    const untyped = await own.call('POST', RUN, { raw: new Uint8Array(2), headers: { 'Content-Type': '' } })
    expectProblem(untyped, 'UnsupportedMediaType')
    const zipped = await own.call('POST', RUN, { raw: 'x', headers: { 'Content-Encoding': 'gzip' } })
    expectProblem(zipped, 'UnsupportedMediaType')
  })

  it.each(bad.GOOD_CONTENT_TYPES)('of type %s is read', async (type) => {
    const answer = await own.call('POST', RUN, { body: { text: 'a' }, headers: { 'Content-Type': type } })
    expect(answer.json).toEqual({ text: 'a' })
  })

  it('that begins with a byte order mark is read', async () => {
    expect((await own.call('POST', RUN, { raw: '\ufeff{"text":"a"}' })).json).toEqual({ text: 'a' })
  })

  it.each([6_000_001, 7_000_000, 20_000_000])('of %i bytes is PayloadTooLarge', async (bytes) => {
    const raw = `{"text":"${'a'.repeat(bytes - 11)}"}`
    expect(raw).toHaveLength(bytes)
    expectProblem(await own.call('POST', RUN, { raw }), 'PayloadTooLarge')
  })

  it('of 7 MB is refused for its token, its route or its size, and the answer arrives', async () => {
    const raw = 'a'.repeat(7_000_000)
    expectProblem(await createClient(inject('service'), 'aes_wrong')('POST', RUN, { raw }), 'Unauthorized')
    expectProblem(await own.call('POST', '/v1/nowhere', { raw }), 'RouteNotFound')
  })

  it('may hold keys that JavaScript gives a meaning to', async () => {
    const raw = '{"text":"a","__proto__":{"x":1},"constructor":1,"toString":null}'
    expect((await own.call('POST', RUN, { raw })).json).toEqual({ text: 'a' })
    const { text } = await own.call('GET', '/v1/agent_executions?limit=1')
    expect(text).toContain('"__proto__":{"x":1}')
  })
})

describe('an id', () => {
  const agentPaths = ['/v1/agents/{id}', '/v1/documents/{id}/versions', '/v1/agents/{id}/executions']

  it.each(Object.entries(bad.BAD_IDS))('that is %s is AgentNotFound', async (_, id) => {
    for (const path of agentPaths)
      expectProblem(await own.call('GET', path.replace('{id}', id)), 'AgentNotFound')
    const ran = await own.call('POST', RUN.replace('echo', id), { body: { text: 'a' } })
    expectProblem(ran, 'AgentNotFound')
  })

  it.each(Object.entries(bad.BAD_IDS))('that is %s is ExecutionNotFound', async (_, id) => {
    const path = `/v1/agent_executions/${id}`
    expectProblem(await own.call('GET', path), 'ExecutionNotFound')
    expectProblem(await own.call('DELETE', path), 'ExecutionNotFound')
    expectProblem(await own.call('POST', `${path}/cancel`), 'ExecutionNotFound')
    const feedback = await own.call('PUT', `${path}/feedback`, { body: { rating: 1 } })
    expectProblem(feedback, 'ExecutionNotFound')
  })

  it.each([
    '/v1/agents/a/b',
    '/v1/agents//versions',
    '/v1/agents/echo//',
    '//v1/agents',
    '/',
    '/v1',
    '/v2/agents',
  ])('with slashes in it, as in %s, is RouteNotFound', async (path) =>
    expectProblem(await own.call('GET', path), 'RouteNotFound'),
  )

  it('of a version that the agent does not have is VersionNotFound', async () => {
    const { json } = await own.call('GET', '/v1/agents/echo')
    const answer = await own.call('POST', `${RUN}?version=${json.id}`, { body: { text: 'a' } })
    expectProblem(answer, 'VersionNotFound')
  })
})

describe('a method', () => {
  it.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    '%s that a route does not have is RouteNotFound',
    async (method) => {
      expectProblem(await own.call(method, '/v1/agents'), 'RouteNotFound')
    },
  )
})

describe('query parameters', () => {
  const expectParameterProblem = (answer: ApiResponse, parameter: string) => {
    expectProblem(answer, 'InvalidQueryParameter')
    expect(answer.json.errors[0].path).toBe(parameter)
    expect(answer.json.errors[0].message).toContain(parameter)
  }

  it.each(bad.BAD_RUN_QUERIES)('%s of a run are refused', async (query, parameter) => {
    expectParameterProblem(await own.call('POST', `${RUN}?${query}`, { body: { text: 'a' } }), parameter)
  })

  it.each(bad.BAD_EXECUTION_LIST_QUERIES)(
    '%s of a list of executions are refused',
    async (query, parameter) => {
      expectParameterProblem(await own.call('GET', `/v1/agent_executions?${query}`), parameter)
      expectParameterProblem(await own.call('GET', `/v1/documents/echo/executions/?${query}`), parameter)
    },
  )

  it.each(bad.BAD_LIST_QUERIES)(
    '%s of a list of agents or versions are refused',
    async (query, parameter) => {
      expectParameterProblem(await own.call('GET', `/v1/agents?${query}`), parameter)
      expectParameterProblem(await own.call('GET', `/v1/agents/echo/versions?${query}`), parameter)
    },
  )

  it('are all named at once', async () => {
    const { json } = await own.call('POST', `${RUN}?maxAgentSteps=0&execMode=x&nope=1`, { body: {} })
    expect(json.errors.map((error: { path: string }) => error.path).sort()).toEqual([
      'execMode',
      'maxAgentSteps',
      'nope',
    ])
  })

  it('that are misspelt are told the nearest name', async () => {
    const { json } = await own.call('POST', `${RUN}?execmode=async`, { body: {} })
    expect(json.detail).toContain('did you mean execMode?')
  })

  it.each(['maxAgentSteps=1', 'maxAgentSteps=500', `tenantId=${'t'.repeat(128)}`, 'useCache=false'])(
    '%s are taken',
    async (query) => {
      expect((await own.call('POST', `${RUN}?${query}`, { body: { text: 'a' } })).status).toBe(200)
    },
  )

  it('model is InvalidModelOverride for an agent that runs code', async () => {
    const answer = await own.call('POST', `${RUN}?model=openai/gpt-5:high`, { body: { text: 'a' } })
    expectProblem(answer, 'InvalidModelOverride')
  })

  it('are refused before anything is recorded', async () => {
    const org = await newOrganization()
    await org.publish('echo')
    await org.call('POST', `${RUN}?maxAgentSteps=0`, { body: { text: 'a' } })
    await org.call('POST', `${RUN}?enforceInputSchema=true`, { body: { text: 1 } })
    expect((await org.call('GET', '/v1/agent_executions')).json).toEqual([])
  })
})

describe('an Authorization header', () => {
  it.each(Object.entries(bad.BAD_AUTHORIZATIONS))('with %s is Unauthorized', async (_, header) => {
    const anonymous = createClient(inject('service'), null)
    const answer = await anonymous('GET', '/v1/agents', { headers: { Authorization: header } })
    expectProblem(answer, 'Unauthorized')
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  it('may write its scheme in any case', async () => {
    const anonymous = createClient(inject('service'), null)
    const answer = await anonymous('GET', '/v1/agents', { headers: { Authorization: `bearer ${own.token}` } })
    expect(answer.status).toBe(200)
  })
})

describe('bytes that are no HTTP request', () => {
  it.each(Object.entries(bad.BAD_REQUEST_BYTES))(
    'as %s get a problem and a closed connection',
    async (_, bytes) => {
      const { hostname, port } = new URL(inject('service'))
      const socket = connect(Number(port), hostname)
      socket.setTimeout(10_000, () => socket.destroy(new Error('The connection hangs.')))
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
