import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { system } from '../../../lib/system.ts'
import { ask, asksOnce } from '../../support/engine/family.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { contentOf, runReplay } from '../../support/replay/a-replay.ts'
import { originalsOn } from '../../support/replay/originals.ts'
import type { ScriptedCall } from '../../support/scripted-model/turn.ts'

const scripted = await startScriptedEngine()
const { engine, scriptModel } = scripted
const { anOriginal, aDraft } = originalsOn(scripted)

const tools = [{ name: 'helper', agent: 'helper' }]

/** An original that has called another agent, whose model is asked as often as it is called. */
async function aParent(calls: ScriptedCall[]) {
  const organizationId = system.newId()
  const helper = scriptModel(() => ({ calls: [finalAnswer({ answer: 'Helped.' })] }))
  await aModelAgent({ organizationId, slug: 'helper', model: helper.model })
  const parent = await anOriginal(asksOnce(calls), { organizationId, tools })
  return { ...parent, helper }
}

const childrenOf = async ({ organizationId, id }: Execution) => {
  const page = { organizationId, agentId: null, status: null, tenantId: null, limit: 100, after: null }
  return (await engine.executions.list(page)).items.filter((each) => each.parentExecutionId === id)
}

describe('agents that a replayed agent calls', () => {
  it('do not run: their results are those of the original, and so is what they used', async () => {
    const { original, version, steps, helper } = await aParent([ask('helper'), ask('helper')])
    expect(original.childUsage).not.toBeNull()
    expect(helper.requests).toHaveLength(2)
    const live = { tools: { default: 'live' as const, helper: 'live' as const } }
    for (const settings of [{}, live, { models: 'recorded' as const }]) {
      const { draft } = await aDraft(version, asksOnce([ask('helper'), ask('helper')]), { tools })
      const isRecorded = 'models' in settings
      const replayed = await runReplay(engine, original, isRecorded ? version : draft, { settings })
      expect(replayed.execution).toMatchObject({
        status: 'SUCCESS',
        output: original.output,
        childUsage: null,
      })
      expect(contentOf(replayed.steps)[0]?.results).toEqual(contentOf(steps)[0]?.results)
      const { usage, childUsage } = original
      const expected = {
        inputTokens: (childUsage?.inputTokens ?? 0) + (isRecorded ? usage.inputTokens : 0),
        outputTokens: (childUsage?.outputTokens ?? 0) + (isRecorded ? usage.outputTokens : 0),
      }
      expect(replayed.execution.replayedUsage).toEqual(expected)
      expect(await childrenOf(replayed.execution)).toEqual([])
    }
    expect(helper.requests).toHaveLength(2)
  })

  it('are not started by a call that the original did not make', async () => {
    const { original, version, helper } = await aParent([ask('helper')])
    const other = { name: 'helper', input: { question: 'Another one?' } }
    const { draft } = await aDraft(version, [{ calls: [other] }, answer], { tools })
    const settings = { tools: { default: 'live' as const } }
    const { execution } = await runReplay(engine, original, draft, { settings })
    expect(execution.error).toMatchObject({ code: 'Diverged', tool: 'helper', input: other.input, step: 1 })
    expect(await childrenOf(execution)).toEqual([])
    expect(helper.requests).toHaveLength(1)
  })
})
