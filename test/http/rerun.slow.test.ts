import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { getExecutionId, waitForExecution } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const own = await organizationWith('echo', 'three-steps')

const pathOf = (id: string) => `/v1/agent_executions/${id}`
const rerun = (id: string, body?: unknown, client = own.call) =>
  client('POST', `${pathOf(id)}/rerun`, { body })

/** The record of the end of a rerun. */
async function ended(id: string) {
  const { status, json, text } = await rerun(id)
  expect(status, text).toBe(202)
  return waitForExecution(own.call, json.id)
}

const newExecution = async (input: object = { text: 'x' }, query = 'tenantId=acme', slug = 'echo') =>
  getExecutionId(await own.run(slug, input, query))

const publishDraft = async () => (await own.publish('echo', { draft: true, title: randomUUID() })).id

describe('a rerun', () => {
  it('is a new run with the input, the tenant and the options of the execution', async () => {
    const query = 'tenantId=acme&maxAgentSteps=7&useCache=true'
    const id = await newExecution({ text: 'again', count: '3' }, query)
    const response = await rerun(id)
    expect(response.status, response.text).toBe(202)
    const { json: started, headers } = response
    expect(headers.get('location')).toBe(pathOf(started.id))
    expect(started.id).not.toBe(id)
    const record = await waitForExecution(own.call, started.id)
    const original = await own.getExecution(id)
    const expected = { status: 'SUCCESS', source: 'API', selectedBy: 'CURRENT', cached: false }
    expect(record).toMatchObject({ ...expected, originalExecutionId: id })
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
      return Promise.all(clients.map(async (client) => (await rerun(id, body, client)).status))
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
    const { status, json } = await rerun(await newExecution(), body)
    expect([status, json.code, json.errors?.[0]?.path]).toEqual([422, 'InputSchemaMismatch', path])
  })
})

describe('a comparison', () => {
  const compare = (left: string, right: string) => own.call('GET', `${pathOf(left)}/compare/${right}`)

  it('shows the summaries, the results and the steps', async () => {
    const id = await newExecution({ log: '/dev/null' }, '', 'three-steps')
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
    const steps = ['first', 'second', 'third'].map((name) => expect.objectContaining({ name, isSame: true }))
    expect(json.steps).toEqual(expect.arrayContaining(steps))
    const other = await newExecution({ text: 'b' })
    const { json: changed } = await compare(await newExecution({ text: 'a' }), other)
    expect(changed.request.differences).toEqual([{ path: '/input/text', left: 'a', right: 'b' }])
    expect(changed.differences).toEqual([{ path: '/output/text', left: 'a', right: 'b' }])
    expect((await compare(id, other)).json.steps[0]).toMatchObject({ number: 1, otherNumber: null })
  })
})
