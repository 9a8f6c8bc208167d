import { describe, expect, it } from 'vitest'
import { waitForExecution } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { sendModern, TASKS_AND_FORMS } from './messages.ts'

const org = await organizationWith('asks')

const send = (method: string, params: object) => sendModern(org.call, method, { ...params }, TASKS_AND_FORMS)
const getTask = async (taskId: string) => (await send('tasks/get', { taskId })).result
const update = (taskId: string, inputResponses: unknown) => send('tasks/update', { taskId, inputResponses })

const ACCEPT = { action: 'accept', content: { decision: 'approve', note: 'fine' } }

/** A task whose run waits for an approval. */
async function newTask(): Promise<{ taskId: string; approvalId: string }> {
  const { result } = await send('tools/call', { name: 'asks', arguments: { usd: 200 } })
  const { waitingFor } = await org.getExecution(result.taskId)
  return { taskId: result.taskId, approvalId: waitingFor[0].id }
}

it('an approval in a task is a form, by its ID', async () => {
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

describe('tasks/update', () => {
  it.each([
    ['an approval', ACCEPT, 'approve'],
    ['a rejection', { action: 'accept', content: { decision: 'reject', note: '' } }, 'reject'],
    ['a form that is declined as a rejection', { action: 'decline' }, 'reject'],
  ])('stores %s', async (_, response, decision) => {
    const { taskId, approvalId } = await newTask()
    const { result } = await update(taskId, { [approvalId]: response })
    expect(Object.keys(result)).toEqual(['resultType', '_meta'])
    expect((await waitForExecution(org.call, taskId)).output).toEqual({ decision, usd: 200 })
    const [step] = (await org.call('GET', `/v1/agent_executions/${taskId}/steps`)).json
    expect(step.result).toMatchObject({ decision, note: response === ACCEPT ? 'fine' : null })
    expect(await getTask(taskId)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { decision } },
    })
  })

  const NO_DECISION = { action: 'accept', content: {} }
  it.each([
    ['no responses', () => undefined, 'inputResponses must be an object'],
    ['a response that is no object', (id: string) => ({ [id]: 'yes' }), 'action accept, decline or cancel'],
    [
      'no decision',
      (id: string) => ({ [id]: NO_DECISION }),
      'content.decision must be "approve" or "reject"',
    ],
  ])('rejects %s, and nothing is decided', async (_, responsesOf, message) => {
    const { taskId, approvalId } = await newTask()
    const { error } = await update(taskId, responsesOf(approvalId))
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) })
    expect(error.message.length).toBeLessThan(200)
    expect((await getTask(taskId)).status).toBe('input_required')
  })
})
