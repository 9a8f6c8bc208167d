import { beforeAll, describe, expect, it } from 'vitest'
import { system } from '../../lib/system.ts'
import { aModelAgent } from '../support/model-agent.ts'
import { newOrganization, type TestOrganization } from '../support/organization.ts'
import { finalExecution } from '../support/poll.ts'

/** Gives back what it was sent. */
const CODE = 'export default (input) => ({ got: JSON.stringify(input) })'
const RUN = '/v1/agents/artist/executions'
let own: TestOrganization

beforeAll(async () => {
  own = await newOrganization()
  await aModelAgent(
    {
      organizationId: own.id,
      slug: 'artist',
      code: true,
      inputSchema: {
        artistName: { type: 'string', description: 'Who.' },
        limit: { type: 'integer', description: 'How many.', default: 5 },
        style: { type: 'string', enum: ['pop', 'jazz'], description: 'Which.', required: false },
      },
      outputSchema: { got: { type: 'string', description: 'What arrived.' } },
    },
    CODE,
  )
})

const recordOf = async (id: string | null) => (await own.call('GET', `/v1/agent_executions/${id}`)).json

describe('an input that does not match its schema', () => {
  const sent = { 'artist-name': 'Ella', limit: '3', style: 'Jazz', mood: 'blue' }
  const effective = { artistName: 'Ella', limit: 3, style: 'jazz', mood: 'blue' }

  it('is adapted, and the record keeps what was sent and what was changed', async () => {
    const answer = await own.call('POST', RUN, { body: sent })
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.json.got)).toEqual(effective)
    const record = await recordOf(answer.headers.get('x-execution-id'))
    expect(record.input).toEqual(sent)
    const changes = record.inputAdaptations.map(({ kind, path }: { kind: string; path: string }) => [
      kind,
      path,
    ])
    expect(changes.sort()).toEqual([
      ['converted', '/limit'],
      ['converted', '/style'],
      ['renamed', '/artistName'],
    ])
  })

  it('is adapted in the runner too', async () => {
    const { json } = await own.call('POST', `${RUN}?execMode=async`, { body: sent })
    expect(json.inputAdaptations).toHaveLength(3)
    expect(JSON.parse((await finalExecution(own.call, json.id)).output.got)).toEqual(effective)
  })

  it('is refused in strict mode, with each thing that is wrong', async () => {
    const { status, json } = await own.call('POST', `${RUN}?enforceInputSchema=true`, { body: sent })
    expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
    const paths = json.errors.map(({ path }: { path: string }) => path).sort()
    expect(paths).toEqual(['/artist-name', '/artistName', '/limit', '/mood', '/style'])
    const messages = json.errors.map(({ message }: { message: string }) => message).join('\n')
    expect(messages).toContain('did you mean artistName?')
    expect(await own.call('GET', `${RUN}?limit=100`).then(({ json: all }) => all.length)).toBe(2)
  })

  it('runs when a field is missing, and with the default of one that has it', async () => {
    const answer = await own.call('POST', RUN, { body: {} })
    expect(JSON.parse(answer.json.got)).toEqual({ limit: 5 })
    const strict = await own.call('POST', `${RUN}?enforceInputSchema=true`, { body: { artistName: 'Ella' } })
    expect(JSON.parse(strict.json.got)).toEqual({ artistName: 'Ella', limit: 5 })
  })

  it('shares the cached result of the input that it becomes', async () => {
    const artist = system.newId()
    const first = await own.call('POST', `${RUN}?useCache=true`, { body: { artistName: artist, limit: 3 } })
    const second = await own.call('POST', `${RUN}?useCache=true`, {
      body: { 'Artist Name': artist, limit: '3' },
    })
    expect(second.headers.get('x-cached-document-execution-id')).toBe(first.headers.get('x-execution-id'))
    expect((await recordOf(second.headers.get('x-execution-id'))).input).toEqual({
      'Artist Name': artist,
      limit: '3',
    })
  })
})
