import { beforeAll, describe, expect, it, vi } from 'vitest'
import { CLIENTS, type McpClient } from '../../mcp/clients.ts'
import { type ApiClient, createLocalClient, readDevToken } from '../../support/service/client.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

const services = temporaryServices()
let url: string
let token: string
let call: ApiClient
let hangUps = 0

beforeAll(async () => {
  const dataDir = services.newFolder()
  ;({ url } = await services.start(dataDir, { SYNC_DEADLINE_SECONDS: '3', LEASE_SECONDS: '2' }))
  token = readDevToken(dataDir)
  call = createLocalClient(url, dataDir)
})

const listRunning = async (): Promise<{ id: string; input: { seconds: number } }[]> =>
  (await call('GET', '/v1/agent_executions?status=IN_PROGRESS')).json

/** Calls the agent `wait` and hangs up while it runs. @returns the ID of its execution */
async function hangUp(client: McpClient, seconds: number): Promise<string> {
  const controller = new AbortController()
  const calling = client.callTool('wait', { seconds }, { signal: controller.signal })
  calling.catch(() => undefined)
  const id = await vi.waitFor(async () => {
    const running = (await listRunning()).find(({ input }) => input.seconds === seconds)
    return running?.id ?? Promise.reject(new Error('The run has not begun.'))
  })
  controller.abort()
  await expect(calling).rejects.toThrow()
  return id
}

describe.each(CLIENTS)('a long run, called by client %s (%s)', (_name, version, connect) => {
  it('continues after the deadline, and is resumed by its ID', async () => {
    const client = await connect(url, token)
    await client.listTools()
    const pending = await client.callTool('wait', { seconds: 4 })
    expect(pending.isError).toBeFalsy()
    const { executionId, status } = pending.structuredContent as { executionId: string; status: string }
    expect(status).toBe('IN_PROGRESS')
    expect(pending.content[0]?.text).toContain(executionId)
    const result = await vi.waitFor(async () => {
      const { structuredContent } = await client.callTool('get_execution', { executionId, waitSeconds: 1 })
      expect(structuredContent?.status).toBe('SUCCESS')
      return structuredContent
    })
    expect(result?.output).toEqual({ waitedSeconds: expect.any(Number) })
  })

  it('is cancelled by its ID', async () => {
    const client = await connect(url, token)
    const { structuredContent } = await client.callTool('wait', { seconds: 600 })
    const input = { executionId: structuredContent?.executionId }
    const cancelled = await client.callTool('cancel_execution', input)
    expect(cancelled.structuredContent).toMatchObject({ status: 'ERROR', error: { code: 'Cancelled' } })
  })

  it(`${version >= '2026' ? 'is cancelled' : 'continues'} when the client hangs up`, async () => {
    // Tells this run from those of the other clients.
    const seconds = 4 + ++hangUps / 100
    const id = await hangUp(await connect(url, token), seconds)
    const ended = await vi.waitFor(async () => {
      const { json } = await call('GET', `/v1/agent_executions/${id}`, { headers: { Prefer: 'wait=2' } })
      expect(json.status).not.toBe('IN_PROGRESS')
      return json
    })
    if (version >= '2026') expect(ended.error.code).toBe('Cancelled')
    else expect(ended.output).toEqual({ waitedSeconds: expect.any(Number) })
  })
})
