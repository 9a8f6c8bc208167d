import { beforeAll, describe, expect, it } from 'vitest'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { PDF } from '../support/data/files.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { modernRequest, parseMessages } from './messages.ts'

let org: TestOrganization

describe('calls', () => {
  beforeAll(async () => {
    org = await newOrganization()
    await org.publish('echo')
    await org.publish('counted')
    await org.publish('waits')
  })

  const callTool = async (name: string, input: object, meta: object = {}) =>
    (await send('tools/call', { name, arguments: input, _meta: meta })).result

  describe('tools/call', () => {
    it('runs the same execution again for the same idempotency key', async () => {
      const [first, second] = [
        await callTool('echo', { text: 'a' }, { idempotencyKey: 'k1' }),
        await callTool('echo', { text: 'a' }, { idempotencyKey: 'k1' }),
      ]
      expect(first._meta.executionId).toBe(second._meta.executionId)
      const reused = await callTool('echo', { text: 'b' }, { idempotencyKey: 'k1' })
      expect(reused).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('Idempotency-Key') }],
      })
    })

    it('describes the files of a record in place of their base64', async () => {
      const { _meta } = await callTool('echo', { text: `data:application/pdf;base64,${PDF.data}` })
      const { structuredContent } = await callTool('get_execution', { executionId: _meta.executionId })
      expect(structuredContent.input.text).toMatchObject({ mediaType: 'application/pdf', bytes: 40 })
    })

    it('runs for the tenant, on the version and with the cache that _meta names', async () => {
      const draft = await org.publish('echo', { draft: true })
      const meta = { tenantId: 'acme', version: draft.id, useCache: true }
      const first = await callTool('echo', { text: 'cached' }, meta)
      const hit = await callTool('echo', { text: 'cached' }, meta)
      expect(hit._meta.cachedDocumentExecutionId).toBe(first._meta.executionId)
      expect(await org.getExecution(hit._meta.executionId)).toMatchObject({
        tenantId: 'acme',
        versionId: draft.id,
        cached: true,
      })
    })

    it('belongs to the trace that _meta names', async () => {
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7'
      const storedOf = async (traceparent: unknown) => {
        const { _meta } = await callTool('echo', { text: 'a' }, { traceparent })
        const key = { organizationId: org.id, id: _meta.executionId }
        return (await openStores(sharedTable()).executions.get(key))?.traceparent
      }
      expect(await storedOf(`00-${trace}-01`)).toBe(`00-${trace}-01`)
      for (const malformed of ['x', 7, null, {}]) expect(await storedOf(malformed)).toBeNull()
    })

    it('names every field that does not match', async () => {
      const { isError, content } = await callTool('echo', { txt: 'x', count: 'many' })
      expect(isError).toBe(true)
      for (const name of ['/text', '/txt', '/count']) expect(content[0].text).toContain(name)
      const { content: own } = await callTool('get_execution', { id: 'x' })
      expect(own[0].text).toContain('/executionId')
    })
  })
})
async function send(method: string, params: { name?: string; [key: string]: unknown }) {
  const { text } = await org.call('POST', '/v1/mcp', modernRequest(method, params))
  return parseMessages(text).at(-1)
}

const DRAFT = `---
title: Drafted
slug: drafted
input: { text: { type: string } }
output: { text: { type: string } }
---
Repeat the text.
`

describe('shared rules', () => {
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

  describe('an agent that has only a draft', () => {
    it.each(['drafted', 'draftd'])('is not suggested as a tool: %s', async (name) => {
      const { error } = await callTool(name, { text: 'x' })
      expect(error).toEqual({ code: -32602, message: `Unknown tool: ${name}` })
    })
  })
})
