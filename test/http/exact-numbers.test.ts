import { beforeAll, describe, expect, it } from 'vitest'
import { aModelAgent } from '../support/engine/model-agent.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'

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
})
