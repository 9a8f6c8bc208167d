import { describe, expect, it } from 'vitest'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { PDF } from '../support/data/files.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { sendModern } from './messages.ts'

const org = await organizationWith('echo', 'counted', 'waits')
const callTool = async (name: string, input: object, _meta: object = {}) =>
  sendModern(org.call, 'tools/call', { name, arguments: input, _meta })
const resultOf = async (...call: Parameters<typeof callTool>) => (await callTool(...call)).result

describe('tools/call', () => {
  it('runs the same execution again for the same idempotency key', async () => {
    const [first, second] = [
      await resultOf('echo', { text: 'a' }, { idempotencyKey: 'k1' }),
      await resultOf('echo', { text: 'a' }, { idempotencyKey: 'k1' }),
    ]
    expect(first._meta.executionId).toBe(second._meta.executionId)
    const reused = await resultOf('echo', { text: 'b' }, { idempotencyKey: 'k1' })
    expect(reused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Idempotency-Key') }],
    })
  })

  it('describes the files of a record in place of their base64', async () => {
    const { _meta } = await resultOf('echo', { text: `data:application/pdf;base64,${PDF.data}` })
    const { structuredContent } = await resultOf('get_execution', { executionId: _meta.executionId })
    expect(structuredContent.input.text).toMatchObject({ mediaType: 'application/pdf', bytes: 40 })
  })

  it('runs for the tenant, on the version and with the cache that _meta names', async () => {
    const draft = await org.publish('echo', { draft: true })
    const meta = { tenantId: 'acme', version: draft.id, useCache: true }
    const first = await resultOf('echo', { text: 'cached' }, meta)
    const hit = await resultOf('echo', { text: 'cached' }, meta)
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
      const { _meta } = await resultOf('echo', { text: 'a' }, { traceparent })
      const key = { organizationId: org.id, id: _meta.executionId }
      return (await openStores(sharedTable()).executions.get(key))?.traceparent
    }
    expect(await storedOf(`00-${trace}-01`)).toBe(`00-${trace}-01`)
    for (const malformed of ['x', 7, null, {}]) expect(await storedOf(malformed)).toBeNull()
  })

  it('names every field that does not match', async () => {
    const { isError, content } = await resultOf('echo', { txt: 'x', count: 'many' })
    expect(isError).toBe(true)
    for (const name of ['/text', '/txt', '/count']) expect(content[0].text).toContain(name)
    const { content: own } = await resultOf('get_execution', { id: 'x' })
    expect(own[0].text).toContain('/executionId')
  })
})

const DRAFT = `---
title: Drafted
slug: drafted
input: { text: { type: string } }
output: { text: { type: string } }
---
Repeat the text.
`

it.each(['drafted', 'draftd'])(
  'an agent that has only a draft is not suggested as a tool: %s',
  async (name) => {
    await org.call('POST', '/v1/agents', { body: { document: DRAFT, draft: true } })
    const { error } = await callTool(name, { text: 'x' })
    expect(error).toEqual({ code: -32602, message: `Unknown tool: ${name}` })
  },
)
