import { describe, expect, inject, it } from 'vitest'
import { parseDocument } from '../../../lib/agents/document/check-document.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import { NEVER } from '../../../lib/engine/checkpoints/deadline.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent, finalAnswer, httpTool } from '../../support/engine/model-agent.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { resultsOf } from '../../support/scripted-model/recorded-request.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { ScriptedResponse } from '../../support/scripted-model/turn.ts'

const { engine, runScript, aToolAgent, scripted, server, queued } = await startScriptedEngine()

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

describe.each(SCRIPTED_PROVIDERS)('the settings of a model of %s', (provider) => {
  it('in a document are sent, also to a model that overrides its model', async () => {
    const version = await publish('model: { name: openai/gpt-5, maxOutputTokens: 700, temperature: 0.25 }')
    const modelSettings = { maxOutputTokens: 700, temperature: 0.25 }
    expect(version).toMatchObject({ model: 'openai/gpt-5', modelSettings })
    const { execution, requests } = await runScript([answer], { version, provider })
    expect(execution.status).toBe('SUCCESS')
    expect(requests[0]).toMatchObject(modelSettings)
  })

  it('are named in a warning if the model does not accept them', async () => {
    const version = await publish('model: { name: openai/gpt-4.1, temperature: 0.25 }')
    const accepted = await runScript([answer], { version, provider })
    expect(accepted.execution.warnings).toEqual([])
    const family = { openai: 'gpt-5', anthropic: 'claude-opus-5-5', bedrock: 'eu.anthropic.claude-opus-5' }
    if (provider === 'openai-compatible') return
    const { execution, requests } = await runScript([answer], { version, provider, family: family[provider] })
    expect(requests[0]?.temperature).toBeNull()
    expect(execution).toMatchObject({ status: 'SUCCESS', warnings: ['TemperatureIgnored'] })
  })
})

const outputSchema = {
  answer: { type: 'string', maxLength: 20 },
  score: { type: 'integer', minimum: 0, required: false },
}

const noScore = JSON.stringify({ answer: 'Because.', score: null })

describe.each<[Provider, string]>([
  ['openai', 'gpt-5'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['bedrock', 'eu.anthropic.claude-sonnet-4-5'],
])('an agent without tools on %s/%s', (provider, family) => {
  it('asks for native structured output with its first request', async () => {
    const version = await aModelAgent({ outputSchema })
    const { execution, requests, done } = await runScript([{ text: noScore }], { version, provider, family })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 1 })
    expect(execution.output).toEqual({ answer: 'Because.' })
    expect(requests[0]).toMatchObject({ tools: [], responseSchema: { required: ['answer', 'score'] } })
    expect(requests[0]?.instructions).not.toMatch(/final_answer|JSON Schema/)
  })

  it('gets the violations of a bound that the provider does not enforce', async () => {
    const version = await aModelAgent({ outputSchema })
    const long = { text: JSON.stringify({ answer: 'x'.repeat(21), score: null }) }
    const script = [long, { text: noScore }]
    const { execution, requests, done } = await runScript(script, { version, provider, family })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 2 })
    expect(requests[1]?.history.at(-1)).toMatchObject({
      text: expect.stringMatching(/does not match the output schema.*\n- \/answer must have at most 20/s),
    })
    expect(requests[1]?.responseSchema).toEqual(requests[0]?.responseSchema)
  })

  it('has a strict final-answer tool with tools', async () => {
    const version = await aToolAgent({ outputSchema })
    const answer = finalAnswer({ answer: 'Because.', score: null })
    const { execution, requests } = await runScript([{ calls: [answer] }], { version, provider, family })
    expect(execution.output).toEqual({ answer: 'Because.' })
    expect(requests[0]).toMatchObject({ responseSchema: null, forcedTool: null })
    expect(JSON.stringify(requests[0]?.body).match(/"strict":true/g)).toHaveLength(2)
  })
})

