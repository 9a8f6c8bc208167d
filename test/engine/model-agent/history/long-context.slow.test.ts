import { afterAll, describe, expect, it } from 'vitest'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from '../../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../../support/engine/scripted-engine.ts'
import { computeCacheableShare } from '../../../support/scripted-model/prompt-cache.ts'
import { SCRIPTED_PROVIDERS } from '../../../support/scripted-model/start-scripted-model.ts'

const STEPS = 400
const RESULT_BYTES = 2_000
const WINDOW = 200_000

const { runScript } = await startScriptedEngine()
const server = await startToolServer((path, response) => {
  response.end(`${path} `.padEnd(RESULT_BYTES, 'Some data of a page. '))
})
afterAll(() => server.stop())

describe.each(SCRIPTED_PROVIDERS)(
  'a run of 400 steps with results of 2 kB in a window of 200,000 tokens on %s',
  (provider) => {
    it('ends in SUCCESS, and a provider can cache 95 % of its input', async () => {
      const version = await aModelAgent({
        tools: [httpTool(server, 'read', '/pages/{id}')],
        context: { window: WINDOW },
      })
      const { execution, requests } = await runScript(
        (_, index) =>
          index < STEPS
            ? { calls: [{ name: 'read', input: { id: `${index}` } }] }
            : { calls: [finalAnswer({ answer: 'Read.' })] },
        { version, provider, maxAgentSteps: 500 },
      )
      expect(execution).toMatchObject({ status: 'SUCCESS', steps: STEPS + 1 })
      const tokens = requests.map(({ body }) => JSON.stringify(body).length / 4)
      expect(Math.max(...tokens)).toBeLessThan(WINDOW)
      expect(JSON.stringify(requests.at(-1)?.body)).toContain('[cleared, ')
      const share = computeCacheableShare(requests)
      expect(share).toBeGreaterThan(0.95)
    })
  },
)
