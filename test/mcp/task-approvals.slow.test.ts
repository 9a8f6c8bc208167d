import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiClient, waitForExecution } from '../support/service/client.ts'
import { modernRequest, parseMessages, TASKS, TASKS_AND_FORMS } from './messages.ts'

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('asks')
})

async function send(
  method: string,
  params: object,
  { client = org.call, capabilities = TASKS_AND_FORMS as object } = {},
) {
  const { text } = await client('POST', '/v1/mcp', modernRequest(method, { ...params }, capabilities))
  return parseMessages(text).at(-1)
}
const getTask = async (taskId: string, options?: { client?: ApiClient; capabilities?: object }) =>
  (await send('tasks/get', { taskId }, options)).result
const update = (taskId: string, inputResponses: unknown, client?: ApiClient) =>
  send('tasks/update', { taskId, inputResponses }, { ...(client && { client }) })

const ACCEPT = { action: 'accept', content: { decision: 'approve', note: 'fine' } }

/** A task whose run waits for an approval. */
async function newTask(): Promise<{ taskId: string; approvalId: string }> {
  const { result } = await send('tools/call', { name: 'asks', arguments: { usd: 200 } })
  const { waitingFor } = await org.getExecution(result.taskId)
  return { taskId: result.taskId, approvalId: waitingFor[0].id }
}

const outputOf = async (taskId: string) => (await waitForExecution(org.call, taskId)).output

describe('an approval in a task', () => {
  it('is a form, by its ID', async () => {
    const { taskId, approvalId } = await newTask()
    const task = await getTask(taskId)
    expect(task).toMatchObject({ resultType: 'complete', status: 'input_required' })
    expect(task.inputRequests).toEqual({
      [approvalId]: {
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: 'Refund?\nrefund: {"usd":200}',
          requestedSchema: {
            type: 'object',
            properties: {
              decision: { type: 'string', title: 'Decision', enum: ['approve', 'reject'] },
              note: {
                type: 'string',
                title: 'Note',
                description: 'A comment for the agent.',
                maxLength: 2_000,
              },
            },
            required: ['decision'],
          },
        },
      },
    })
    expect(await getTask(taskId)).toMatchObject({ inputRequests: task.inputRequests })
  })

  it.each([
    ['a token without approve', { scopes: ['read'] as const }, TASKS_AND_FORMS],
    ['a client without forms', {}, TASKS],
    ['a client with URLs only', {}, { ...TASKS, elicitation: { url: {} } }],
  ])('is only said to be open to %s', async (_, limits, capabilities) => {
    const { taskId, approvalId } = await newTask()
    const client = await org.withLimits({ ...('scopes' in limits && { scopes: [...limits.scopes] }) })
    const task = await getTask(taskId, { client, capabilities })
    expect(task).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining(`the approval ${approvalId} of refund (until `),
    })
    expect(task.inputRequests).toBeUndefined()
  })
})

describe('tasks/update', () => {
  it.each([
    ['an approval', ACCEPT, 'approve'],
    ['a rejection', { action: 'accept', content: { decision: 'reject', note: '' } }, 'reject'],
    ['a form that is declined as a rejection', { action: 'decline' }, 'reject'],
  ])('stores %s', async (_, response, decision) => {
    const { taskId, approvalId } = await newTask()
    const { result } = await update(taskId, { [approvalId]: response })
    expect(Object.keys(result)).toEqual(['resultType', '_meta'])
    expect(await outputOf(taskId)).toEqual({ decision, usd: 200 })
    const [step] = (await org.call('GET', `/v1/agent_executions/${taskId}/steps`)).json
    expect(step.result).toMatchObject({ decision, note: response === ACCEPT ? 'fine' : null })
    expect(await getTask(taskId)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { decision } },
    })
  })

  it('leaves the approval open if the form is cancelled', async () => {
    const { taskId, approvalId } = await newTask()
    expect((await update(taskId, { [approvalId]: { action: 'cancel' } })).error).toBeUndefined()
    expect((await getTask(taskId)).inputRequests).toHaveProperty(approvalId)
  })

  it('ignores what is not outstanding: other keys, a second answer, and one after the end', async () => {
    const { taskId, approvalId } = await newTask()
    const others = { other: { action: 'accept' }, constructor: 'x' }
    expect((await update(taskId, others)).result).toBeDefined()
    expect((await getTask(taskId)).status).toBe('input_required')
    const answers = await Promise.all(
      ['approve', 'reject', 'approve'].map((decision) =>
        update(taskId, { ...others, [approvalId]: { action: 'accept', content: { decision } } }),
      ),
    )
    for (const { error } of answers) expect(error).toBeUndefined()
    const output = await outputOf(taskId)
    expect((await update(taskId, { [approvalId]: { action: 'decline' } })).error).toBeUndefined()
    expect(await outputOf(taskId)).toEqual(output)
  })

  it.each([
    ['no responses', undefined, 'inputResponses must be an object'],
    ['a list', [], 'inputResponses must be an object'],
    ['null', null, 'inputResponses must be an object'],
    ['a response that is no object', () => 'yes', 'action accept, decline or cancel'],
    ['another action', () => ({ action: 'approve' }), 'action accept, decline or cancel'],
    ['no content', () => ({ action: 'accept' }), 'content must have the decision'],
    [
      'no decision',
      () => ({ action: 'accept', content: {} }),
      'content.decision must be "approve" or "reject"',
    ],
    [
      'another decision',
      () => ({ action: 'accept', content: { decision: 'timeout' } }),
      'content.decision must be "approve" or "reject"',
    ],
    [
      'a note of 5 MB',
      () => ({ action: 'accept', content: { decision: 'approve', note: 'x'.repeat(5_000_000) } }),
      'content.note must be a string of at most 2000 characters',
    ],
  ])('rejects %s, and nothing is decided', async (_, given, message) => {
    const { taskId, approvalId } = await newTask()
    const responses = typeof given === 'function' ? { [approvalId]: given() } : given
    const { error } = await update(taskId, responses)
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) })
    expect(error.message.length).toBeLessThan(200)
    expect((await getTask(taskId)).status).toBe('input_required')
  })

  it('accepts 5 MB of keys that it ignores', async () => {
    const { taskId, approvalId } = await newTask()
    const keys = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, i) => [`key-${i}-${'x'.repeat(20)}`, null]),
    )
    expect((await update(taskId, { ...keys, [approvalId]: ACCEPT })).error).toBeUndefined()
    expect(await outputOf(taskId)).toMatchObject({ decision: 'approve' })
  })

  it('is refused without the scope approve, and nothing is decided', async () => {
    const { taskId, approvalId } = await newTask()
    const client = await org.withLimits({ scopes: ['run', 'read', 'manage', 'review'] })
    const { error } = await update(taskId, { [approvalId]: ACCEPT }, client)
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('scope approve') })
    expect((await getTask(taskId)).status).toBe('input_required')
  })

  it('is for the tokens that may see the execution', async () => {
    const { taskId, approvalId } = await newTask()
    for (const client of [(await newOrganization()).call, await org.withLimits({ tenantId: 'globex' })])
      expect((await update(taskId, { [approvalId]: ACCEPT }, client)).error.code).toBe(-32602)
    expect((await getTask(taskId)).status).toBe('input_required')
  })
})
