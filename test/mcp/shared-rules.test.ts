import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
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

describe('list_executions', () => {
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
})

describe('an agent that has only a draft', () => {
  it.each(['drafted', 'draftd'])('is not suggested as a tool: %s', async (name) => {
    const { error } = await callTool(name, { text: 'x' })
    expect(error).toEqual({ code: -32602, message: `Unknown tool: ${name}` })
  })
})
