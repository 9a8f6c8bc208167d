import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import {
  type ApiClient,
  getExecutionId,
  type RequestOptions,
  waitForExecution,
} from '../support/service/client.ts'

let own: TestOrganization
let call: ApiClient
beforeAll(async () => {
  own = await newOrganization()
  call = own.call
  await Promise.all([own.publish('waits'), own.publish('calls-back')])
})

/** A run that is suspended on the signal `go`. */
const waiting = async (input: object = { signal: 'go' }) => getExecutionId(await own.run('waits', input))

const send = (id: string, name: string, options: RequestOptions = {}) =>
  call('POST', `/v1/agent_executions/${id}/signals/${name}`, options)

const listed = async (id: string) => (await call('GET', `/v1/agent_executions/${id}/signals`)).json

describe('a signal', () => {
  it('resumes the run that waits for it', async () => {
    const id = await waiting()
    const response = await send(id, 'go', { body: { paid: true } })
    expect([response.status, response.json]).toEqual([202, { executionId: id, id: expect.any(String) }])
    const record = await waitForExecution(call, id)
    expect(record).toMatchObject({ status: 'SUCCESS', output: { data: '{"paid":true}' }, attempts: 2 })
  })

  it.each(['null', 'true', '[]', '""', '12345678901234567890.10', '{"__proto__":{"a":1},"constructor":2}'])(
    'can be any JSON, and keeps it as it was sent: %s',
    async (raw) => {
      const id = await waiting()
      expect((await send(id, 'kept', { raw })).status).toBe(202)
      const { text } = await call('GET', `/v1/agent_executions/${id}/signals`)
      expect(text).toContain(`"data":${raw},`)
      expect((await send(id, 'go', { raw })).status).toBe(202)
      await waitForExecution(call, id)
      const steps = await call('GET', `/v1/agent_executions/${id}/steps`)
      expect(steps.text).toContain(`"result":${raw},`)
    },
  )

  it('has at most 256 kB', async () => {
    const id = await waiting()
    const statusOf = async (raw: string) => {
      const { status, json } = await send(id, 'large', { raw })
      return [status, json.code]
    }
    expect(await statusOf(JSON.stringify('x'.repeat(255_998)))).toEqual([202, undefined])
    expect(await statusOf(JSON.stringify('x'.repeat(255_999)))).toEqual([413, 'PayloadTooLarge'])
    expect(await statusOf(JSON.stringify('x'.repeat(5_000_000)))).toEqual([413, 'PayloadTooLarge'])
    // A number that becomes longer.
    expect(await statusOf(`[${Array(20_000).fill('1e20').join()}]`)).toEqual([413, 'PayloadTooLarge'])
    const [kept] = await listed(id)
    expect(kept.data).toHaveLength(255_998)
  })

  it('is refused after the end', async () => {
    const id = await waiting({})
    const { status, json } = await send(id, 'go', { body: 1 })
    expect([status, json.code, json.executionId]).toEqual([409, 'ExecutionEnded', id])
    expect(await listed(id)).toEqual([])
  })
})

describe('data that violates the schema of a wait', () => {
  it('is refused while the run waits', async () => {
    const id = getExecutionId(await own.run('calls-back', {}))
    const { status, json } = await send(id, 'paid', { body: { id: 1 } })
    expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
    expect(json.errors).toMatchObject([{ path: '/id' }])
    expect(await listed(id)).toEqual([])
    expect((await send(id, 'paid', { body: { id: '1' } })).status).toBe(202)
    expect(await waitForExecution(call, id)).toMatchObject({ output: { id: '1' } })
  })
})
