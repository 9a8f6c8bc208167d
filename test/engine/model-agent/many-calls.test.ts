import { describe, expect, inject, it } from 'vitest'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'

const { aToolAgent, runScript, server } = await startScriptedEngine()

const providers = inject('isNightly') ? SCRIPTED_PROVIDERS : SCRIPTED_PROVIDERS.slice(0, 1)

describe.each(providers)('a response of %s with 184 calls of one tool', (provider) => {
  it('executes 100 of them, and the model learns of the others', async () => {
    const executed = 100
    const calls = Array.from({ length: 184 }, (_, id) => ({ name: 'look_up', input: { id: `${id}` } }))
    const before = server.calls.length
    const { execution, steps, requests, done } = await runScript([{ calls }, answer], {
      version: await aToolAgent(),
      provider,
    })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 2 })
    expect(server.calls.length - before).toBe(executed)
    const results =
      requests[1]?.history.flatMap((item) => (item.type === 'result' ? [item.output] : [])) ?? []
    expect(results).toHaveLength(184)
    expect(results.filter((result) => result.includes('was not executed'))).toHaveLength(184 - executed)
    const [first] = steps
    const errors = first?.step.kind === 'MODEL' ? first.step.calls.filter(({ error }) => error !== null) : []
    expect(errors).toHaveLength(184 - executed)
  })
})
