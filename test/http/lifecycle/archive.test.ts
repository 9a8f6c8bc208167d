import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { modernRequest, parseMessages } from '../../mcp/messages.ts'
import { getExecutionId, waitForExecution } from '../../support/service/client.ts'
import { codeOf, documentOf, type Lifecycle, newLifecycle, UNTIL_FILE_EXISTS } from './lifecycle-client.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-lifecycle-'))
afterAll(() => rmSync(folder, { recursive: true }))

let org: Lifecycle
beforeAll(async () => {
  org = await newLifecycle()
})

const archive = (slug: string) => org.post(`/v1/agents/${slug}/archive`)
const restore = (slug: string) => org.post(`/v1/agents/${slug}/restore`)
const listed = async (query = '') => {
  const { json } = await org.call('GET', `/v1/agents?limit=100&${query}`)
  return json.map(({ slug }: { slug: string }) => slug)
}

describe.concurrent('an archived agent', () => {
  it('responds to new runs of every version with 410 AgentArchived, until it is restored', async () => {
    const version = await org.publishSaying('closed', 'A')
    const draft = await org.publishSaying('closed', 'B', { draft: true })
    const { status, json } = await archive('closed')
    expect([status, json.archivedAt]).toEqual([200, expect.any(String)])
    for (const query of [
      '',
      'execMode=async',
      'useCache=true',
      `version=${version.id}`,
      `version=${draft.id}`,
    ]) {
      const response = await org.run('closed', { name: 'x' }, query)
      expect([response.status, response.json.code], query).toEqual([410, 'AgentArchived'])
    }
    expect((await org.call('GET', '/v1/agents/closed/executions')).json).toEqual([])
    expect((await restore('closed')).json.archivedAt).toBeNull()
    expect((await org.run('closed', { name: 'x' })).json.said).toBe('A')
  })

  it('is left out of lists unless archived=true, and can be read', async () => {
    const { id, documentId } = await org.publishSaying('hidden', 'A')
    await org.run('hidden', { name: 'x' })
    const { json } = await archive('hidden')
    expect(await listed()).not.toContain('hidden')
    expect(await listed('archived=false')).not.toContain('hidden')
    expect(await listed('archived=true')).toContain('hidden')
    expect(await org.agent('hidden')).toEqual(json)
    expect((await org.versions('hidden')).map((version) => version.id)).toEqual([id])
    expect((await org.call('GET', `/v1/agents/hidden/versions/${id}`)).status).toBe(200)
    const [execution] = (await org.call('GET', '/v1/agents/hidden/executions')).json
    expect((await org.getExecution(execution.id)).documentId).toBe(documentId)
    const limited = await org.withLimits({ agents: ['hidden'] })
    expect((await limited('GET', '/v1/agents')).json).toEqual([])
    expect((await limited('GET', '/v1/agents?archived=true')).json).toHaveLength(1)
    await restore('hidden')
    expect(await listed()).toContain('hidden')
  })

  it('finishes its runs in progress', async () => {
    const file = join(folder, 'archive')
    const input = { name: file }
    await org.publishSaying('waits', '', { code: UNTIL_FILE_EXISTS })
    const running = org.run('waits', input)
    const { id } = (await org.run('waits', input, 'execMode=async')).json
    const listed = async () => (await org.call('GET', '/v1/agents/waits/executions')).json
    await vi.waitFor(async () => expect(await listed()).toHaveLength(2))
    await archive('waits')
    expect((await org.run('waits', input)).status).toBe(410)
    writeFileSync(file, '')
    expect((await running).status).toBe(200)
    expect((await waitForExecution(org.call, id)).status).toBe('SUCCESS')
  })

  it('repeats the response of an accepted request with an idempotency key, and accepts no new one', async () => {
    await org.publishSaying('repeated', 'A')
    const send = (key: string, name = 'x') =>
      org.call('POST', '/v1/agents/repeated/executions', {
        body: { name },
        headers: { 'Idempotency-Key': key },
      })
    const first = await send('one')
    await archive('repeated')
    const again = await send('one')
    expect([again.status, getExecutionId(again)]).toEqual([200, getExecutionId(first)])
    expect((await send('one', 'y')).json.code).toBe('IdempotencyKeyReused')
    expect((await send('two')).json.code).toBe('AgentArchived')
    await restore('repeated')
    expect((await send('two')).status).toBe(200)
  })

  it('accepts no versions, and keeps those that it has', async () => {
    const [a, b] = [await org.publishText('frozen', 'A'), await org.publishText('frozen', 'B')]
    await archive('frozen')
    const body = { document: documentOf('frozen'), code: codeOf('C') }
    const responses = [
      await org.post('/v1/agents', body),
      await org.post('/v1/agents', { ...body, draft: true }),
      await org.post(`/v1/agents/frozen/versions/${a.id}/promote`),
    ]
    expect(responses.map(({ status, json }) => [status, json.code])).toEqual(
      Array(3).fill([410, 'AgentArchived']),
    )
    expect((await org.versions('frozen')).map(({ id }) => id)).toEqual([b.id, a.id])
  })

  it('stays archived from the first time on, however often it is archived; restoring twice changes nothing', async () => {
    await org.publishText('again', 'A')
    const first = (await archive('again')).json
    expect((await archive('again')).json).toEqual(first)
    const restored = (await restore('again')).json
    expect((await restore('again')).json).toEqual(restored)
  })

  it('is no tool of MCP, and a call of it is an error that the model sees', async () => {
    await org.publishText('tool', 'A')
    const send = async (method: string, params: Record<string, unknown> = {}) =>
      parseMessages((await org.call('POST', '/v1/mcp', modernRequest(method, params))).text).at(-1).result
    const names = async () => (await send('tools/list')).tools.map(({ name }: { name: string }) => name)
    expect(await names()).toContain('tool')
    await archive('tool')
    expect(await names()).not.toContain('tool')
    expect(await send('tools/call', { name: 'tool', arguments: { name: 'x' } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('archived') }],
    })
  })

  it('that does not exist is 404', async () => {
    for (const response of [await archive('missing'), await restore('missing'), await archive('No slug!')])
      expect([response.status, response.json.code]).toEqual([404, 'AgentNotFound'])
  })
})
