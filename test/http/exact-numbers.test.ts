import { beforeAll, describe, expect, it } from 'vitest'
import { aModelAgent } from '../support/engine/model-agent.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { getExecutionId, waitForExecution } from '../support/service/client.ts'

const RUN = '/v1/agents/numbers/executions'
const DIGITS = '12345678901234567890123'
const UNSAFE = '9007199254740993'
let org: TestOrganization

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
    { code: 'export default (input) => ({ got: JSON.stringify(input) })' },
  )
})

const send = (raw: string, query = '', headers = {}) => org.call('POST', `${RUN}${query}`, { raw, headers })

/** The text of the `input` member of a record: parsing it would lose the digits. */
const inputIn = (text: string) => /"input":(\{.*?\}),"output"/s.exec(text)?.[1]

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

  it('is recorded as sent by an asynchronous run, and in a payload of several items', async () => {
    const large = raw.replace('"a"', `"${Array.from({ length: 60_000 }, () => Math.random()).join()}"`)
    for (const body of [raw, large]) {
      const accepted = await send(body, '?execMode=async')
      expect(inputIn(accepted.text)).toBe(body)
      const { output } = await waitForExecution(org.call, accepted.json.id)
      expect(JSON.parse(output.got)).toMatchObject({ id: UNSAFE, other: got.other })
      expect(inputIn((await org.call('GET', `/v1/agent_executions/${accepted.json.id}`)).text)).toBe(body)
    }
  })

  it('belongs to the body that an Idempotency-Key is bound to', async () => {
    const headers = { 'Idempotency-Key': 'digits' }
    const first = await send(`{"id":${UNSAFE},"count":1}`, '', headers)
    const again = await send(`{"count":1,"id":${UNSAFE}}`, '', headers)
    expect(getExecutionId(again)).toBe(getExecutionId(first))
    const other = await send('{"id":9007199254740992,"count":1}', '', headers)
    expect([other.status, other.json.code]).toEqual([422, 'IdempotencyKeyReused'])
  })

  it('does not share a cached result with another number in a string field', async () => {
    const first = await send(`{"id":${UNSAFE}}`, '?useCache=true')
    const other = await send('{"id":9007199254740992}', '?useCache=true')
    expect(other.headers.get('cache-status')).toContain('fwd=miss')
    expect(JSON.parse(first.json.got)).toEqual({ id: UNSAFE })
    expect(JSON.parse(other.json.got)).toEqual({ id: '9007199254740992' })
    const again = await send(`{"id":"${UNSAFE}"}`, '?useCache=true')
    expect(again.headers.get('cache-status')).toContain('hit')
  })

  it.each([
    [`{"price":${DIGITS}}`, '/price'],
    [`{"count":${UNSAFE}}`, '/count'],
    ['{"price":1.00000000000000000001}', '/price'],
  ])('is rejected in a number field in strict mode: %s', async (body, path) => {
    const { status, json } = await send(body, '?enforceInputSchema=true')
    expect([status, json.code]).toEqual([422, 'InputSchemaMismatch'])
    expect(json.errors).toEqual([
      { path, message: `${path} must be a number that a double can hold exactly.` },
    ])
  })

  it('is a number in strict mode, and accepted where the schema says nothing', async () => {
    const { json } = await send(`{"id":${UNSAFE}}`, '?enforceInputSchema=true')
    expect(json.errors).toEqual([{ path: '/id', message: '/id must be a string, not a number.' }])
    const accepted = await send(`{"any":[${UNSAFE}],"price":6.02214076e23}`, '?enforceInputSchema=true')
    expect(JSON.parse(accepted.json.got)).toEqual({ any: [9007199254740992], price: 6.02214076e23 })
  })

  it('is rejected beyond the range of a double', async () => {
    const { status, json } = await send('{"price":1e999}')
    expect([status, json.code]).toEqual([400, 'InvalidJson'])
    expect(json.detail).toBe('The body contains a number beyond the range of a double: 1e999.')
  })
})

describe('a body with a duplicate key', () => {
  it.each([
    ['{"id":"a","id":"b"}', 'The body contains the key "id" more than once, at /id.'],
    ['{"any":[{"a/b":1,"a\\/b":2}]}', 'The body contains the key "a/b" more than once, at /any/0/a~1b.'],
    [
      '{"any":{"__proto__":1,"__proto__":1}}',
      'The body contains the key "__proto__" more than once, at /any/__proto__.',
    ],
  ])('is rejected: %s', async (raw, detail) => {
    const { status, json } = await send(raw)
    expect([status, json.code, json.detail]).toEqual([400, 'InvalidJson', detail])
  })
})