describe.each<[Provider, string]>([
  ['openai', 'proxied'],
  ['anthropic', 'claude-sonnet-4-20250514'],
  ['bedrock', 'eu.amazon.nova-lite'],
])('an agent without tools on %s/%s, whose native output is not known to work,', (provider, family) => {
  it('has to call the final-answer tool', async () => {
    const version = await aModelAgent()
    const { execution, requests } = await runScript([answer], { version, provider, family })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 1 })
    expect(requests[0]).toMatchObject({ forcedTool: 'final_answer', responseSchema: null })
  })
})

const searches = [{ query: 'AWS regions', urls: ['https://a.example/1'] }]
const MODELS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-5' } as const

type SearchProvider = keyof typeof MODELS

/** Runs an agent with a web search, whose worker releases it after every step. */
async function runInSteps(provider: SearchProvider, script: ScriptedResponse[], settings: object = {}) {
  const name = `${MODELS[provider]}-${system.newId()}`
  let drain = new AbortController()
  scripted.script(name, (_, index) => {
    drain.abort()
    return script[index] ?? { status: 400 }
  })
  const tools = [{ name: 'web_search', webSearch: {} }, httpTool(server, 'look_up', '/things/{id}')]
  const version = await aModelAgent({ tools, ...settings })
  const model = scripted.modelFor(provider, name)
  const { execution, stored } = await queued([], version, { options: { model } })
  for (const _ of script) {
    drain = new AbortController()
    const deadline = { drain: drain.signal, stop: NEVER }
    await processMessage(engine, execution.id, { message: aMessage().message, deadline })
  }
  expect(scripted.requests(name)).toHaveLength(script.length)
  return { stored: await stored(), requests: scripted.requests(name) }
}

describe.each(Object.keys(MODELS) as SearchProvider[])('a run that searches the web with %s', (provider) => {
  it('repeats no search when another worker resumes it, and sends its results back', async () => {
    const script = [{ searches, text: 'First.', ...lookup }, { searches, ...lookup }, answer]
    const { stored, requests } = await runInSteps(provider, script)
    expect(stored).toMatchObject({ status: 'SUCCESS', steps: 3, attempts: 3, warnings: [] })
    expect(stored.usage.webSearches).toBe(2)
    const searchesIn = requests.map(({ history }) => history.filter(({ type }) => type === 'search'))
    const parts = provider === 'anthropic' ? 2 : 1
    expect(searchesIn.map(({ length }) => length)).toEqual([0, parts, 2 * parts])
    expect(searchesIn[2]?.slice(0, parts)).toEqual(searchesIn[1])
    expect(JSON.stringify(searchesIn[1])).toContain('https://a.example/1')
  })

  it('has used its tools, although it called none', async () => {
    const { stored } = await runInSteps(provider, [{ searches, ...answer }], { requireTools: true })
    expect(stored).toMatchObject({ status: 'SUCCESS', warnings: [] })
  })
})

it('a response that anthropic paused is continued without a reminder, by any worker', async () => {
  const paused = { searches, text: '{"answer":"Not yet."}', stopReason: 'pause_turn' }
  const { stored, requests } = await runInSteps('anthropic', [paused, paused, answer])
  expect(stored).toMatchObject({ status: 'SUCCESS', steps: 3, output: { answer: 'Because.' } })
  expect(requests[2]?.history.filter(({ type }) => type === 'text')).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'assistant' },
  ])
})

const providers = inject('isNightly') ? SCRIPTED_PROVIDERS : SCRIPTED_PROVIDERS.slice(0, 1)

describe.each(providers)('a response of %s with 184 calls of one tool', (provider) => {
  it('executes 100 of them, and the model learns of the others', async () => {
    const executed = 100
    const calls = Array.from({ length: 184 }, (_, id) => ({ name: 'look_up', input: { id: `${id}` } }))
    const before = server.calls.length
    const version = await aToolAgent()
    const { execution, steps, requests, done } = await runScript([{ calls }, answer], { version, provider })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 2 })
    expect(server.calls.length - before).toBe(executed)
    const results = resultsOf(requests[1])
    expect(results).toHaveLength(184)
    expect(results.filter((result) => result.includes('was not executed'))).toHaveLength(184 - executed)
    const [first] = steps
    const errors = first?.step.kind === 'MODEL' ? first.step.calls.filter(({ error }) => error !== null) : []
    expect(errors).toHaveLength(184 - executed)
  })
})
