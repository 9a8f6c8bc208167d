import { describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { ExactNumber } from '../../../lib/core/json/exact-number.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { aMessage, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { queueReplay, withPrices } from '../../support/replay/a-replay.ts'

const scripted = await startScriptedEngine()
const engine = withPrices(scripted.engine)
const anything = { type: 'object' }

/** A code agent with this body of `run(input, context)`. */
const anAgent = (organizationId: string, slug: string, body: string, fields: Partial<Version> = {}) =>
  aModelAgent(
    { organizationId, slug, code: true, outputSchema: anything, ...(fields as object) },
    { code: `export default async (input, context) => { ${body} }` },
  )

/** The end of a line of a trial whose original said 1, and which says 2, as the scorer `body` sees it. */
async function score(
  body: string,
  fields: Partial<Version> = {},
  input: Json = { question: 'Why?' },
  organizationId = system.newId(),
) {
  const version = await anAgent(organizationId, 'agent', 'return { answer: "1" }', { inputSchema: anything })
  const original = executionOf(version, { input: input as never })
  await engine.executions.create({ execution: original })
  await processMessage(engine, original.id, aMessage())
  const inputSchema = { type: 'object', properties: { input: anything, output: anything } }
  await anAgent(organizationId, 'scorer', body, { inputSchema, ...fields })
  const draft = await anAgent(organizationId, 'agent', 'return { answer: "2" }', { inputSchema: anything })
  const trial = { organizationId, id: system.newId() }
  const line = await queueReplay(engine, original, draft, {
    batch: { id: trial.id, customId: original.id, line: 0, lane: 0 },
    settings: { scorers: [{ agent: 'scorer', tolerance: 0 }], maxTrialCostUsd: 1 },
  })
  await processMessage(engine, line.id, aMessage())
  const stored = await engine.executions.get(line)
  const { scores: [pair] = [], verdict } = stored?.judgement ?? {}
  const subject = { kind: 'trial' as const, id: trial.id }
  const { month: spent } = await engine.limits.getSpent({ organizationId, subject, at: Date.now() })
  const run = await engine.executions.get({ organizationId, id: pair?.originalScoreId ?? '' })
  return { status: stored?.status, verdict, pair, spent, run }
}

describe('a scorer in code', () => {
  it('scores both outputs, with numbers as doubles', async () => {
    const long = { big: new ExactNumber('12345678901234567890') as unknown as Json }
    const body = 'return { score: typeof input.input.big === "number" ? Number(input.output.answer) / 2 : 0 }'
    expect(await score(body, {}, long)).toMatchObject({
      ...{ status: 'SUCCESS', verdict: 'CHANGED', pair: { original: 0.5, trial: 1 }, spent: 0 },
    })
  })

  it('that waits is ended, and leaves no score', async () => {
    const found = await score("await context.sleep('a while', 3600); return { score: 1 }")
    expect(found).toMatchObject({
      status: 'SUCCESS',
      pair: { original: null, trial: null, error: { code: 'ScorerWaits' } },
      run: { status: 'ERROR', error: { code: 'ScorerWaits' } },
    })
  })

  it('spends what the trial may cost by the agents that it runs', async () => {
    const { model } = scripted.scriptModel(() => ({
      calls: [finalAnswer({ answer: 'x' })],
      usage: { inputTokens: 999, outputTokens: 1 },
    }))
    const organizationId = system.newId()
    const body = `const { answer } = await context.run('ask', 'judge', { question: input.output.answer }); return { score: answer === 'x' ? 1 : 0 }`
    await aModelAgent({ organizationId, slug: 'judge', model })
    const found = await score(body, {}, {}, organizationId)
    expect(found).toMatchObject({ status: 'SUCCESS', pair: { original: 1, trial: 1 } })
    expect(found.spent).toBeCloseTo(0.02, 9)
  })
})
