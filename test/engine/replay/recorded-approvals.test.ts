import { afterAll, describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { ReplaySource } from '../../../lib/core/trial.ts'
import { openApprovals } from '../../../lib/engine/waiting/approvals.ts'
import { decideApproval } from '../../../lib/engine/waiting/decide-approval.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { aMessage, answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { contentOf, originalsOn, readModelSteps, runReplay } from '../../support/replay/a-replay.ts'
import type { RecordedRequest } from '../../support/scripted-model/recorded-request.ts'

const scripted = await startScriptedEngine()
const { engine } = scripted
const server = await startToolServer((path, response) => void response.end(JSON.stringify({ path })))
afterAll(() => server.stop())

const asking = (more: object = {}) => [httpTool(server, 'order', '/orders/{id}', { approval: true, ...more })]
const { anAgent, anOriginal, aDraft } = originalsOn(scripted, { tools: asking() })
const order = (id: string) => ({ name: 'order', input: { id } })
const script = [{ calls: [order('a')] }, answer]

type Decided = { decision: 'approve' | 'reject'; input?: JsonObject | null; note?: string | null }

/** An original whose call somebody has decided on. */
async function aDecided({ decision, input = null, note = null }: Decided) {
  const { version, requests } = await anAgent(script)
  const execution = executionOf(version, { input: { question: 'Why?' } })
  await engine.executions.create({ execution })
  await processMessage(engine, execution.id, aMessage())
  const waiting = await engine.executions.getSummary(execution)
  if (!waiting?.suspension) throw new Error('The original does not wait.')
  const [approval] = await openApprovals(engine, waiting)
  const { organizationId } = version
  const access = { ...UNLIMITED, organizationId, tokenId: organizationId }
  const deciding = { executionId: execution.id, approvalId: approval?.id ?? '', decision, input, note }
  await decideApproval(engine, { access, ...deciding })
  await processMessage(engine, execution.id, {
    ...aMessage(),
    message: { ...aMessage().message, wakes: true },
  })
  const original = await engine.executions.get(execution)
  expect(original?.status).toBe('SUCCESS')
  if (!original) throw new Error('The original does not exist.')
  return { original, version, steps: await readModelSteps(engine, original), requests }
}

/** What the model was told last, without the id of the call. */
function lastMessage(requests: RecordedRequest[]): unknown {
  const { messages } = { messages: [], ...requests.at(-1)?.body } as { messages: JsonObject[] }
  return messages.at(-1)?.content
}

describe('calls that needed an approval', () => {
  const decisions: [string, Decided][] = [
    ['approved', { decision: 'approve' }],
    ['approved with a note', { decision: 'approve', note: 'Only once.' }],
    ['changed', { decision: 'approve', input: { id: 'b' } }],
    ['rejected', { decision: 'reject', note: 'Too much.' }],
  ]
  it.each(decisions)('are not asked for again, and are shown as they were: %s', async (_, decided) => {
    const { original, version, steps, requests } = await aDecided(decided)
    const calls = server.calls.length
    const recorded = await runReplay({ ...engine, environment: {} }, original, version, {
      settings: { models: 'recorded' },
    })
    expect(recorded.execution).toMatchObject({ status: 'SUCCESS', waitedMs: 0, attempts: 1 })
    expect(contentOf(recorded.steps)).toEqual(contentOf(steps))
    // Also those of a model that is asked again, whose calls have other ids.
    const versions: [object[], ReplaySource][] = [
      [asking(), 'recorded'],
      [[httpTool(server, 'order', '/orders/{id}')], 'recorded'],
      [asking({ readOnly: true }), 'live'],
    ]
    for (const [tools, source] of versions) {
      const { draft, requests: sent } = await aDraft(version, script, { tools })
      const settings = { tools: { default: source } }
      const { execution } = await runReplay(engine, original, draft, { settings })
      expect(execution).toMatchObject({ status: 'SUCCESS', waitedMs: 0, attempts: 1 })
      expect(lastMessage(sent)).toEqual(lastMessage(requests))
    }
    expect(server.calls).toHaveLength(calls)
  })

  it('for the first time have the result of the original', async () => {
    const { original, version, steps } = await anOriginal(script, {
      tools: [httpTool(server, 'order', '/orders/{id}')],
    })
    const calls = server.calls.length
    for (const source of ['recorded', 'live'] as const) {
      const { draft } = await aDraft(version, script, { tools: asking({ readOnly: true }) })
      const settings = { tools: { default: source } }
      const { execution, steps: replayed } = await runReplay(engine, original, draft, { settings })
      expect(execution).toMatchObject({ status: 'SUCCESS', waitedMs: 0 })
      expect(contentOf(replayed)[0]?.results).toEqual(contentOf(steps)[0]?.results)
    }
    // The model does not see which calls need one.
    const { model } = original
    for (const tools of [asking(), asking({ readOnly: true })]) {
      const { draft } = await aDraft(version, [], { tools, model })
      const settings = { models: 'recorded' as const, tools: { default: 'live' as const } }
      const { execution } = await runReplay({ ...engine, environment: {} }, original, draft, { settings })
      expect(execution).toMatchObject({ status: 'SUCCESS', replayedUsage: original.usage })
    }
    expect(server.calls).toHaveLength(calls)
  })

  it('are not executed if the original did not make them, although their tool is live', async () => {
    const { original, version } = await aDecided({ decision: 'approve' })
    const { draft } = await aDraft(version, [{ calls: [order('new')] }, answer], {
      tools: asking({ readOnly: true }),
    })
    const calls = server.calls.length
    const { execution } = await runReplay(engine, original, draft, {
      settings: { tools: { default: 'live' } },
    })
    expect(execution.error).toMatchObject({ code: 'Diverged', tool: 'order', input: { id: 'new' } })
    expect(server.calls).toHaveLength(calls)
  })

  it('end the run if nobody had decided', async () => {
    const { version } = await anAgent(script)
    const execution = executionOf(version, { input: { question: 'Why?' } })
    await engine.executions.create({ execution })
    await processMessage(engine, execution.id, aMessage())
    const waiting = await engine.executions.get(execution)
    if (!waiting) throw new Error('The original does not exist.')
    const { draft } = await aDraft(version, script)
    const { execution: replayed } = await runReplay(engine, waiting, draft)
    expect(replayed).toMatchObject({
      status: 'ERROR',
      error: { code: 'Diverged', tool: 'order' },
      waitedMs: 0,
    })
  })
})
