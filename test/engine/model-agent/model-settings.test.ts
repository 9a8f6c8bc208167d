import { describe, expect, it } from 'vitest'
import { parseDocument } from '../../../lib/agents/document/check-document.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import { system } from '../../../lib/system.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'

const { engine, runScript } = await startScriptedEngine()

async function publish(model: string) {
  const fields = ['title: T', 'input: { question: { type: string } }', 'output: { answer: { type: string } }']
  const text = ['---', ...fields, model, '---', 'Answer.'].join('\n')
  const { document, problems } = parseDocument(text, 'settings')
  expect(problems).toEqual([])
  if (!document) throw new Error('The document is not valid.')
  const organizationId = system.newId()
  const agent = { document, code: null, digest: '' }
  const store = engine.agents
  const owner = { organizationId, createdBy: organizationId }
  return (await publishAgent({ store, system, ...owner, agent, draft: false })).version
}

const good = [{ calls: [finalAnswer({ answer: 'Yes.' })] }]

describe.each(SCRIPTED_PROVIDERS)('the settings of a model of %s', (provider) => {
  it('in a document are sent, also to a model that overrides its model', async () => {
    const version = await publish('model: { name: openai/gpt-5, maxOutputTokens: 700, temperature: 0.25 }')
    expect(version).toMatchObject({
      model: 'openai/gpt-5',
      modelSettings: { maxOutputTokens: 700, temperature: 0.25 },
    })
    const { execution, requests } = await runScript(good, { version, provider })
    expect(execution.status).toBe('SUCCESS')
    expect(requests[0]).toMatchObject({ maxOutputTokens: 700, temperature: 0.25 })
  })

  it('are named in a warning if the model does not accept them', async () => {
    const version = await publish('model: { name: openai/gpt-4.1, temperature: 0.25 }')
    const accepted = await runScript(good, { version, provider })
    expect(accepted.execution.warnings).toEqual([])
    const family = { openai: 'gpt-5', anthropic: 'claude-opus-5-5', bedrock: 'eu.anthropic.claude-opus-5' }
    if (provider === 'openai-compatible') return
    const { execution, requests } = await runScript(good, { version, provider, family: family[provider] })
    expect(requests[0]?.temperature).toBeNull()
    expect(execution).toMatchObject({ status: 'SUCCESS', warnings: ['TemperatureIgnored'] })
  })
})
