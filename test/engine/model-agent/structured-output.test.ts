import { describe, expect, it } from 'vitest'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'

const { aToolAgent, runScript } = await startScriptedEngine()

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
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'Because.' }, steps: 1 })
    expect(execution.output).toEqual({ answer: 'Because.' })
    expect(requests[0]).toMatchObject({ tools: [], responseSchema: { required: ['answer', 'score'] } })
    expect(requests[0]?.instructions).not.toMatch(/final_answer|JSON Schema/)
  })

  it('gets the violations of a bound that the provider does not enforce', async () => {
    const version = await aModelAgent({ outputSchema })
    const long = { text: JSON.stringify({ answer: 'x'.repeat(21), score: null }) }
    const { execution, requests, done } = await runScript([long, { text: noScore }], {
      version,
      provider,
      family,
    })
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
    const script = [{ calls: [finalAnswer({ answer: 'Because.' })] }]
    const { execution, requests } = await runScript(script, { version, provider, family })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 1 })
    expect(requests[0]).toMatchObject({ forcedTool: 'final_answer', responseSchema: null })
  })
})
