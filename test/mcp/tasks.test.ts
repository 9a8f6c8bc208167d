import { describe, expect, it } from 'vitest'
import { newOrganization } from '../support/engine/organization.ts'
import { type ApiClient, waitForExecution } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { sendModern, TASKS } from './messages.ts'

const org = await organizationWith('waits', 'echo', 'counted')

/** The status and the last message of a request that declares tasks. */
const send = (method: string, params: object, client = org.call, capabilities: object = TASKS) =>
  sendModern(client, method, { ...params }, capabilities)
const call = async (name: string, input: object, client?: ApiClient, capabilities?: object) =>
  (await send('tools/call', { name, arguments: input }, client, capabilities)).result
const getTask = async (taskId: string, client?: ApiClient) =>
  (await send('tasks/get', { taskId }, client)).result

/** A task whose run waits for a signal which nobody sends. */
const waiting = async (): Promise<string> => (await call('waits', { signal: 'go' })).taskId

it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  'the extension for tasks answers %s of a client that does not declare it with -32021, whatever the task',
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

it('a call that declares tasks gets a task when the run is suspended', async () => {
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

it('tasks/get returns, once the run has ended, what the call would have returned', async () => {
  const { taskId } = await call('waits', { seconds: 1 })
  await waitForExecution(org.call, taskId)
  const task = await getTask(taskId)
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

  it('is recorded, as is the tool cancel_execution', async () => {
    const taskId = await waiting()
    await send('tasks/cancel', { taskId })
    await call('cancel_execution', { executionId: taskId })
    const target = { kind: 'execution', id: taskId }
    const common = { action: 'execution.cancel', target, source: { interface: 'MCP' }, result: 'SUCCEEDED' }
    const { json: entries } = await org.call('GET', `/v1/audit?target=${taskId}`)
    expect(entries).toMatchObject([common, common])
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
})
