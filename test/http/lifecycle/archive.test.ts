import { beforeAll, describe, expect, it } from 'vitest'
import { type Lifecycle, newLifecycle } from './lifecycle-client.ts'

let org: Lifecycle
beforeAll(async () => {
  org = await newLifecycle()
})

const archive = (slug: string) => org.post(`/v1/agents/${slug}/archive`)
const restore = (slug: string) => org.post(`/v1/agents/${slug}/restore`)
const listed = async (query = '') => {
  const { json } = await org.call('GET', `/v1/agents?limit=100&${query}`)
  return json.map(({ slug }: { slug: string }) => slug)
}

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

  it('is left out of lists unless archived=true, and can be read', async () => {
    const { id, documentId } = await org.publishSaying('hidden', 'A')
    await org.run('hidden', { name: 'x' })
    const { json } = await archive('hidden')
    expect(await listed()).not.toContain('hidden')
    expect(await listed('archived=false')).not.toContain('hidden')
    expect(await listed('archived=true')).toContain('hidden')
    expect(await org.agent('hidden')).toEqual(json)
    expect((await org.versions('hidden')).map((version) => version.id)).toEqual([id])
    expect((await org.call('GET', `/v1/agents/hidden/versions/${id}`)).status).toBe(200)
    const [execution] = (await org.call('GET', '/v1/agents/hidden/executions')).json
    expect((await org.getExecution(execution.id)).documentId).toBe(documentId)
    const limited = await org.withLimits({ agents: ['hidden'] })
    expect((await limited('GET', '/v1/agents')).json).toEqual([])
    expect((await limited('GET', '/v1/agents?archived=true')).json).toHaveLength(1)
    await restore('hidden')
    expect(await listed()).toContain('hidden')
  })
})
