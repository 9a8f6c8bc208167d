import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newCli } from '../cli/cli.ts'
import { finalAnswer } from '../support/engine/model-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'

const FOLDER = fileURLToPath(new URL('../../examples/agents/read-invoice', import.meta.url))
const ANSWER = { supplier: 'Harbor Print Ltd', date: '2026-11-14', currency: 'EUR', total: 384, vat: 64 }

const cli = newCli()
let scripted: ScriptedModel
beforeAll(async () => {
  scripted = await startScriptedModel()
})
afterAll(async () => {
  await scripted.stop()
  cli.remove()
})

describe('the example read-invoice', () => {
  it('sends its PDF to the model', async () => {
    scripted.script('claude-sonnet-4-5', [{ calls: [finalAnswer(ANSWER)] }])
    const environment = scripted.environmentFor('anthropic') as Record<string, string>
    const output = await cli.json(['run', FOLDER, '--file', `invoice=${FOLDER}/invoice.pdf`], { environment })
    expect(output).toEqual(ANSWER)
    const [request] = scripted.requests('claude-sonnet-4-5')
    expect(request?.history).toContainEqual({
      type: 'file',
      role: 'user',
      part: expect.objectContaining({ type: 'document' }),
    })
  })
})
