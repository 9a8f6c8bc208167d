import { describe, expect, it } from 'vitest'
import { archiveAgent } from '../../../lib/agents/lifecycle/archive-agent.ts'
import { childId } from '../../../lib/engine/model-agent/child-id.ts'
import { subAgents } from '../../../lib/engine/model-agent/sub-agents.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine.ts'
import { anExecution } from '../../support/executions.ts'
import { aModelAgent } from '../../support/model-agent.ts'
import { sharedTable } from '../../support/organization.ts'

const engine = engineOn(sharedTable())
const SLUG = 'helper'
const input = { question: 'Well?' }

async function aHelper(answer: string, organizationId = system.newId()) {
  const code = `export default () => ({ answer: ${JSON.stringify(answer)} })`
  return aModelAgent({ organizationId, slug: SLUG, code: true }, { code })
}

const archive = (organizationId: string) =>
  archiveAgent({ store: engine.agents, organizationId, idOrSlug: SLUG }, new Date().toISOString())

/** The agents that a new execution can call. */
async function openAgents(organizationId: string) {
  const parent = anExecution({ organizationId })
  await engine.executions.create({ execution: parent })
  const agents = subAgents(engine, parent, { attempt, budget: null })
  const run = (idempotencyKey: string) =>
    agents.runAgent({ slug: SLUG, input, idempotencyKey, signal: new AbortController().signal })
  return { parent, agents, run }
}

describe('subAgents', () => {
  it('describe an archived agent, and fail its calls without an execution', async () => {
    const { organizationId, agentId } = await aHelper('A')
    await archive(organizationId)
    const { agents, run } = await openAgents(organizationId)
    expect(await agents.describeAgent(SLUG)).toMatchObject({ description: 'Answers questions.' })
    expect(await run('call')).toMatchObject({ ok: false, error: 'The agent helper is archived.' })
    const filter = { organizationId, agentId, status: null, tenantId: null, limit: 10, after: null }
    expect((await engine.executions.list(filter)).items).toEqual([])
  })

  it.each([
    ['while another version is current', () => undefined],
    ['of an agent that is archived by now', archive],
  ])('continue a call that began before on its version, %s', async (_, change) => {
    const { id: versionId, organizationId, agentId } = await aHelper('A')
    const { parent, run } = await openAgents(organizationId)
    const id = childId(parent, 'call')
    const callers = [parent.agentId]
    const child = anExecution({
      organizationId,
      agentId,
      versionId,
      input,
      parent: { executionId: parent.id, callers },
    })
    await engine.executions.create({ execution: { ...child, id } })
    await aHelper('B', organizationId)
    await change(organizationId)
    expect(await run('call')).toMatchObject({ ok: true, value: { answer: 'A' } })
    expect(await engine.executions.get({ organizationId, id })).toMatchObject({
      versionId,
      status: 'SUCCESS',
    })
  })
})
