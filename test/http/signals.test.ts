import { beforeAll, describe, expect, it } from 'vitest'
import { system } from '../../lib/system.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import {
  type ApiClient,
  getExecutionId,
  getNextLink,
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

  it('is kept until the run waits for it', async () => {
    const id = await waiting({ seconds: 1, signal: 'go' })
    const { json } = await send(id, 'go', { body: 'early' })
    expect(await listed(id)).toEqual([
      { id: json.id, name: 'go', data: 'early', receivedAt: expect.stringMatching(/^20.*Z$/) },
    ])
    expect(await waitForExecution(call, id)).toMatchObject({ output: { data: '"early"' }, attempts: 2 })
    expect(await listed(id)).toEqual([])
  })

  it('does not resume a run that waits for another one', async () => {
    const id = await waiting()
    await send(id, 'stop', { body: 1 })
    expect(await own.getExecution(id)).toMatchObject({ waitingFor: [{ name: 'go' }], attempts: 1 })
    expect(await listed(id)).toMatchObject([{ name: 'stop', data: 1 }])
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

  it.each(['__proto__', 'constructor', 'a.b-c_D', 'a%2Db', '...', 'x'.repeat(128)])(
    'can have the name %s',
    async (name) => {
      const id = await waiting()
      expect((await send(id, name, { body: 1 })).status).toBe(202)
      expect(await listed(id)).toMatchObject([{ name: decodeURIComponent(name), data: 1 }])
    },
  )

  it.each(['a%2Fb', 'a%20b', '%C3%A4', 'go%0A', '%252e', 'x'.repeat(129)])(
    'cannot have the name %s',
    async (name) => {
      const { status, json } = await send(await waiting(), name, { body: 1 })
      expect([status, json.code]).toEqual([400, 'BadRequest'])
      expect(json.detail).toContain('1 to 128 letters, digits')
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

  it('needs a JSON body', async () => {
    const id = await waiting()
    const codeOf = async (options: RequestOptions) => (await send(id, 'go', options)).json.code
    expect(await codeOf({})).toBe('UnsupportedMediaType')
    expect(await codeOf({ raw: '{' })).toBe('InvalidJson')
    expect(await codeOf({ raw: '{"a":1,"a":2}' })).toBe('InvalidJson')
    expect(await codeOf({ raw: 'a=1', headers: { 'Content-Type': 'text/plain' } })).toBe(
      'UnsupportedMediaType',
    )
    expect(await listed(id)).toEqual([])
  })

  it('is refused after the end', async () => {
    const id = await waiting({})
    const { status, json } = await send(id, 'go', { body: 1 })
    expect([status, json.code, json.executionId]).toEqual([409, 'ExecutionEnded', id])
    expect(await listed(id)).toEqual([])
  })

  it.each(['x', '../x', system.newId()])(
    'is refused for an execution that does not exist: %s',
    async (id) => {
      const responses = [
        await send(id, 'go', { body: 1 }),
        await call('GET', `/v1/agent_executions/${id}/signals`),
      ]
      for (const { status, json } of responses) {
        expect(status).toBe(404)
        expect(json.code).toBe(id.startsWith('.') ? 'RouteNotFound' : 'ExecutionNotFound')
      }
    },
  )
})

describe('Idempotency-Key', () => {
  const headers = { 'Idempotency-Key': 'payment-1' }

  it('sends one signal, however often it is sent', async () => {
    const id = await waiting({ seconds: 2, signal: 'go' })
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => send(id, 'go', { raw: '{"a":1,"b":2}', headers })),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(202))
    expect(new Set(responses.map(({ json }) => json.id)).size).toBe(1)
    expect(await listed(id)).toHaveLength(1)
    const again = await send(id, 'go', { raw: '{"b":2, "a":1}', headers })
    expect(again.json.id).toBe(responses[0]?.json.id)
  })

  it('is refused with other data', async () => {
    const id = await waiting()
    await send(id, 'other', { body: 1, headers })
    const { status, json } = await send(id, 'other', { body: 2, headers })
    expect([status, json.code]).toEqual([422, 'IdempotencyKeyReused'])
    // Another name, another signal.
    expect((await send(id, 'next', { body: 2, headers })).status).toBe(202)
    expect((await send(id, 'next', { body: 2, headers: { 'Idempotency-Key': ' ' } })).status).toBe(400)
  })
})

describe('GET signals', () => {
  it('pages through what is unread, oldest first', async () => {
    const id = await waiting()
    for (const n of [1, 2, 3, 4, 5]) await send(id, 'many', { body: n })
    const numbers: number[] = []
    let path: string | undefined = `/v1/agent_executions/${id}/signals?limit=2`
    while (path) {
      const response = await call('GET', path)
      numbers.push(...response.json.map(({ data }: { data: number }) => data))
      path = getNextLink(response)
    }
    expect(numbers).toEqual([1, 2, 3, 4, 5])
    expect((await call('GET', `/v1/agent_executions/${id}/signals?cursor=x`)).status).toBe(400)
  })

  it('ends a page that would be too large to send', async () => {
    const id = await waiting()
    // Quotes are escaped twice on their way.
    const raw = JSON.stringify('"'.repeat(127_000))
    await Promise.all(Array.from({ length: 12 }, () => send(id, 'large', { raw })))
    const response = await call('GET', `/v1/agent_executions/${id}/signals`)
    expect([response.status, response.json.length]).toEqual([200, 9])
    const next = await call('GET', getNextLink(response) ?? '')
    expect(next.json).toHaveLength(3)
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
