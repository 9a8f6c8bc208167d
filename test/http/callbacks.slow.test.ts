import { describe, expect, inject, it } from 'vitest'
import { macOf } from '../../lib/core/callback-mac.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { comparable } from '../contract/world.ts'
import { sharedTable } from '../support/engine/organization.ts'
import {
  createClient,
  getExecutionId,
  type RequestOptions,
  waitForExecution,
} from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const own = await organizationWith('calls-back', 'waits')

const anyone = createClient(inject('service'), null)
const post = (path: string, options: RequestOptions = { body: { id: 'p-1' } }) =>
  anyone('POST', path, options)

/** A run that is suspended until it is called back. */
async function waiting() {
  const id = getExecutionId(await own.run('calls-back', {}))
  const record = await openStores(sharedTable()).executions.getForCallback({ id })
  const secret = record?.callbackSecret ?? ''
  const mac = macOf(secret, id, 'paid')
  return { id, secret, mac, path: `/v1/callbacks/${id}/paid/${mac}` }
}

describe('a callback', () => {
  it('resumes the run without a token, by the same URL in each attempt', async () => {
    const { id, path } = await waiting()
    const response = await post(path)
    expect([response.status, response.json]).toEqual([202, { executionId: id, id: expect.any(String) }])
    const record = await waitForExecution(own.call, id)
    expect(record).toMatchObject({ status: 'SUCCESS', output: { id: 'p-1', isSame: true }, attempts: 2 })
  })

  it('can come without a body, and is one with the same idempotency key', async () => {
    const { id, secret } = await waiting()
    const path = `/v1/callbacks/${id}/done/${macOf(secret, id, 'done')}`
    const headers = { 'Idempotency-Key': 'event-1' }
    const responses = [await post(path, { headers }), await post(path, { headers })]
    expect(responses.map(({ status }) => status)).toEqual([202, 202])
    const { json } = await own.call('GET', `/v1/agent_executions/${id}/signals`)
    expect(json).toMatchObject([{ id: responses[0]?.json.id, name: 'done', data: null }])
    expect((await post(path, { body: 1, headers })).json.code).toBe('IdempotencyKeyReused')
  })

  it('is shown nowhere', async () => {
    const { id, secret, mac, path } = await waiting()
    const texts = async () => {
      const paths = ['', '/steps', '/signals']
      const requests = paths.map((each) => own.call('GET', `/v1/agent_executions/${id}${each}`))
      const events = own.call('GET', `/v1/agent_executions/${id}/events`)
      const lists = own.call('GET', '/v1/agents/calls-back/executions')
      return (await Promise.all([...requests, events, lists])).map(({ text }) => text).join('\n')
    }
    const before = await texts()
    await post(path)
    const { logs } = await waitForExecution(own.call, id)
    expect(logs).toContain(`/v1/callbacks/${id}/paid/[secret callback].`)
    const after = await texts()
    for (const text of [before, after]) {
      expect(text).toContain(`/v1/callbacks/${id}/paid/[secret callback]`)
      expect(text).not.toContain(secret)
      expect(text).not.toContain(mac)
      expect(text).not.toContain(mac.slice(-43))
    }
  })
})

it('a callback that no run has made gets the response for a run that does not exist', async () => {
  const { id, mac, secret, path } = await waiting()
  const other = await waiting()
  const theirs = getExecutionId(await own.run('waits', { signal: 'paid' }))
  const ended = await waiting()
  await own.call('POST', `/v1/agent_executions/${ended.id}/cancel`)
  const missing = system.newId()
  const guessed = [
    `/v1/callbacks/${missing}/paid/${mac}`,
    `/v1/callbacks/x/paid/${mac}`,
    `/v1/callbacks/${id}/paid/guessed`,
    `/v1/callbacks/${id}/paid/${mac.slice(0, -1)}`,
    `/v1/callbacks/${id}/paid/${mac}x`,
    `/v1/callbacks/${id}/paid/${mac.slice(0, -1)}%C3%A4`,
    `/v1/callbacks/${id}/paid/${mac.toLowerCase()}`,
    `/v1/callbacks/${id}/paid/${other.mac}`,
    `/v1/callbacks/${id}/other/${mac}`,
    `/v1/callbacks/${id}/a%2Fb/${macOf(secret, id, 'a/b')}`,
    `/v1/callbacks/${id}/__proto__/${mac}`,
    // A run without callbacks, whose secret is none.
    `/v1/callbacks/${theirs}/paid/${macOf('', theirs, 'paid')}`,
    `/v1/callbacks/${theirs}/paid/${macOf('null', theirs, 'paid')}`,
    ended.path,
  ]
  const expected = comparable(await post(`/v1/callbacks/${missing}/paid/guessed`))
  expect(expected[0]).toBe(404)
  for (const each of guessed) expect(comparable(await post(each)), each).toEqual(expected)
  const { json } = await own.call('GET', `/v1/agent_executions/${id}/signals`)
  expect(json).toEqual([])
  // A token changes nothing, and the ID is one in capital letters, too.
  expect(comparable(await own.call('POST', guessed[2] ?? '', { body: { id: 'p-1' } }))).toEqual(expected)
  expect((await post(path.replace(id, id.toUpperCase()))).status).toBe(202)
})
