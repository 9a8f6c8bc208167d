import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { executionKey } from '../../lib/dynamodb/keys.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/organization.ts'
import { finalExecution } from '../support/poll.ts'

const MB = 1024 * 1024
let own: TestOrganization

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('echo')
})

async function itemsOf(executionId: string): Promise<number> {
  const { items } = await sharedTable().query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': executionKey(executionId).pk },
    ProjectionExpression: 'pk, sk',
  })
  return items.length
}

describe('a payload', () => {
  const kinds: [string, () => string][] = [
    ['text that compresses', () => 'The quick brown fox. '.repeat((5 * MB) / 21)],
    ['text that does not compress', () => randomBytes((5 * MB * 3) / 4).toString('base64')],
    ['text of many escapes', () => '"\\\n'.repeat((5 * MB) / 6)],
    ['text of astral characters', () => '😀'.repeat((5 * MB) / 4)],
  ]

  it.each(kinds)(
    'of 5 MB of %s comes back whole, sync and async, and leaves nothing when deleted',
    async (_, make) => {
      const text = make()
      const sync = await own.call('POST', '/v1/agents/echo/executions', { body: { text } })
      expect(sync.json.text === text).toBe(true)
      const id = sync.headers.get('x-execution-id') ?? ''
      const { json } = await own.call('GET', `/v1/agent_executions/${id}`)
      expect(json.input.text === text && json.output.text === text).toBe(true)

      const async = await own.call('POST', '/v1/agents/echo/executions?execMode=async', { body: { text } })
      const ended = await finalExecution(own.call, async.json.id)
      expect(ended.output.text === text).toBe(true)

      expect(await itemsOf(id)).toBeGreaterThan(1)
      expect((await own.call('DELETE', `/v1/agent_executions/${id}`)).status).toBe(204)
      expect(await itemsOf(id)).toBe(0)
    },
  )

  it.each([0, 1, 5_000, 15_950, 15_990, 16_010, 20_000, 379_000, 400_000, 1_000_000])(
    'of %i random characters comes back whole, at each border of how it is stored',
    async (length) => {
      const text = randomBytes(length).toString('base64').slice(0, length)
      const { headers, json } = await own.call('POST', '/v1/agents/echo/executions', { body: { text } })
      expect(json).toEqual({ text })
      const read = await own.call('GET', headers.get('location') ?? '')
      expect(read.json).toMatchObject({ input: { text }, output: { text } })
    },
  )

  it.each(['', '\u0000', '\ud800', 'e\u0301', '\u2028', '\\u0000'])(
    'of the text %j comes back as it was',
    async (text) => {
      const { headers, json } = await own.call('POST', '/v1/agents/echo/executions', { body: { text } })
      expect(json).toEqual({ text })
      expect((await own.call('GET', headers.get('location') ?? '')).json.input).toEqual({ text })
    },
  )

  it.each(['1e400', '1e-400', '12345678901234567890', '0.1', '-0', '1.0'])(
    'holds the number %s as JSON reads it',
    async (n) => {
      const raw = `{"text":"a","n":${n}}`
      const { headers } = await own.call('POST', '/v1/agents/echo/executions', { raw })
      const { text } = await own.call('GET', headers.get('location') ?? '')
      expect(JSON.parse(text).input).toEqual(JSON.parse(JSON.stringify(JSON.parse(raw))))
    },
  )

  it('of many large executions is split over pages, each within what a response can carry', async () => {
    const org = await newOrganization()
    await org.publish('echo')
    for (let i = 0; i < 5; i++) {
      await org.call('POST', '/v1/agents/echo/executions', { body: { text: `${i}`.repeat(MB) } })
    }
    const ids: string[] = []
    let pages = 0
    for (let next: string | undefined = '/v1/agent_executions'; next; pages++) {
      const answer = await org.call('GET', next)
      expect(answer.text.length).toBeLessThan(6_000_000)
      ids.push(...answer.json.map((execution: { id: string }) => execution.id))
      next = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    expect(pages).toBeGreaterThan(1)
    expect(new Set(ids).size).toBe(5)
    expect(ids).toHaveLength(5)
  })
})
