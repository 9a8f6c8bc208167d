import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import type { ApiClient } from '../support/service/client.ts'
import { modernRequest, parseMessages } from './messages.ts'

const DRAFT = `---
title: Drafted
slug: drafted
input: { text: { type: string } }
output: { text: { type: string } }
---
Repeat the text.
`

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  await org.call('POST', '/v1/agents', { body: { document: DRAFT, draft: true } })
})

async function callTool(name: string, input: object, meta: object = {}) {
  const params = { name, arguments: input, _meta: meta }
  const { text } = await org.call('POST', '/v1/mcp', modernRequest('tools/call', params))
  return parseMessages(text).at(-1)
}

describe('an idempotency key', () => {
  it('is rejected, like over HTTP, for another version than that of the first request', async () => {
    const draft = await org.publish('echo', { draft: true })
    const call = async (meta: object) => callTool('echo', { text: 'x' }, { idempotencyKey: 'k', ...meta })
    const run = async (key: string, query: string) =>
      (
        await org.call('POST', `/v1/agents/echo/executions${query}`, {
          body: { text: 'x' },
          headers: { 'Idempotency-Key': key },
        })
      ).json.code
    expect([await run('http', ''), await run('http', `?version=${draft.id}`)]).toEqual([
      undefined,
      'IdempotencyKeyReused',
    ])
    expect((await call({})).result.isError).toBeUndefined()
    expect((await call({ version: draft.id })).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Idempotency-Key') }],
    })
  })
})

describe('list_executions', () => {
  it.each([
    ['a control character', 'a\u0007'],
    ['half of a surrogate pair', 'a\ud800'],
  ])('rejects, like GET /v1/agent_executions, a tenant with %s', async (_, tenantId) => {
    const { result } = await callTool('list_executions', { tenantId })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'tenantId must have 1 to 128 characters and no control characters.' }],
    })
  })

  it('names the place of its cursors in the error for an invalid one', async () => {
    const { result } = await callTool('list_executions', { cursor: 'bogus' })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'cursor must be the nextCursor of the previous page.' }],
    })
  })
})

describe('an agent that has only a draft', () => {
  it.each(['drafted', 'draftd'])('is not suggested as a tool: %s', async (name) => {
    const { error } = await callTool(name, { text: 'x' })
    expect(error).toEqual({ code: -32602, message: `Unknown tool: ${name}` })
  })

  it('is suggested over HTTP only to tokens that may list it', async () => {
    const run = async (client: ApiClient) =>
      (await client('POST', '/v1/agents/draftd/executions', { body: { text: 'x' } })).json.detail
    expect(await run(org.call)).toContain('did you mean drafted?')
    expect(await run(await org.withLimits({ scopes: ['run'] }))).not.toContain('drafted')
  })

  it('is suggested as the agent of a list to tokens that may list it', async () => {
    const { result } = await callTool('list_executions', { agent: 'draftd' })
    expect(result.content[0].text).toContain('did you mean drafted?')
  })
})
