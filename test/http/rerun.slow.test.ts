import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { system } from '../../lib/system.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiClient, getExecutionId, waitForExecution } from '../support/service/client.ts'

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  for (const slug of ['counted', 'echo', 'three-steps', 'waits']) await own.publish(slug)
})

const pathOf = (id: string) => `/v1/agent_executions/${id}`
type Options = { body?: unknown; key?: string; raw?: string; client?: ApiClient }
const rerun = (id: string, { key, client = own.call, ...options }: Options = {}) =>
  client('POST', `${pathOf(id)}/rerun`, { ...options, ...(key && { headers: { 'Idempotency-Key': key } }) })

/** The record of the end of a rerun. */
async function ended(id: string, options: Options = {}) {
  const { status, json, text } = await rerun(id, options)
  expect(status, text).toBe(202)
  return waitForExecution(own.call, json.id)
}

const newExecution = async (input: object = { text: 'x' }, query = 'tenantId=acme', slug = 'echo') =>
  getExecutionId(await own.run(slug, input, query))

/** An execution of `three-steps`, and what its steps have written. */
async function threeSteps() {
  const log = join(tmpdir(), `rerun-${randomUUID()}.log`)
  const id = await newExecution({ log }, '', 'three-steps')
  return { id, computed: () => readFileSync(log, 'utf8').trim().split('\n') }
}

const publishDraft = async () => (await own.publish('echo', { draft: true, title: randomUUID() })).id

