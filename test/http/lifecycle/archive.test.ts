import { beforeAll, describe, expect, it } from 'vitest'
import { type Lifecycle, newLifecycle } from './lifecycle-client.ts'

let org: Lifecycle
beforeAll(async () => {
  org = await newLifecycle()
})

const archive = (slug: string) => org.post(`/v1/agents/${slug}/archive`)
const restore = (slug: string) => org.post(`/v1/agents/${slug}/restore`)

describe.concurrent('an archived agent', () => {
  it('responds to new runs of every version with 410 AgentArchived, until it is restored', async () => {
    const version = await org.publishSaying('closed', 'A')
    const draft = await org.publishSaying('closed', 'B', { draft: true })
    const { status, json } = await archive('closed')
    expect([status, json.archivedAt]).toEqual([200, expect.any(String)])
    for (const query of [
      '',
      'execMode=async',
      'useCache=true',
      `version=${version.id}`,
      `version=${draft.id}`,
    ]) {
      const response = await org.run('closed', { name: 'x' }, query)
      expect([response.status, response.json.code], query).toEqual([410, 'AgentArchived'])
    }
    expect((await org.call('GET', '/v1/agents/closed/executions')).json).toEqual([])
    expect((await restore('closed')).json.archivedAt).toBeNull()
    expect((await org.run('closed', { name: 'x' })).json.said).toBe('A')
  })
})
