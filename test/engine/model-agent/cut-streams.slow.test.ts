import { describe, expect, it } from 'vitest'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { FORMATS, SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { completeResponse } from '../../support/scripted-model/turn.ts'

const { aToolAgent, runScript, server } = await startScriptedEngine()

const lookup = {
  text: 'Let me look.',
  calls: [
    { name: 'look_up', input: { id: 'x' } },
    { name: 'look_up', input: { id: 'y' } },
  ],
}
const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

describe.each(SCRIPTED_PROVIDERS)('a run whose stream of %s is cut', (provider) => {
  it('after any number of chunks requests the response again and uses it once', async () => {
    const version = await aToolAgent()
    const { length } = FORMATS[provider].encode(completeResponse(lookup, '1', 'model'), {})
    for (let chunks = 0; chunks < length; chunks++) {
      const before = server.calls.length
      const script = [{ cut: lookup, chunks, by: 'close' as const }, lookup, answer]
      const { execution, done } = await runScript(script, { version, provider })
      done()
      expect(execution, `after ${chunks} of ${length} chunks`).toMatchObject({
        status: 'SUCCESS',
        steps: 2,
      })
      const { lostUsage, usage } = execution
      expect(lostUsage?.estimated).toBe(true)
      expect(usage.inputTokens - (lostUsage?.inputTokens ?? 0)).toBe(20)
      expect(usage.outputTokens - (lostUsage?.outputTokens ?? 0)).toBe(10)
      expect(
        server.calls
          .slice(before)
          .map(({ path }) => path)
          .sort(),
      ).toEqual(['/things/x', '/things/y'])
    }
  })
})
