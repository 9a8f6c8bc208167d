import { describe, expect, it } from 'vitest'
import { toExecutionRecord } from '../../../lib/contract/records/execution.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'

const { aToolAgent, engine, runScript } = await startScriptedEngine()
engine.environment.MODEL_PRICES = JSON.stringify(
  Object.fromEntries(SCRIPTED_PROVIDERS.map((name) => [`${name}/*`, { input: 10, output: 10 }])),
)

const used = { inputTokens: 10, outputTokens: 5 }

const version = await aToolAgent()

describe.each(SCRIPTED_PROVIDERS)('a response of %s without usage', (provider) => {
  it('counts with an estimate', async () => {
    const text = 'word '.repeat(1_000)
    const silent = [{ ...lookup, text, usage: null }, answer]
    const { execution, steps } = await runScript(silent, { version, provider })
    const [first, last] = steps.map(({ step }) => (step.kind === 'MODEL' ? step.usage : null))
    expect(first).toMatchObject({ estimated: true, costUsd: expect.any(Number) })
    expect(first?.outputTokens).toBeGreaterThan(800)
    expect(first?.outputTokens).toBeLessThan(1_500)
    expect(first?.inputTokens).toBeGreaterThan(50)
    expect(first?.inputTokens).toBeLessThan(1_000)
    expect(last).toEqual({ ...used, costUsd: 0.00015 })
    expect(toExecutionRecord(execution).usage.estimated).toBe(true)
  })

  it('of zeros counts with an estimate', async () => {
    const zero = { ...answer, usage: { inputTokens: 0, outputTokens: 0 } }
    const { execution } = await runScript([zero], { version: await aModelAgent(), provider })
    expect(execution.usage).toMatchObject({ estimated: true })
    expect(execution.usage.inputTokens).toBeGreaterThan(50)
  })
})

describe.each(SCRIPTED_PROVIDERS)('a lost response of %s', (provider) => {
  const twins = { ...lookup, calls: [1, 2].map(() => ({ id: 'twin', name: 'look_up', input: { id: 'x' } })) }
  // The package for these servers replaces the second id.
  it.skipIf(provider === 'openai-compatible')(
    'whose calls have the same id counts with what it reports',
    async () => {
      const { execution, done } = await runScript([twins, answer], { version, provider })
      done()
      expect(execution).toMatchObject({ status: 'SUCCESS', steps: 1, lostUsage: used })
      expect(execution.usage).toMatchObject({ inputTokens: 20, outputTokens: 10, costUsd: 0.0003 })
    },
  )

  it('whose stream is cut counts with an estimate', async () => {
    const cut = { cut: { ...lookup, text: 'word '.repeat(1_000) }, by: 'close' as const }
    const { execution, done } = await runScript([cut, cut, answer], { version, provider })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 1, lostUsage: { estimated: true } })
    expect(execution.usage.inputTokens).toBeGreaterThan(110)
    expect(execution.usage.outputTokens).toBeGreaterThan(800)
    expect(toExecutionRecord(execution)).toMatchObject({
      usage: { estimated: true },
      costUsd: expect.any(Number),
    })
  })

  it('that is only an error of the provider costs nothing', async () => {
    const code = provider === 'bedrock' ? 'throttlingException' : 'rate_limit_error'
    const failed = { cut: {}, chunks: 0, by: { code, message: 'Overloaded.' } }
    const { execution } = await runScript([failed, answer], { version, provider })
    expect(execution).toMatchObject({ status: 'SUCCESS', lostUsage: null, usage: used })
  })
})
