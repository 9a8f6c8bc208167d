import { expect, it } from 'vitest'
import { type Access, UNLIMITED } from '../../lib/core/access.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
import { respondToMcp } from '../../lib/mcp/respond-to-mcp.ts'
import type { McpEngine } from '../../lib/mcp/tool-call.ts'
import { system } from '../../lib/system.ts'
import { aModelAgent, httpTool } from '../support/engine/model-agent.ts'
import { aMessage, answer, startScriptedEngine } from '../support/engine/scripted-engine.ts'
import { modernRequest, parseMessages, TASKS_AND_FORMS, toMcpEvent } from './messages.ts'

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
  const event = toMcpEvent(modernRequest(method, params, TASKS_AND_FORMS))
  const opened = engine as unknown as McpEngine
  const { stream } = await respondToMcp({ engine: opened, corsOrigins: [], access, event })
  return parseMessages(String(stream)).at(-1)
}

it('shows each token the approvals on which it may decide, and refuses the others', async () => {
  const { id: taskId, organizationId } = await aRun()
  const accessOf = (tokenId: string): Access => ({ ...UNLIMITED, organizationId, tokenId })
  const [caller, other] = [accessOf(CALLER), accessOf(system.newId())]
  const update = (access: Access, inputResponses: object) =>
    send(access, 'tasks/update', { taskId, inputResponses })
  const formsOf = async (access: Access) => {
    const { inputRequests } = (await send(access, 'tasks/get', { taskId })).result
    return Object.entries(inputRequests as Record<string, { params: { message: string } }>).map(
      ([id, { params }]) => [params.message, id] as const,
    )
  }
  const forms = Object.fromEntries(await formsOf(other))
  const REFUND = 'May the agent call refund?\nrefund: {"id":"a"}'
  const ERASE = 'May the agent call erase?\nerase: {"id":"b"}'
  expect(Object.keys(forms)).toEqual([REFUND, ERASE])
  const [refund = '', erase = ''] = Object.values(forms)
  expect(await formsOf(caller)).toEqual([[REFUND, refund]])

  const approve = { action: 'accept', content: { decision: 'approve' } }
  const rejected = await update(other, { [refund]: approve, [erase]: { action: 'accept' } })
  expect(rejected.error.code).toBe(-32602)
  expect(await formsOf(other)).toHaveLength(2)

  expect((await update(caller, { [erase]: approve })).error).toEqual({
    code: -32602,
    message:
      'The token that started the execution cannot decide on this approval, nor can a token that it or the same person has created.',
  })
  // A part of the answers; the other approval stays open.
  await update(caller, { [refund]: approve })
  expect(await formsOf(other)).toEqual([[ERASE, erase]])
})
