import { describe, expect, it } from 'vitest'
import { getExecutionId, idsOf } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const own = await organizationWith('waits')

/** A run that waits for a signal which nobody sends. */
async function suspended() {
  const response = await own.run('waits', { signal: 'go' })
  return { response, id: getExecutionId(response) }
}

describe('a synchronous run that waits', () => {
  it('answers 202 with its record, which says what it waits for', async () => {
    const { response, id } = await suspended()
    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toBe(`/v1/agent_executions/${id}`)
    const waitingFor = [{ kind: 'signal', name: 'go', signals: ['go'], until: null, step: 1 }]
    expect(response.json).toMatchObject({ id, status: 'IN_PROGRESS', waitingFor })
  })

  it('says so also to a token that may only run', async () => {
    const runner = await own.withLimits({ scopes: ['run'] })
    const { json } = await runner('POST', '/v1/agents/waits/executions', { body: { signal: 'go' } })
    expect(json).toMatchObject({ waitingFor: [{ name: 'go' }], feedback: null })
  })
})

describe('lists with waiting', () => {
  const list = async (query: string, path = 'agent_executions') =>
    own.call('GET', `/v1/${path}?limit=100&${query}`)

  it('return only suspended runs, or only others', async () => {
    const { id } = await suspended()
    const ended = (await suspended()).id
    await own.call('POST', `/v1/agent_executions/${ended}/cancel`)
    const ofAgents = ['agent_executions', 'agents/waits/executions']
    for (const path of [...ofAgents, ...ofAgents.map((each) => each.replace('agent', 'document'))])
      for (const query of ['waiting=true', 'waiting=true&status=IN_PROGRESS&fields=summary']) {
        const { json } = await list(query, path)
        expect(idsOf(json)).toContain(id)
        expect(json.every(({ waitingFor }: { waitingFor: unknown }) => waitingFor !== null)).toBe(true)
      }
    const others = (await list('waiting=false')).json
    expect(idsOf(others)).toContain(ended)
    expect(idsOf(others)).not.toContain(id)
    expect((await list('waiting=false&status=IN_PROGRESS')).json).toEqual([])
  })
})

it('the events of a suspended run end with what it waits for', async () => {
  const { id } = await suspended()
  const { text } = await own.call('GET', `/v1/agent_executions/${id}/events`)
  const [waiting] = /event: waiting\ndata: (.*)\n/.exec(text)?.slice(1) ?? []
  expect(JSON.parse(waiting ?? '')).toMatchObject({ id, waitingFor: [{ kind: 'signal', name: 'go' }] })
  expect(text).toMatch(/retry: \d+\n\n$/)
  expect(text).not.toContain('event: done')
})
