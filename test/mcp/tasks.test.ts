import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import type { ApiClient } from '../support/service/client.ts'
import { LEGACY_HEADERS, modernRequest, parseMessages, TASKS, toMessage } from './messages.ts'

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  for (const slug of ['waits', 'echo', 'counted']) await org.publish(slug)
})

/** The status and the last message of a request that declares tasks. */
async function send(method: string, params: object, client = org.call, capabilities: object = TASKS) {
  const { status, text } = await client('POST', '/v1/mcp', modernRequest(method, { ...params }, capabilities))
  return { status, ...parseMessages(text).at(-1) }
}
const call = async (name: string, input: object, client?: ApiClient, capabilities?: object) =>
  (await send('tools/call', { name, arguments: input }, client, capabilities)).result
const getTask = async (taskId: string, client?: ApiClient) =>
  (await send('tasks/get', { taskId }, client)).result

const ENDS = { timeout: 20_000, interval: 50 }

/** The task when its run has ended. */
const getEnded = (taskId: string) =>
  vi.waitFor(async () => {
    const task = await getTask(taskId)
    expect(task.status).not.toBe('working')
    return task
  }, ENDS)

/** A task whose run waits for a signal which nobody sends. */
const waiting = async (): Promise<string> => (await call('waits', { signal: 'go' })).taskId

describe('the extension for tasks', () => {
  it('is announced to clients of 2026-07-28 only', async () => {
    const { result } = await send('server/discover', {})
    expect(result.capabilities.extensions).toEqual({ 'io.modelcontextprotocol/tasks': {} })
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    }
    const { text } = await org.call('POST', '/v1/mcp', {
      body: toMessage('initialize', initialize),
      headers: LEGACY_HEADERS,
    })
    expect(parseMessages(text)[0].result.capabilities).toEqual({ tools: {} })
  })

  it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    'answers %s of a client that does not declare it with -32021, whatever the task',
    async (method) => {
      const answers = [await waiting(), crypto.randomUUID()].map((taskId) =>
        send(method, { taskId, inputResponses: {} }, org.call, {}),
      )
      const [own, unknown] = await Promise.all(answers)
      expect(own).toMatchObject({
        status: 400,
        error: { code: -32021, data: { requiredCapabilities: TASKS } },
      })
      expect(own).toEqual(unknown)
    },
  )

  it.each(['tasks/list', 'tasks/result'])('has no %s', async (method) => {
    expect(await send(method, { taskId: 'x' })).toMatchObject({ status: 404, error: { code: -32601 } })
  })

  it('is unknown to clients of 2025', async () => {
    const body = toMessage('tasks/get', { taskId: await waiting() })
    const { text } = await org.call('POST', '/v1/mcp', { body, headers: LEGACY_HEADERS })
    expect(parseMessages(text)[0].error.code).toBe(-32601)
  })
})

describe('a call that declares tasks', () => {
  it('gets the output of a run that ends', async () => {
    const result = await call('echo', { text: 'x' })
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { text: 'x' } })
  })

  it('gets a task when the run is suspended', async () => {
    const task = await call('waits', { signal: 'go' })
    expect(task).toMatchObject({
      resultType: 'task',
      taskId: expect.any(String),
      status: 'working',
      statusMessage: 'The run waits for the signal go. send_signal sends a signal.',
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
      ttlMs: null,
      pollIntervalMs: 1_000,
    })
    expect((await org.getExecution(task.taskId)).waitingFor).toMatchObject([{ name: 'go' }])
    expect(task.structuredContent).toBeUndefined()
  })

  it('gets no task if its token may not read what becomes of it', async () => {
    const result = await call('waits', { signal: 'go' }, await org.withLimits({ scopes: ['run'] }))
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'IN_PROGRESS' } })
  })
})

describe('tasks/get', () => {
  it('says what the run waits for', async () => {
    const task = await getTask(await waiting())
    expect(task).toMatchObject({ resultType: 'complete', status: 'working', ttlMs: null })
    expect(task.statusMessage).toBe('The run waits for the signal go. send_signal sends a signal.')
    expect(task.inputRequests).toBeUndefined()
  })

  it('returns, once the run has ended, what the call would have returned', async () => {
    const { taskId } = await call('waits', { seconds: 1 })
    const task = await getEnded(taskId)
    expect(task).toMatchObject({
      status: 'completed',
      result: {
        resultType: 'complete',
        structuredContent: { data: 'null' },
        content: [{ type: 'text', text: '{"data":"null"}' }],
      },
    })
    expect(task.result.isError).toBeUndefined()
  })

  it('returns failed runs as completed, with an error of the tool', async () => {
    const run = await org.run('counted', { log: '/dev/null', failures: 1 }, 'execMode=async')
    const task = await getEnded(run.json.id)
    const text = expect.stringMatching(/ended in ERROR AgentFailed: /)
    expect(task).toMatchObject({ status: 'completed', result: { isError: true, content: [{ text }] } })
  })
})

describe('tasks/cancel', () => {
  it('cancels the run, and leaves a final one as it is', async () => {
    const taskId = await waiting()
    for (const _ of ['once', 'again']) {
      const { result } = await send('tasks/cancel', { taskId })
      expect(result).toMatchObject({ resultType: 'complete' })
      expect(await getTask(taskId)).toMatchObject({ status: 'cancelled' })
    }
    const { executionId } = (await call('echo', { text: 'x' }))._meta
    expect((await send('tasks/cancel', { taskId: executionId })).error).toBeUndefined()
    expect(await getTask(executionId)).toMatchObject({ status: 'completed' })
  })
})

describe('a task that the token may not use', () => {
  const METHODS: [string, object][] = [
    ['tasks/get', {}],
    ['tasks/update', { inputResponses: {} }],
    ['tasks/cancel', {}],
  ]

  it.each(METHODS)('is unknown to %s', async (method, params) => {
    const taskId = await waiting()
    const clients = [
      (await newOrganization()).call,
      await org.withLimits({ agents: ['echo'] }),
      await org.withLimits({ tenantId: 'globex' }),
    ]
    for (const client of clients) {
      const [foreign, unknown, invalid] = await Promise.all(
        [taskId, crypto.randomUUID(), 'x'].map((id) => send(method, { taskId: id, ...params }, client)),
      )
      expect(foreign).toMatchObject({ status: 200, error: { code: -32602 } })
      expect([unknown, invalid]).toEqual([foreign, foreign])
    }
    expect(await getTask(taskId)).toMatchObject({ status: 'working' })
  })

  it.each([
    ['tasks/get', ['run', 'approve', 'manage']],
    ['tasks/update', ['run', 'read', 'manage']],
    ['tasks/cancel', ['read', 'approve', 'manage']],
  ] as const)('is refused by %s for want of a scope, whether it exists or not', async (method, scopes) => {
    const client = await org.withLimits({ scopes: [...scopes] })
    const [own, unknown] = [
      await send(method, { taskId: await waiting(), inputResponses: {} }, client),
      await send(method, { taskId: crypto.randomUUID(), inputResponses: {} }, client),
    ]
    expect(own.error).toMatchObject({ code: -32602, message: expect.stringContaining('needs a token') })
    expect(unknown).toEqual(own)
  })

  it.each([undefined, null, 1, {}])('cannot have the ID %j', async (taskId) => {
    for (const [method, params] of METHODS) {
      const { error } = await send(method, { ...params, ...(taskId !== undefined && { taskId }) })
      expect(error.code).toBe(-32602)
    }
  })
})
