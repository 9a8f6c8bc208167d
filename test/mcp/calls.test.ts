import { beforeAll, describe, expect, it } from 'vitest'
import { PDF } from '../support/data/files.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { LEGACY_HEADERS, modernRequest, parseMessages, toMessage } from './messages.ts'

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  await org.publish('counted')
  await org.publish('waits')
})

async function send(method: string, params: { name?: string; [key: string]: unknown }) {
  const { text } = await org.call('POST', '/v1/mcp', modernRequest(method, params))
  return parseMessages(text).at(-1)
}
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

  it('points to a run with the same idempotency key that is still in progress', async () => {
    const input = { log: '/dev/null', ms: 2_000 }
    const [first, second] = await Promise.all([
      callTool('counted', input, { idempotencyKey: 'k2' }),
      callTool('counted', input, { idempotencyKey: 'k2' }),
    ])
    const [pending, completed] = first.structuredContent.status ? [first, second] : [second, first]
    expect(completed.structuredContent).toMatchObject({ text: expect.any(String) })
    const { executionId } = completed._meta
    expect(pending.structuredContent).toEqual({ executionId, status: 'IN_PROGRESS' })
    expect(pending.content[0].text).toContain(`get_execution with {"executionId":"${executionId}"`)
  })

  it('says what a suspended run waits for', async () => {
    const { content, structuredContent } = await callTool('waits', { signal: 'go' })
    expect(structuredContent).toMatchObject({
      executionId: expect.any(String),
      status: 'IN_PROGRESS',
      waitingFor: [{ kind: 'signal', name: 'go', signals: ['go'], until: null }],
    })
    expect(content[0].text).toMatch(
      /^The run waits for the signal go\. send_signal .*get_execution with \{"executionId"/,
    )
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

  it('names every field that does not match', async () => {
    const { isError, content } = await callTool('echo', { txt: 'x', count: 'many' })
    expect(isError).toBe(true)
    for (const name of ['/text', '/txt', '/count']) expect(content[0].text).toContain(name)
    const { content: own } = await callTool('get_execution', { id: 'x' })
    expect(own[0].text).toContain('/executionId')
  })

  it('records arguments as they were sent', async () => {
    const text = '\u0000 ünï \u202e 😀'
    const { _meta } = await callTool('echo', { text })
    const read = await callTool('get_execution', { executionId: _meta.executionId })
    expect(read.structuredContent.input).toEqual({ text })
  })

  it.each([
    ['a number that a double would round', '"count":12345678901234567890,', '/count'],
    ['a key that JavaScript treats specially', '"__proto__":{"text":"x"},', '/__proto__'],
  ])('rejects %s', async (_, member, path) => {
    const { body, headers } = modernRequest('tools/call', { name: 'echo', arguments: { text: 'x' } })
    const raw = JSON.stringify(body).replace('"arguments":{', `$&${member}`)
    const { result } = parseMessages((await org.call('POST', '/v1/mcp', { raw, headers })).text).at(-1)
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(path) }] })
  })

  it('returns large outputs', async () => {
    const size = 2_000_000
    const { structuredContent } = await callTool('counted', { log: '/dev/null', size })
    expect(structuredContent.text).toHaveLength(size)
  })

  it('streams keep-alives and the result to clients of 2025', async () => {
    const body = toMessage('tools/call', { name: 'echo', arguments: { text: 'x' } })
    const { text, headers } = await org.call('POST', '/v1/mcp', { body, headers: LEGACY_HEADERS })
    expect(headers.get('content-type')).toBe('text/event-stream')
    expect(headers.get('x-accel-buffering') ?? headers.get('cache-control')).toBeTruthy()
    expect(parseMessages(text)[0].result.structuredContent).toEqual({ text: 'x' })
  })

  it('returns a page of executions', async () => {
    const page = await callTool('list_executions', { limit: 1 })
    expect(page.structuredContent.executions).toHaveLength(1)
    const next = await callTool('list_executions', { limit: 1, cursor: page.structuredContent.nextCursor })
    expect(next.structuredContent.executions[0].id < page.structuredContent.executions[0].id).toBe(true)
    const invalid = await callTool('list_executions', { cursor: 'bogus' })
    expect(invalid).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('cursor') }] })
  })

  it('does not find an execution that does not exist', async () => {
    for (const name of ['get_execution', 'cancel_execution'])
      for (const executionId of [crypto.randomUUID(), 'x'])
        expect(await callTool(name, { executionId })).toMatchObject({ isError: true })
  })
})
