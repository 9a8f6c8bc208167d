import { beforeAll, describe, expect, it } from 'vitest'
import { aModelAgent } from '../support/engine/model-agent.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { getExecutionId } from '../support/service/client.ts'

/** Returns its input as text. */
const CODE = 'export default (input) => ({ got: JSON.stringify(input) })'

let org: TestOrganization

describe('adaptation', () => {
  const RUN = '/v1/agents/artist/executions'

  beforeAll(async () => {
    org = await newOrganization()
    await aModelAgent(
      {
        organizationId: org.id,
        slug: 'artist',
        code: true,
        inputSchema: {
          artistName: { type: 'string', description: 'The name of the artist.' },
          limit: { type: 'integer', description: 'The number of songs.', default: 5 },
          style: {
            type: 'string',
            enum: ['pop', 'jazz'],
            description: 'The musical style.',
            required: false,
          },
        },
        outputSchema: { got: { type: 'string', description: 'The input that the agent received.' } },
      },
      { code: CODE, table: sharedTable() },
    )
  })

  describe('an input that does not match its schema', () => {
    const sent = { 'artist-name': 'Ella', limit: '3', style: 'Jazz', mood: 'blue' }
    const effective = { artistName: 'Ella', limit: 3, style: 'jazz', mood: 'blue' }

    it('is adapted, and the record holds the original input and the changes', async () => {
      const response = await org.call('POST', RUN, { body: sent })
      expect(response.status).toBe(200)
      expect(JSON.parse(response.json.got)).toEqual(effective)
      const record = await org.getExecution(getExecutionId(response))
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
      expect(record).not.toHaveProperty('adaptedInput')
      const path = `/v1/agent_executions/${record.id}?adaptedInput=true`
      expect((await org.call('GET', path)).json).toEqual({ ...record, adaptedInput: effective })
    })

    it.each([
      ['a list of one', [sent], '/0', 'the only item of the list'],
      ['an envelope in a list of one', [{ json: sent }], '/0', 'the only item of the list'],
      ['a body that is encoded twice', JSON.stringify(sent), '', 'the JSON in the text'],
    ])('is taken from %s', async (_, body, from, container) => {
      const response = await org.call('POST', RUN, { raw: JSON.stringify(body) })
      expect([response.status, JSON.parse(response.json.got)]).toEqual([200, effective])
      const { inputAdaptations } = await org.getExecution(getExecutionId(response))
      const message = `Took the input from ${container} that was sent.`
      expect(inputAdaptations[0]).toEqual({ path: '', kind: 'unwrapped', from, message })
    })

    it.each([
      [[sent, sent]],
      [[{ title: 'x' }]],
      [[{}]],
      [[[sent]]],
      [JSON.stringify('Ella')],
      ['{"title": "x"}'],
    ])('is not taken from %j', async (body) => {
      const { status, json } = await org.call('POST', RUN, { raw: JSON.stringify(body) })
      expect([status, json.code]).toEqual([400, 'InvalidJson'])
    })

    it('is rejected in strict mode with every violation', async () => {
      const countRuns = () => org.call('GET', `${RUN}?limit=100`).then(({ json: all }) => all.length)
      const before = await countRuns()
      const { status, json } = await org.call('POST', `${RUN}?enforceInputSchema=true`, { body: sent })
      expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
      const paths = json.errors.map(({ path }: { path: string }) => path).sort()
      expect(paths).toEqual(['/artist-name', '/artistName', '/limit', '/mood', '/style'])
      const messages = json.errors.map(({ message }: { message: string }) => message).join('\n')
      expect(messages).toContain('did you mean artistName?')
      expect(await countRuns()).toBe(before)
    })
  })
})

describe('an agent that is strict by default', () => {
  const sent = { Seconds: '3' }
  const call = (path: string, body: unknown, method = 'POST') =>
    org.call(method, `/v1/agents/strict/${path}`, { body })

  beforeAll(async () => {
    org = await newOrganization()
    const settings = { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null }
    await aModelAgent(
      {
        organizationId: org.id,
        slug: 'strict',
        code: true,
        inputSchema: { seconds: { type: 'number', description: 'How long.' } },
        outputSchema: { got: { type: 'string', description: 'What the agent received.' } },
        execution: { ...settings, enforceInputSchema: true },
      },
      { code: CODE, table: sharedTable() },
    )
  })

  it.each([
    ['a run', 'executions', sent],
    ['a run whose input is in a list', 'executions', [{ seconds: 3 }]],
    ['a batch', 'batches', [{ customId: 'a', input: sent }]],
  ])('rejects the input of %s, unless the call says otherwise', async (_, path, body) => {
    const rejected = await call(path, body)
    expect([rejected.status, rejected.json.code]).toEqual([
      Array.isArray(body) && path === 'executions' ? 400 : 422,
      Array.isArray(body) && path === 'executions' ? 'InvalidJson' : 'InputSchemaMismatch',
    ])
    const adapted = await call(`${path}?enforceInputSchema=false`, body)
    expect(adapted.status).toBeLessThan(300)
  })

  it('rejects the input of a schedule, unless its options say otherwise', async () => {
    const schedule = { cron: '@daily', input: sent }
    const rejected = await call('schedules/nightly', schedule, 'PUT')
    expect([rejected.status, rejected.json.code]).toEqual([422, 'InputSchemaMismatch'])
    const options = { enforceInputSchema: false }
    expect((await call('schedules/nightly', { ...schedule, options }, 'PUT')).status).toBeLessThan(300)
  })
})

const DIGITS = '12345678901234567890123'

const UNSAFE = '9007199254740993'

describe('exact numbers', () => {
  const RUN = '/v1/agents/numbers/executions'

  beforeAll(async () => {
    org = await newOrganization()
    await aModelAgent(
      {
        organizationId: org.id,
        slug: 'numbers',
        code: true,
        inputSchema: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            ids: { type: 'array', items: { type: 'string' } },
            price: { type: 'number' },
            count: { type: 'integer' },
            any: {},
          },
        },
        outputSchema: { got: { type: 'string' } },
      },
      { code: CODE, table: sharedTable() },
    )
  })

  const send = (raw: string, query = '', headers = {}) => org.call('POST', `${RUN}${query}`, { raw, headers })

  describe('a number that a double cannot hold', () => {
    const raw = `{"id":${UNSAFE},"ids":[${DIGITS},"a"],"price":0.12345678901234567890,"any":{"deep":[${DIGITS}]},"other":${UNSAFE}}`
    const got = {
      id: UNSAFE,
      ids: [DIGITS, 'a'],
      price: 0.12345678901234568,
      any: { deep: [1.2345678901234568e22] },
      other: 9007199254740992,
    }

    it('reaches a string field digit by digit, others as the nearest double, and the record as sent', async () => {
      const response = await send(raw)
      expect(JSON.parse(response.json.got)).toEqual(got)
      const location = response.headers.get('location') ?? ''
      const record = await org.call('GET', location)
      expect(inputIn(record.text)).toBe(raw)
      const paths = record.json.inputAdaptations.map(
        ({ kind, path }: Record<string, string>) => `${kind} ${path}`,
      )
      expect(paths.sort()).toEqual(
        ['/any/deep/0', '/id', '/ids/0', '/other', '/price'].map((path) => `converted ${path}`),
      )
      const list = await org.call('GET', '/v1/agent_executions?limit=1')
      expect(inputIn(list.text)).toBe(raw)
    })
  })
})
/** The text of the `input` member of a record: parsing it would lose the digits. */
const inputIn = (text: string) => /"input":(\{.*?\}),"output"/s.exec(text)?.[1]
