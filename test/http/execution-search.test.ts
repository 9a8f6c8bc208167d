import { beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiResponse, getExecutionId } from '../support/service/client.ts'

const idsOf = ({ json }: ApiResponse) => json.map(({ id }: { id: string }) => id)

describe('a search in executions', () => {
  let org: TestOrganization
  let versions: Version[]
  let draft: Version
  let [thrown, rejected, first, second, ofDraft]: string[] = []
  beforeAll(async () => {
    org = await newOrganization()
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

  it('compares when executions have ended, in every list', async () => {
    const [all] = [(await search('limit=100&fields=summary')).json]
    const endOf = (id = '') => all.find((each: { id: string }) => each.id === id).finishedAt
    const from = encodeURIComponent(endOf(first))
    const ended = all.filter((each: { finishedAt: string }) => each.finishedAt >= endOf(first))
    expect(idsOf(await search(`finishedFrom=${from}`))).toEqual(ended.map(({ id }: { id: string }) => id))
    const before = await search(`finishedTo=${from}&limit=100`)
    expect(idsOf(before)).toEqual(
      idsOf({ json: all } as ApiResponse).filter((id: string) => endOf(id) < endOf(first)),
    )
    expect(
      idsOf(await search(`finishedFrom=${from}&finishedTo=${from.replace('Z', '9Z')}&errorCode=x`)),
    ).toEqual([])
    expect(idsOf(await org.call('GET', `/v1/agents/failing/executions?finishedFrom=${from}`))).toEqual([])
    expect((await search(`finishedFrom=${from}&finishedTo=${from}`)).json.errors[0].message).toBe(
      'finishedFrom must be before finishedTo.',
    )
    for (const query of ['status=IN_PROGRESS', 'waiting=true'])
      expect((await search(`${query}&finishedTo=${from}`)).status).toBe(400)
  })

  it('marks executions of drafts', async () => {
    const { json } = await search(`version=${draft.id}&fields=summary`)
    expect(json[0].draft).toBe(true)
    expect((await search(`version=${versions[1]?.id}`)).json[0]).not.toHaveProperty('draft')
  })
})
