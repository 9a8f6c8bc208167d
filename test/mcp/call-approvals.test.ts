import { expect, it } from 'vitest'
import { type Access, UNLIMITED } from '../../lib/core/access.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { respondToMcp } from '../../lib/mcp/respond-to-mcp.ts'
import type { McpEngine } from '../../lib/mcp/tool-call.ts'
import { system } from '../../lib/system.ts'
import { aModelAgent, httpTool } from '../support/engine/model-agent.ts'
import { aMessage, answer, startScriptedEngine } from '../support/engine/scripted-engine.ts'
import { modernRequest, parseMessages, TASKS_AND_FORMS } from './messages.ts'

const { engine, queued, server } = await startScriptedEngine()
const input = { id: { type: 'string', description: 'The order.' } }
const CALLER = system.newId()

/** A run of a model that has called one tool which anybody approves, and one which its caller may not approve. */
async function aRun() {
  const tools = [
    httpTool(server, 'refund', '/refunds/{id}', { input, approval: true }),
    httpTool(server, 'erase', '/erase/{id}', { input, approval: { notByCaller: true } }),
  ]
  const version = await aModelAgent({ tools, slug: `asks-${system.newId()}` })
  const calls = [
    { name: 'refund', input: { id: 'a' } },
    { name: 'erase', input: { id: 'b' } },
  ]
  const { execution } = await queued([{ calls }, answer], version, { tokenId: CALLER })
  await processMessage(engine, execution.id, aMessage())
  return execution
}

async function send(access: Access, method: string, params: { taskId: string; [key: string]: unknown }) {
  const { headers, body } = modernRequest(method, params, TASKS_AND_FORMS)
  const event = {
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    requestContext: { requestId: 'r' },
  } as unknown as ServiceEvent
  const { stream } = await respondToMcp({
    engine: engine as unknown as McpEngine,
    corsOrigins: [],
    access,
    event,
  })
  return parseMessages(String(stream)).at(-1)
}

it('shows each token the approvals on which it may decide, and refuses the others', async () => {
  const { id: taskId, organizationId } = await aRun()
  const [caller, other] = [CALLER, system.newId()].map((tokenId) => ({
    ...UNLIMITED,
    organizationId,
    tokenId,
  }))
  const formsOf = async (access: Access) => {
    const { inputRequests } = (await send(access, 'tasks/get', { taskId })).result
    return Object.entries(inputRequests as Record<string, { params: { message: string } }>).map(
      ([id, { params }]) => [params.message, id] as const,
    )
  }
  const forms = Object.fromEntries(await formsOf(other as Access))
  const REFUND = 'May the agent call refund?\nrefund: {"id":"a"}'
  const ERASE = 'May the agent call erase?\nerase: {"id":"b"}'
  expect(Object.keys(forms)).toEqual([REFUND, ERASE])
  expect(await formsOf(caller as Access)).toEqual([[REFUND, forms[REFUND]]])

  const approve = { action: 'accept', content: { decision: 'approve' } }
  const invalid = { [forms[REFUND] ?? '']: approve, [forms[ERASE] ?? '']: { action: 'accept' } }
  const rejected = await send(other as Access, 'tasks/update', { taskId, inputResponses: invalid })
  expect(rejected.error.code).toBe(-32602)
  expect(await formsOf(other as Access)).toHaveLength(2)

  const refused = await send(caller as Access, 'tasks/update', {
    taskId,
    inputResponses: { [forms[ERASE] ?? '']: approve },
  })
  expect(refused.error).toEqual({
    code: -32602,
    message:
      'The token that started the execution cannot decide on this approval, nor can a token that it or the same person has created.',
  })
  // A part of the answers; the other approval stays open.
  await send(caller as Access, 'tasks/update', { taskId, inputResponses: { [forms[REFUND] ?? '']: approve } })
  expect(await formsOf(other as Access)).toEqual([[ERASE, forms[ERASE]]])
})
