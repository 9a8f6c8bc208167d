import { describe, expect, it } from 'vitest'
import { getExecutionId, idsOf } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const org = await organizationWith('failing')
const replaced = await org.publish('echo', { title: 'A' })

describe('a search in executions', async () => {
  const runOf = async (...run: Parameters<typeof org.run>) => getExecutionId(await org.run(...run))
  const thrown = await runOf('failing', { failure: 'throw' }, 'tenantId=acme')
  const rejected = await runOf('failing', { failure: 'return a list' })
  const first = await runOf('echo', { text: 'a' })
  const current = await org.publish('echo', { title: 'B' })
  const second = await runOf('echo', { text: 'b' }, `version=${current.id}`)
  const draft = await org.publish('echo', { title: 'C', draft: true })
  const ofDraft = await runOf('echo', { text: 'c' }, `version=${draft.id}`)

  const search = (query: string) => org.call('GET', `/v1/agent_executions?${query}`)
  const find = async (query: string) => idsOf((await search(query)).json)

  it('compares the error, the version and the source of records', async () => {
    expect(await find('errorCode=AgentFailed')).toEqual([thrown])
    expect(await find('errorCode=OutputSchemaMismatch&status=ERROR')).toEqual([rejected])
    expect(await find('errorText=IT%20BROKE')).toEqual([thrown])
    expect(await find('errorText=agentfailed&tenantId=acme')).toEqual([thrown])
    expect(await find('errorText=agentfailed&tenantId=globex')).toEqual([])
    expect(await find(`version=${replaced.id.toUpperCase()}`)).toEqual([first])
    expect(await find(`version=${current.id}&errorText=x`)).toEqual([])
    expect(await find('source=BATCH')).toEqual([])
    expect(await find('model=none')).toEqual([])
    const all = [ofDraft, second, first, rejected, thrown]
    expect(await find('source=API')).toEqual(all)
    expect(await find('source=API&fields=summary&status=SUCCESS')).toEqual(all.slice(0, 3))
  })

  it('says how far it has looked, only if it has searched', async () => {
    const { headers } = await search('source=BATCH')
    const [oldest] = (await search('limit=100')).json.slice(-1)
    expect(headers.get('x-searched-executions')).toBe('5')
    expect(headers.get('x-searched-until')).toBe(oldest.createdAt)
    const failed = await search('errorText=x')
    expect(failed.headers.get('x-searched-executions')).toBe('2')
    const { headers: none } = await search('source=API&to=2020-01-01T00:00:00Z')
    expect([none.get('x-searched-executions'), none.get('x-searched-until')]).toEqual(['0', null])
    const list = await search('limit=1')
    expect(list.headers.get('x-searched-executions')).toBeNull()
  })

  it('compares when executions have ended, in every list', async () => {
    const all: { id: string; finishedAt: string }[] = (await search('limit=100&fields=summary')).json
    const { finishedAt: end = '' } = all.find(({ id }) => id === first) ?? {}
    const from = encodeURIComponent(end)
    const later = encodeURIComponent(new Date(Date.parse(end) + 1).toISOString())
    const ended = all.filter(({ finishedAt }) => finishedAt >= end)
    expect(await find(`finishedFrom=${from}`)).toEqual(idsOf(ended))
    const before = all.filter((each) => !ended.includes(each))
    expect(await find(`finishedTo=${from}&limit=100`)).toEqual(idsOf(before))
    expect(await find(`finishedFrom=${from}&finishedTo=${later}&errorCode=x`)).toEqual([])
    const ofFailing = await org.call('GET', `/v1/agents/failing/executions?finishedFrom=${from}`)
    expect(ofFailing.json).toEqual([])
    const { errors } = (await search(`finishedFrom=${from}&finishedTo=${from}`)).json
    expect(errors[0].message).toBe('finishedFrom must be before finishedTo.')
    for (const query of ['status=IN_PROGRESS', 'waiting=true'])
      expect((await search(`${query}&finishedTo=${from}`)).status).toBe(400)
  })

  it('marks executions of drafts', async () => {
    const { json } = await search(`version=${draft.id}&fields=summary`)
    expect(json[0].draft).toBe(true)
    expect((await search(`version=${current.id}`)).json[0]).not.toHaveProperty('draft')
  })
})
