import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import type { Item } from '../../../lib/dynamodb/table/table.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../../support/engine/organization.ts'
import { getExecutionId, getNextLink, waitForExecution } from '../../support/service/client.ts'

const MB = 1024 * 1024
let org: TestOrganization

beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
})

/** The items of an execution, without keys. */
async function readItems(executionId: string): Promise<Item[]> {
  const { items } = await sharedTable().query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': executionKey(executionId).pk },
  })
  return items.map(({ pk, sk, openShard, openUntil, ...others }) => others)
}

describe('a payload', () => {
  const kinds: [string, () => string][] = [
    ['text that compresses', () => 'The quick brown fox. '.repeat((5 * MB) / 21)],
    ['text that does not compress', () => randomBytes((5 * MB * 3) / 4).toString('base64')],
    // The event of Lambda contains the body as a JSON string, which escapes the escapes: 11 bytes.
    ['text with many escapes', () => '"\\\n'.repeat((5 * MB) / 11)],
    ['text of astral characters', () => '😀'.repeat((5 * MB) / 4)],
  ]

  it.each(kinds)(
    'that takes 5 MB of %s is returned unchanged, sync and async, and deleted completely',
    async (_, make) => {
      const text = make()
      const sync = await org.run('echo', { text })
      expect(sync.json.text === text).toBe(true)
      const id = getExecutionId(sync)
      const record = await org.getExecution(id)
      expect(record.input.text === text && record.output.text === text).toBe(true)

      const async = await org.run('echo', { text }, 'execMode=async')
      const ended = await waitForExecution(org.call, async.json.id)
      expect(ended.output.text === text).toBe(true)

      expect((await readItems(id)).length).toBeGreaterThan(1)
      expect((await org.call('DELETE', `/v1/agent_executions/${id}`)).status).toBe(204)
      const [tombstone, ...others] = await readItems(id)
      expect(others).toEqual([])
      expect(tombstone).toMatchObject({ organizationId: org.id, deleted: true, purged: true })
      // What its usage is counted by.
      expect(JSON.stringify(tombstone).length).toBeLessThan(600)
    },
  )

  it.each([0, 1, 5_000, 15_950, 15_990, 16_010, 20_000, 379_000, 400_000, 1_000_000])(
    'of %i random characters is returned unchanged, at each limit of the storage format',
    async (length) => {
      const text = randomBytes(length).toString('base64').slice(0, length)
      const { headers, json } = await org.run('echo', { text })
      expect(json).toEqual({ text })
      const read = await org.call('GET', headers.get('location') ?? '')
      expect(read.json).toMatchObject({ input: { text }, output: { text } })
    },
  )

  it('list of large executions is split into pages below the response limit', async () => {
    const other = await newOrganization()
    await other.publish('echo')
    for (let i = 0; i < 5; i++) {
      await other.run('echo', { text: `${i}`.repeat(MB) })
    }
    const ids: string[] = []
    let pages = 0
    for (let next: string | undefined = '/v1/agent_executions'; next; pages++) {
      const response = await other.call('GET', next)
      expect(response.text.length).toBeLessThan(6_000_000)
      ids.push(...response.json.map((execution: { id: string }) => execution.id))
      next = getNextLink(response)
    }
    expect(pages).toBeGreaterThan(1)
    expect(new Set(ids).size).toBe(5)
    expect(ids).toHaveLength(5)
  })
})