describe('a rerun', () => {
  it('is a new run with the input, the tenant and the options of the execution', async () => {
    const id = await newExecution(
      { text: 'again', count: '3' },
      'tenantId=acme&maxAgentSteps=7&useCache=true',
    )
    const response = await rerun(id)
    expect(response.status, response.text).toBe(202)
    const { json: started, headers } = response
    expect(headers.get('location')).toBe(pathOf(started.id))
    expect(started.id).not.toBe(id)
    const record = await waitForExecution(own.call, started.id)
    const original = await own.getExecution(id)
    expect(record).toMatchObject({
      status: 'SUCCESS',
      source: 'API',
      originalExecutionId: id,
      selectedBy: 'CURRENT',
      cached: false,
    })
    for (const name of ['versionId', 'tenantId', 'input', 'inputAdaptations', 'output'])
      expect(record[name]).toEqual(original[name])
    expect(original).not.toHaveProperty('originalExecutionId')
    expect((await ended(started.id)).originalExecutionId).toBe(started.id)
  })

  it('runs the current version, or the one that it names', async () => {
    const agent = await newOrganization()
    const first = await agent.publish('echo')
    const id = getExecutionId(await agent.run('echo', { text: 'x' }))
    const second = await agent.publish('echo', { title: 'Second' })
    const versions = async (options: Options = {}) => {
      const { json } = await rerun(id, { client: agent.call, ...options })
      return [json.versionId, json.selectedBy]
    }
    // The service sees within a second what another process has published.
    await expect.poll(() => versions()).toEqual([second.id, 'CURRENT'])
    expect(await versions({ body: { versionId: first.id.toUpperCase() } })).toEqual([first.id, 'REQUEST'])
    const draft = await agent.publish('echo', { title: 'Draft', draft: true })
    expect(await versions({ body: { versionId: draft.id } })).toEqual([draft.id, 'REQUEST'])
  })

  it('takes steps from the recording', async () => {
    const { id, computed } = await threeSteps()
    expect(computed()).toHaveLength(3)
    const recorded = await ended(id, { body: { steps: 'recorded' } })
    expect(recorded).toMatchObject({ status: 'SUCCESS', source: 'TRIAL', output: { values: [1, 2, 3] } })
    expect(computed()).toHaveLength(3)
    const rest = await ended(id, { body: { fromStep: 2, steps: 'live' } })
    expect(rest).toMatchObject({ source: 'TRIAL', output: { values: [1, 2, 3] } })
    expect(computed().slice(3).sort()).toEqual(['second', 'third'])
    expect((await ended(id)).source).toBe('API')
    expect(computed()).toHaveLength(8)
  })

  it('needs a final original for what is recorded', async () => {
    const id = await newExecution({ signal: 'go' }, 'tenantId=acme', 'waits')
    const refused = await rerun(id, { body: { steps: 'recorded' } })
    expect(refused).toMatchObject({ status: 409, json: { code: 'ExecutionInProgress', executionId: id } })
    const { status, json } = await rerun(id, { body: { ignore: ['/at'] } })
    expect([status, json.source]).toEqual([202, 'API'])
    for (const each of [id, json.id]) await own.call('POST', `${pathOf(each)}/cancel`)
    const cancelled = await ended(id, { body: { steps: 'recorded' } })
    expect(cancelled).toMatchObject({ status: 'ERROR', source: 'TRIAL', error: { code: 'Diverged' } })
  })

  it('needs the scopes run and read, and manage for any option', async () => {
    const id = await newExecution()
    const [run, both, all] = [
      await own.withLimits({ scopes: ['run'] }),
      await own.withLimits({ scopes: ['run', 'read'], tenantId: 'acme', agents: ['echo'] }),
      await own.withLimits({ scopes: ['run', 'read', 'manage'] }),
    ]
    const statuses = async (body?: object) => {
      const clients = [run, both, all]
      return Promise.all(clients.map(async (client) => (await rerun(id, { client, body })).status))
    }
    expect(await statuses()).toEqual([403, 202, 202])
    expect(await statuses({})).toEqual([403, 202, 202])
    for (const body of [{ ignore: [] }, { fromStep: 1 }, { versionId: await publishDraft() }])
      expect(await statuses(body)).toEqual([403, 403, 202])
  })

  it('is refused for what no run is accepted for', async () => {
    const other = await newOrganization()
    const old = await other.publish('echo')
    const id = getExecutionId(await other.run('echo', { text: 'x' }))
    await other.publish('echo', { title: 'New' })
    const call = { client: other.call }
    const codes = async (options: Options = {}) => {
      const { status, json } = await rerun(id, { ...call, ...options })
      return [status, json.code]
    }
    const foreign = (await own.publish('echo')).id
    expect(await codes({ body: { versionId: foreign } })).toEqual([404, 'VersionNotFound'])
    await other.call('POST', `/v1/agents/echo/versions/${old.id}/retire`)
    expect(await codes({ body: { versionId: old.id } })).toEqual([410, 'VersionRetired'])
    const accepted = await rerun(id, { ...call, key: 'before' })
    await other.call('POST', '/v1/agents/echo/archive')
    expect(await codes()).toEqual([410, 'AgentArchived'])
    expect((await rerun(id, { ...call, key: 'before' })).json.id).toBe(accepted.json.id)
    await waitForExecution(other.call, accepted.json.id)
    expect((await other.call('DELETE', pathOf(id))).status).toBe(204)
    expect(await codes()).toEqual([404, 'ExecutionNotFound'])
  })

  it('is started once for each idempotency key and execution', async () => {
    const [id, second] = [await newExecution(), await newExecution()]
    const responses = await Promise.all(Array.from({ length: 10 }, () => rerun(id, { key: 'once' })))
    const ids = new Set(responses.map(({ json }) => json.id))
    expect(ids.size).toBe(1)
    const repeated = await rerun(id, { key: 'once', body: { versionId: (await own.publish('echo')).id } })
    expect(repeated).toMatchObject({ status: 422, json: { code: 'IdempotencyKeyReused' } })
    expect(ids).not.toContain((await rerun(second, { key: 'once' })).json.id)
    const run = await own.call('POST', '/v1/agents/echo/executions?execMode=async', {
      body: { text: 'x' },
      headers: { 'Idempotency-Key': 'once' },
    })
    expect(ids).not.toContain(run.json.id)
    await waitForExecution(own.call, [...ids][0])
    expect(await rerun(id, { key: 'once' })).toMatchObject({ status: 200, json: { status: 'SUCCESS' } })
  })

  it.each<[object, string]>([
    [{ rating: 1 }, '/rating'],
    [{ versionId: 'none' }, '/versionId'],
    [{ tools: { default: 'dead' } }, '/tools/default'],
    [{ tools: { search: 'live' } }, '/tools/search'],
    [{ tools: { search: 'recorded' } }, '/tools/search'],
    [{ models: null }, '/models'],
    [{ fromStep: 0 }, '/fromStep'],
    [{ fromStep: 1.5 }, '/fromStep'],
    [{ ignore: ['at'] }, '/ignore/0'],
    [{ ignore: ['/~2'] }, '/ignore/0'],
    [{ ignore: [''] }, '/ignore/0'],
    [{ ignore: ['/\ud800'] }, '/ignore/0'],
    [{ ignore: Array(101).fill('/a') }, '/ignore'],
  ])('is refused for fields that are not valid: %#', async (body, path) => {
    const { status, json } = await rerun(await newExecution(), { body })
    expect([status, json.code, json.errors?.[0]?.path]).toEqual([422, 'InputSchemaMismatch', path])
  })

  it.each([
    ['[]', 400, 'InvalidJson'],
    ['{', 400, 'InvalidJson'],
    ['null', 400, 'InvalidJson'],
  ])('is refused for the body %s', async (raw, status, code) => {
    expect(await rerun(await newExecution(), { raw })).toMatchObject({ status, json: { code } })
  })

  it('counts towards limits', async () => {
    const tenant = `limited-${randomUUID()}`
    const id = await newExecution({ text: 'x' }, `tenantId=${tenant}`)
    await own.call('PUT', `/v1/tenants/${tenant}/limits`, { body: { maxRunsPerMinute: 1 } })
    const responses = await Promise.all(Array.from({ length: 4 }, () => rerun(id)))
    expect(responses.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(2)
    expect(responses.find(({ status }) => status === 429)?.json.code).toBe('LimitExceeded')
  })
})

describe('a comparison', () => {
  const compare = (left: string, right: string, client = own.call) =>
    client('GET', `${pathOf(left)}/compare/${right}`)

  it('shows the summaries, the results and the steps', async () => {
    const { id } = await threeSteps()
    const { id: again } = await ended(id)
    const { status, json } = await compare(id, again.toUpperCase())
    expect(status).toBe(200)
    expect(json).toMatchObject({
      left: { id, status: 'SUCCESS' },
      right: { id: again, originalExecutionId: id },
      differences: [],
      hasMoreSteps: false,
    })
    expect(json.left).not.toHaveProperty('input')
    expect(json.steps.map(({ name, isSame }: { name: string; isSame: boolean }) => [name, isSame])).toEqual(
      expect.arrayContaining([
        ['first', true],
        ['second', true],
        ['third', true],
      ]),
    )
    const other = await newExecution({ text: 'b' })
    const { json: changed } = await compare(await newExecution({ text: 'a' }), other)
    expect(changed.request.differences).toEqual([{ path: '/input/text', left: 'a', right: 'b' }])
    expect(changed.differences).toEqual([{ path: '/output/text', left: 'a', right: 'b' }])
    expect((await compare(id, other)).json.steps[0]).toMatchObject({ number: 1, otherNumber: null })
  })

  it('finds only what the token may see, on both sides', async () => {
    const [id, foreign] = [await newExecution(), await newExecution({ text: 'x' }, 'tenantId=globex')]
    const acme = await own.withLimits({ scopes: ['read'], tenantId: 'acme' })
    const statuses = await Promise.all(
      [
        [id, id],
        [id, foreign],
        [foreign, id],
        [id, system.newId()],
        [id, 'none'],
      ].map(async ([left = '', right = '']) => (await compare(left, right, acme)).status),
    )
    expect(statuses).toEqual([200, 404, 404, 404, 404])
    const run = await own.withLimits({ scopes: ['run'] })
    expect((await compare(id, id, run)).status).toBe(403)
  })
})
