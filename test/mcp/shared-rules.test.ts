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

  it('has the search of GET /v1/agent_executions', async () => {
    const { json: run } = await org.call('POST', '/v1/agents/echo/executions?execMode=async', {
      body: { text: 'x' },
    })
    const listed = async (input: object) => {
      const { result } = await callTool('list_executions', { agent: 'echo', ...input })
      return result.structuredContent ?? result.content[0].text
    }
    const version = run.versionId.toUpperCase()
    const found = await listed({ version, source: 'API' })
    expect(found.executions.length).toBeGreaterThan(0)
    expect(found.searchedUntil).toBe(found.executions.at(-1).createdAt)
    for (const other of [
      { version: crypto.randomUUID() },
      { source: 'BATCH' },
      { model: 'none' },
      { errorCode: 'ModelError' },
      { errorText: 'nowhere' },
    ])
      expect(await listed(other)).toMatchObject({ executions: [] })
    expect(await listed({ errorText: 'x', status: 'SUCCESS' })).toBe(
      'errorText can only be combined with status=ERROR: only these executions have an error.',
    )
  })

  it.each([
    ['a version that is no ID', 'version', 'x'],
    ['an unknown source', 'source', 'api'],
    ['an empty code', 'errorCode', ''],
    ['a code that is too long', 'errorCode', 'x'.repeat(101)],
    ['a text that is too long', 'errorText', 'x'.repeat(201)],
    ['a model that is too long', 'model', 'x'.repeat(301)],
  ])('rejects, like GET /v1/agent_executions, %s', async (_, name, value) => {
    const { result } = await callTool('list_executions', { [name]: value })
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(name) }] })
    const query = new URLSearchParams({ [name]: value })
    expect((await org.call('GET', `/v1/agent_executions?${query}`)).status).toBe(400)
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
