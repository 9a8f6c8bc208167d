import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { getExecutionId, waitForExecution } from '../support/service/client.ts'

let org: TestOrganization
const ECHO = '/v1/agents/echo/executions'
const WAIT = '/v1/agents/wait/executions'

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  await org.publish('wait')
})

const post = (path: string, key: string, body: unknown, by = org) =>
  by.call('POST', path, { body, headers: { 'Idempotency-Key': key } })

const executionsOf = async (by: TestOrganization) => (await by.call('GET', '/v1/agent_executions')).json

describe.concurrent('an Idempotency-Key', () => {
  it('creates one execution for 20 concurrent asynchronous requests', async () => {
    const by = await newOrganization()
    await by.publish('echo')
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => post(`${ECHO}?execMode=async`, 'twenty', { text: 'x' }, by)),
    )
    expect(responses.map(({ status }) => status).every((status) => status === 202 || status === 200)).toBe(
      true,
    )
    const [id, ...others] = new Set(responses.map(({ json }) => json.id))
    expect(others).toEqual([])
    expect(await waitForExecution(by.call, id)).toMatchObject({ status: 'SUCCESS', output: { text: 'x' } })
    expect(await executionsOf(by)).toHaveLength(1)
  })

  it('creates one execution for 20 concurrent synchronous requests; the others get 409 or its output', async () => {
    const by = await newOrganization()
    await by.publish('wait')
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => post(WAIT, 'twenty', { seconds: 1 }, by)),
    )
    const ran = responses.filter(({ status }) => status === 200)
    const refused = responses.filter(({ status }) => status === 409)
    expect(ran.length).toBeGreaterThanOrEqual(1)
    expect(ran.length + refused.length).toBe(20)
    const executions = await executionsOf(by)
    expect(executions).toHaveLength(1)
    for (const { json } of refused) {
      expect(json).toMatchObject({ code: 'ExecutionInProgress', executionId: executions[0].id })
    }
    const again = await post(WAIT, 'twenty', { seconds: 1 }, by)
    expect([again.status, again.json]).toEqual([200, ran[0]?.json])
    expect(getExecutionId(again)).toBe(executions[0].id)
  })

  it('leads to the same execution, sync or async, for every spelling of the body', async () => {
    const first = await post(ECHO, 'spelling', { text: 'same' })
    const raw = '{ "text" : "s\\u0061me" }'
    const headers = { 'idempotency-key': 'spelling', 'Content-Type': 'application/json' }
    const second = await org.call('POST', ECHO, { raw, headers })
    expect([second.status, second.json]).toEqual([200, { text: 'same' }])
    expect(getExecutionId(second)).toBe(getExecutionId(first))
    const third = await post(`${ECHO}?execMode=async`, 'spelling', { text: 'same' })
    expect([third.status, third.json.id]).toEqual([200, getExecutionId(first)])
  })

  it.each([
    ['body', ECHO, { text: 'two' }],
    ['tenant', `${ECHO}?tenantId=other`, { text: 'one' }],
    ['step limit', `${ECHO}?maxAgentSteps=7`, { text: 'one' }],
  ])('is rejected with a different %s', async (what, path, body) => {
    await post(ECHO, `reused ${what}`, { text: 'one' })
    const { status, json } = await post(path, `reused ${what}`, body)
    expect([status, json.code]).toEqual([422, 'IdempotencyKeyReused'])
  })

  it('leads to the same failure', async () => {
    const first = await post(WAIT, 'fails', { seconds: -1 })
    const second = await post(WAIT, 'fails', { seconds: -1 })
    expect(first.status).toBe(500)
    expect([second.status, second.json.executionId, second.json.error]).toEqual([
      500,
      first.json.executionId,
      first.json.error,
    ])
  })

  it('is scoped to the organization and agent', async () => {
    const by = await newOrganization()
    await by.publish('echo')
    await by.publish('wait')
    const responses = [
      await post(ECHO, 'shared', { text: 'x' }),
      await post(ECHO, 'shared', { text: 'x' }, by),
      await post(WAIT, 'shared', { seconds: 0 }, by),
    ]
    expect(new Set(responses.map(getExecutionId)).size).toBe(3)
  })

  it('can be reused once its execution is deleted', async () => {
    const first = await post(ECHO, 'deleted', { text: 'x' })
    const id = getExecutionId(first)
    expect((await org.call('DELETE', `/v1/agent_executions/${id}`)).status).toBe(204)
    const second = await post(ECHO, 'deleted', { text: 'y' })
    expect([second.status, second.json]).toEqual([200, { text: 'y' }])
    expect(getExecutionId(second)).not.toBe(id)
  })

  it.each(['', ' ', 'é', 'tab\tin', 'k'.repeat(256), ' led'])('is rejected if it is "%s"', async (key) => {
    const response = await org.call('POST', ECHO, {
      body: { text: 'x' },
      // Undici rejects values outside Latin-1 and trims spaces, as every client does.
      headers: { 'Idempotency-Key': key },
    })
    const isValidWhenTrimmed = key.trim().length > 0 && key.trim() !== key
    if (isValidWhenTrimmed) return expect(response.status).toBe(200)
    expect([response.status, response.json.code, response.json.errors[0].path]).toEqual([
      400,
      'InvalidHeader',
      'Idempotency-Key',
    ])
  })

  it('may have 255 characters', async () => {
    expect((await post(ECHO, 'k'.repeat(255), { text: 'x' })).status).toBe(200)
  })
})
