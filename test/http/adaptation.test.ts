import { describe, expect, it } from 'vitest'
import { aModelAgent } from '../support/engine/model-agent.ts'
import { newOrganization, sharedTable } from '../support/engine/organization.ts'
import { type ApiResponse, getExecutionId, idsOf } from '../support/service/client.ts'

/** Returns its input as text. */
const CODE = 'export default (input) => ({ got: JSON.stringify(input) })'

const org = await newOrganization()

/** Publishes an agent that returns its input. */
const publish = (overrides: Parameters<typeof aModelAgent>[0]) =>
  aModelAgent(
    { organizationId: org.id, code: true, outputSchema: { got: { type: 'string' } }, ...overrides },
    { code: CODE, table: sharedTable() },
  )

await publish({
  slug: 'artist',
  inputSchema: {
    artistName: { type: 'string', description: 'The name of the artist.' },
    limit: { type: 'integer', description: 'The number of songs.', default: 5 },
    style: { type: 'string', enum: ['pop', 'jazz'], description: 'The musical style.', required: false },
  },
})
const settings = { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null }
await publish({
  slug: 'strict',
  inputSchema: { seconds: { type: 'number', description: 'How long.' } },
  execution: { ...settings, enforceInputSchema: true },
})
await publish({
  slug: 'numbers',
  inputSchema: {
    type: 'object',
    properties: {
      ...{ id: { type: 'string' }, ids: { type: 'array', items: { type: 'string' } } },
      ...{ price: { type: 'number' }, count: { type: 'integer' }, any: {} },
    },
  },
})
/** Each adaptation as its kind and its path. */
const changesOf = ({ inputAdaptations }: ApiResponse['json']): string[] =>
  inputAdaptations.map(({ kind, path }: Record<string, string>) => `${kind} ${path}`).sort()

const RUN = '/v1/agents/artist/executions'

describe('an input that does not match its schema', () => {
  const sent = { 'artist-name': 'Ella', limit: '3', style: 'Jazz', mood: 'blue' }
  const effective = { artistName: 'Ella', limit: 3, style: 'jazz', mood: 'blue' }

  it('is adapted, and the record holds the original input and the changes', async () => {
    const response = await org.call('POST', RUN, { body: sent })
    expect(response.status).toBe(200)
    expect(JSON.parse(response.json.got)).toEqual(effective)
    const record = await org.getExecution(getExecutionId(response))
    expect(record.input).toEqual(sent)
    const changes = ['converted /limit', 'converted /style', 'renamed /artistName']
    expect(changesOf(record)).toEqual(changes)
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

  const OTHERS = [[sent, sent], [{ title: 'x' }], [{}], [[sent]], JSON.stringify('Ella'), '{"title": "x"}']
  it.each(OTHERS.map((body) => [body]))('is not taken from %j', async (body) => {
    const { status, json } = await org.call('POST', RUN, { raw: JSON.stringify(body) })
    expect([status, json.code]).toEqual([400, 'InvalidJson'])
  })

  it('is rejected in strict mode with every violation', async () => {
    const countRuns = () => org.call('GET', `${RUN}?limit=100`).then(({ json: all }) => all.length)
    const before = await countRuns()
    const { status, json } = await org.call('POST', `${RUN}?enforceInputSchema=true`, { body: sent })
    expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
    const paths = ['/artist-name', '/artistName', '/limit', '/mood', '/style']
    expect(idsOf(json.errors, 'path').sort()).toEqual(paths)
    expect(idsOf(json.errors, 'message').join('\n')).toContain('did you mean artistName?')
    expect(await countRuns()).toBe(before)
  })
})

describe('an agent that is strict by default', () => {
  const sent = { Seconds: '3' }
  const call = (path: string, body: unknown, method = 'POST') =>
    org.call(method, `/v1/agents/strict/${path}`, { body })

  it.each([
    ['a run', 'executions', sent, 422, 'InputSchemaMismatch'],
    ['a run whose input is in a list', 'executions', [{ seconds: 3 }], 400, 'InvalidJson'],
    ['a batch', 'batches', [{ customId: 'a', input: sent }], 422, 'InputSchemaMismatch'],
  ])('rejects the input of %s, unless the call says otherwise', async (_, path, body, status, code) => {
    const rejected = await call(path, body)
    expect([rejected.status, rejected.json.code]).toEqual([status, code])
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

describe('a number that a double cannot hold', () => {
  const DIGITS = '12345678901234567890123'
  const UNSAFE = '9007199254740993'
  const raw = `{"id":${UNSAFE},"ids":[${DIGITS},"a"],"price":0.12345678901234567890,"any":{"deep":[${DIGITS}]},"other":${UNSAFE}}`
  const got = {
    id: UNSAFE,
    ids: [DIGITS, 'a'],
    price: 0.12345678901234568,
    any: { deep: [1.2345678901234568e22] },
    other: 9007199254740992,
  }

  it('reaches a string field digit by digit, others as the nearest double, and the record as sent', async () => {
    const response = await org.call('POST', '/v1/agents/numbers/executions', { raw })
    expect(JSON.parse(response.json.got)).toEqual(got)
    const location = response.headers.get('location') ?? ''
    const record = await org.call('GET', location)
    expect(inputIn(record.text)).toBe(raw)
    const paths = ['/any/deep/0', '/id', '/ids/0', '/other', '/price']
    expect(changesOf(record.json)).toEqual(paths.map((path) => `converted ${path}`))
    const list = await org.call('GET', '/v1/agent_executions?limit=1')
    expect(inputIn(list.text)).toBe(raw)
  })
})

/** The text of the `input` member of a record: parsing it would lose the digits. */
const inputIn = (text: string) => /"input":(\{.*?\}),"output"/s.exec(text)?.[1]
