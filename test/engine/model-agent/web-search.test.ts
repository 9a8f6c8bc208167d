import { describe, expect, it } from 'vitest'
import { NEVER } from '../../../lib/engine/checkpoints/deadline.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent, httpTool } from '../../support/engine/model-agent.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import type { ScriptedResponse } from '../../support/scripted-model/turn.ts'

const { engine, scripted, server, queued } = await startScriptedEngine()

const searches = [{ query: 'AWS regions', urls: ['https://a.example/1'] }]
const SEARCH_TOOL = { name: 'web_search', webSearch: {} }

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
  const tools = [SEARCH_TOOL, httpTool(server, 'look_up', '/things/{id}')]
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

describe('a response that anthropic paused', () => {
  it('is continued without a reminder, by any worker', async () => {
    const paused = { searches, text: '{"answer":"Not yet."}', stopReason: 'pause_turn' }
    const { stored, requests } = await runInSteps('anthropic', [paused, paused, answer])
    expect(stored).toMatchObject({ status: 'SUCCESS', steps: 3, output: { answer: 'Because.' } })
    expect(requests[2]?.history.filter(({ type }) => type === 'text')).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'assistant' },
    ])
  })
})
