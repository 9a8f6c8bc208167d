import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
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

  it.each<[object, string]>([
    [{ rating: 1 }, '/rating'],
    [{ versionId: 'none' }, '/versionId'],
    [{ tools: { default: 'dead' } }, '/tools/default'],
    [{ tools: { search: 'recorded' } }, '/tools/search'],
    [{ ignore: ['at'] }, '/ignore/0'],
    [{ ignore: Array(101).fill('/a') }, '/ignore'],
  ])('is refused for fields that are not valid: %#', async (body, path) => {
    const { status, json } = await rerun(await newExecution(), { body })
    expect([status, json.code, json.errors?.[0]?.path]).toEqual([422, 'InputSchemaMismatch', path])
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
})
