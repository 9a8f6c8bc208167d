import { beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiResponse, getExecutionId, getNextLink } from '../support/service/client.ts'
import { type Column, openColumns } from '../support/service/token-columns.ts'

const idsOf = ({ json }: ApiResponse) => json.map(({ id }: { id: string }) => id)

describe('a search in executions', () => {
  let org: TestOrganization
  let other: TestOrganization
  let versions: Version[]
  let draft: Version
  let [thrown, rejected, first, second, ofDraft]: string[] = []
  beforeAll(async () => {
    ;[org, other] = [await newOrganization(), await newOrganization()]
    versions = [await org.publish('echo', { title: 'A' })]
    for (const slug of ['failing', 'counted']) await org.publish(slug)
    thrown = getExecutionId(await org.run('failing', { failure: 'throw' }, 'tenantId=acme'))
    rejected = getExecutionId(await org.run('failing', { failure: 'return a list' }))
    first = getExecutionId(await org.run('echo', { text: 'a' }))
    versions.push(await org.publish('echo', { title: 'B' }))
    second = getExecutionId(await org.run('echo', { text: 'b' }, `version=${versions[1]?.id}`))
    draft = await org.publish('echo', { title: 'C', draft: true })
    ofDraft = getExecutionId(await org.run('echo', { text: 'c' }, `version=${draft.id}`))
  })

  const search = (query: string) => org.call('GET', `/v1/agent_executions?${query}`)

  it('compares the error, the version and the source of records', async () => {
    expect(idsOf(await search('errorCode=AgentFailed'))).toEqual([thrown])
    expect(idsOf(await search('errorCode=OutputSchemaMismatch&status=ERROR'))).toEqual([rejected])
    expect(idsOf(await search('errorText=IT%20BROKE'))).toEqual([thrown])
    expect(idsOf(await search('errorText=agentfailed&tenantId=acme'))).toEqual([thrown])
    expect(idsOf(await search('errorText=agentfailed&tenantId=globex'))).toEqual([])
    expect(idsOf(await search(`version=${versions[0]?.id.toUpperCase()}`))).toEqual([first])
    expect(idsOf(await search(`version=${versions[1]?.id}&errorText=x`))).toEqual([])
    expect(idsOf(await search('source=BATCH'))).toEqual([])
    expect(idsOf(await search('model=none'))).toEqual([])
    const all = [ofDraft, second, first, rejected, thrown]
    expect(idsOf(await search('source=API'))).toEqual(all)
    expect(idsOf(await search('source=API&fields=summary&status=SUCCESS'))).toEqual(all.slice(0, 3))
  })

  it('is the same in the list of an agent', async () => {
    const list = (query: string) => org.call('GET', `/v1/agents/failing/executions?${query}`)
    expect(idsOf(await list('errorText=it+broke'))).toEqual([thrown])
    expect(idsOf(await list(`version=${versions[0]?.id}`))).toEqual([])
  })

  it('says how far it has looked, only if it has searched', async () => {
    const { headers } = await search('source=BATCH')
    const [oldest] = (await search('limit=100')).json.slice(-1)
    expect(headers.get('x-searched-executions')).toBe('5')
    expect(headers.get('x-searched-until')).toBe(oldest.createdAt)
    const failed = await search('errorText=x')
    expect(failed.headers.get('x-searched-executions')).toBe('2')
    const none = await search('source=API&to=2020-01-01T00:00:00Z')
    expect([none.headers.get('x-searched-executions'), none.headers.get('x-searched-until')]).toEqual([
      '0',
      null,
    ])
    const list = await search('limit=1')
    expect(list.headers.get('x-searched-executions')).toBeNull()
  })

  it('continues at the next link with the same filters', async () => {
    const seen: string[] = []
    let looked = 0
    for (let link: string | undefined = '/v1/agent_executions?source=API&limit=1&fields=summary'; link; ) {
      const page: ApiResponse = await org.call('GET', link)
      expect(page.json.length).toBeLessThanOrEqual(1)
      looked += Number(page.headers.get('x-searched-executions'))
      seen.push(...idsOf(page))
      link = getNextLink(page)
      if (link) expect(link).toContain('source=API')
    }
    expect([seen.length, looked]).toEqual([5, 5])
  })

  it('leaves out what was deleted', async () => {
    const id = getExecutionId(await org.run('failing', { failure: 'throw a string' }))
    expect(idsOf(await search('errorText=just+text'))).toEqual([id])
    expect((await org.call('DELETE', `/v1/agent_executions/${id}`)).status).toBe(204)
    const { json, headers } = await search('errorText=just+text')
    expect([json, headers.get('x-searched-executions')]).toEqual([[], '2'])
  })

  it('marks executions of drafts', async () => {
    const { json } = await search(`version=${draft.id}&fields=summary`)
    expect(json[0].draft).toBe(true)
    expect((await search(`version=${versions[1]?.id}`)).json[0]).not.toHaveProperty('draft')
  })

  it.each<[Column, number, number]>([
    ['run', 403, 0],
    ['read', 200, 1],
    ['manage', 403, 0],
    ['other tenant', 200, 0],
    ['other agent', 200, 0],
    ['other org', 200, 0],
  ])('with the token %s: %i, finds %i', async (column, status, count) => {
    const clients = await openColumns(org, other)
    const response = await clients[column]('GET', `/v1/agent_executions?version=${versions[0]?.id}`)
    expect(response.status).toBe(status)
    if (status !== 200) return
    expect(response.json).toHaveLength(count)
    if (count === 0) expect(response.headers.get('x-searched-executions')).toBe('0')
  })
})
