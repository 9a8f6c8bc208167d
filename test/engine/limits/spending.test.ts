import { describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { LimitSubject, Spending, UsageLimits } from '../../../lib/core/usage-limits.ts'
import { NO_LIMITS } from '../../../lib/core/usage-limits.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import type { Script } from '../../support/scripted-model/turn.ts'

const scripted = await startScriptedEngine()
const { queued, scriptModel } = scripted
/** A token costs a millicent: 1,000 tokens are a cent. */
const environment = {
  ...scripted.engine.environment,
  MODEL_PRICES: '{"openai-compatible/*": {"input": 10, "output": 10}}',
}
const engine = { ...scripted.engine, environment }

const usage = { inputTokens: 999, outputTokens: 1 }
const wrong = { calls: [finalAnswer({ wrong: true })], usage }
const right = { calls: [finalAnswer({ answer: 'Because.' })], usage }
const ask = { calls: [{ name: 'ask', input: { question: 'Well?' } }], usage }

const tenant: LimitSubject = { kind: 'tenant', id: 'acme' }
const agentOf = ({ agentId: id }: Version): LimitSubject => ({ kind: 'agent', id })

async function limit({ organizationId }: Version, subject: LimitSubject, limits: Partial<UsageLimits>) {
  const stored = { ...NO_LIMITS, ...limits, updatedAt: new Date().toISOString() }
  await engine.limits.put({ organizationId, subject, limits: stored })
}

const spentBy = async ({ organizationId }: Version, subject: LimitSubject) =>
  (await engine.limits.getSpent({ organizationId, subject, at: Date.now() })).day

async function run(version: Version, script: Script, { on = engine as Engine, tenantId = 'acme' } = {}) {
  const { execution, stored, modelRequests } = await queued(script, version, { tenantId })
  await processMessage(on, execution.id)
  return { ended: await stored(), modelRequests }
}

/** An engine that counts what it asks of the limits. */
function counting() {
  const calls: string[] = []
  const limits = new Proxy(engine.limits, {
    get(target, name: keyof typeof engine.limits) {
      calls.push(name)
      return target[name]
    },
  })
  return { on: { ...engine, limits }, calls }
}

describe('a cost limit', () => {
  it('ends a run before its next model request, with the name of the limit', async () => {
    const version = await aModelAgent()
    await limit(version, tenant, { maxCostUsd: { day: 0.015, month: null } })
    const { ended, modelRequests } = await run(version, () => wrong)
    expect(ended).toMatchObject({
      status: 'ERROR',
      steps: 2,
      error: {
        code: 'BudgetExceeded',
        message: 'The tenant acme has used up its limit of 0.015 US dollars per day (maxCostUsd.day).',
        tenantId: 'acme',
        limit: 'maxCostUsd.day',
        max: 0.015,
        step: 2,
      },
    })
    expect(modelRequests()).toBe(2)
    expect(await spentBy(version, tenant)).toBe(0.02)
    const next = await run(version, () => right)
    expect(next.ended).toMatchObject({ steps: 0, error: { code: 'BudgetExceeded' } })
    expect(next.modelRequests()).toBe(0)
    expect((await run(version, () => right, { tenantId: 'other' })).ended.status).toBe('SUCCESS')
  })

  it('is that of the month or of the agent, too', async () => {
    const version = await aModelAgent()
    await limit(version, agentOf(version), { maxCostUsd: { day: null, month: 0.01 } })
    const { ended } = await run(version, () => wrong)
    const error = { agentId: version.agentId, limit: 'maxCostUsd.month', max: 0.01 }
    expect(ended).toMatchObject({ steps: 1, error })
  })

  it('lets called agents spend for their tenant, and for themselves', async () => {
    const organizationId = system.newId()
    const { model } = scriptModel([right])
    const helper = await aModelAgent({ organizationId, slug: 'helper', model })
    const tools = [{ name: 'ask', agent: 'helper' }]
    const boss = await aModelAgent({ organizationId, slug: 'boss', tools })
    for (const subject of [tenant, agentOf(helper), agentOf(boss)])
      await limit(boss, subject, { maxCostUsd: { day: 1, month: null } })
    const { ended } = await run(boss, [ask, right])
    expect(ended.status).toBe('SUCCESS')
    expect(await spentBy(boss, tenant)).toBe(0.03)
    expect(await spentBy(boss, agentOf(helper))).toBe(0.01)
    expect(await spentBy(boss, agentOf(boss))).toBe(0.02)
  })

  it('counts responses that are lost, and stops the requests that repeat them', async () => {
    const version = await aModelAgent()
    await limit(version, tenant, { maxCostUsd: { day: 0.03, month: null } })
    const lost = { cut: { text: 'word '.repeat(2_000) }, chunks: 3, by: 'close' as const }
    const { ended, modelRequests } = await run(version, () => lost)
    expect(ended).toMatchObject({ steps: 0, error: { code: 'BudgetExceeded', limit: 'maxCostUsd.day' } })
    expect(modelRequests()).toBeLessThan(5)
    expect(await spentBy(version, tenant)).toBeCloseTo(ended.usage.costUsd ?? 0, 9)
  })

  it('keeps the response if its cost cannot be added, and retries the run if the limit cannot be read', async () => {
    const version = await aModelAgent()
    await limit(version, tenant, { maxCostUsd: { day: 1, month: null } })
    const fail = async () => {
      throw new Unavailable(new Error('throttled'))
    }
    const forgetful = { ...engine, limits: { ...engine.limits, addSpent: fail } }
    expect((await run(version, [right], { on: forgetful })).ended.status).toBe('SUCCESS')
    const blind = { ...engine, limits: { ...engine.limits, getSpent: fail } }
    const { ended, modelRequests } = await run(version, [right], { on: blind })
    expect(ended).toMatchObject({ status: 'IN_PROGRESS', lease: null })
    expect(modelRequests()).toBe(0)
  })

  it('tells of spending where there is a share to warn at, each time it knows of it', async () => {
    const version = await aModelAgent()
    await limit(version, tenant, { maxCostUsd: { day: 0.1, month: null }, warnAt: 0.2 })
    const told: Spending[] = []
    const on = { ...engine, warnAtLimit: async (spending: Spending) => void told.push(spending) }
    await run(version, [wrong, right], { on })
    const { organizationId } = version
    expect(told[0]).toMatchObject({ organizationId, subject: tenant, limits: { warnAt: 0.2 } })
    // Before and after each request.
    expect(told.map(({ spent }) => spent.day)).toEqual([0, 0.01, 0.01, 0.02])
  })
})

describe('an organization without limits', () => {
  it('is asked once in 30 s whether it has any, and nothing else', async () => {
    const version = await aModelAgent()
    const { on, calls } = counting()
    await run(version, [wrong, wrong, right], { on })
    await run(version, [wrong, right], { on })
    expect(calls).toEqual(['hasAny'])
  })

  it('pays for no tenant and no agent that has none', async () => {
    const version = await aModelAgent()
    await limit(version, { kind: 'tenant', id: 'another' }, { maxCostUsd: { day: 1, month: null } })
    const { on, calls } = counting()
    await run(version, [wrong, wrong, right], { on })
    await run(version, [right], { on })
    expect(calls).toEqual(['hasAny', 'get', 'get'])
  })
})
