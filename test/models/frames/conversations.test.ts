import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { propertyRuns } from '../../support/data/property-runs.ts'
import type { Chunk } from '../../support/scripted-model/format.ts'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import { FORMATS, SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { ScriptedResponse } from '../../support/scripted-model/turn.ts'
import { requestOf } from '../support.ts'
import { framesOf, JUNK } from './junk.ts'
import { openRaw, summaryOf } from './support.ts'

const STEPS = 10

/** Nine calls, and an answer. */
const RESPONSES = Array.from(
  { length: STEPS },
  (_, step): ScriptedResponse => ({
    reasoning: `Step ${step}.`,
    text: `I am at ${step}: ü€😀.`,
    calls: step < STEPS - 1 ? [{ id: `call_${step}`, name: 'add', input: { a: step, b: 2 } }] : [],
    usage: { inputTokens: 100, outputTokens: 10 + step, cachedInputTokens: 7, reasoningTokens: 3 },
  }),
)

/** What the ten responses are, with junk before and after each of their frames. */
async function converse(format: ScriptedProvider, junk: Chunk[][]) {
  let drawn = 0
  const next = () => junk[drawn++ % junk.length] ?? []
  const bodies = RESPONSES.map((response, step) => {
    const frames = framesOf(format, response, `${step}`)
    return frames.flatMap((frame) => [...next(), frame]).concat(next())
  })
  const { contentType } = FORMATS[format]
  const model = await openRaw(format, ...bodies.map((body) => ({ body, contentType })))
  const messages = [model.userMessage('What is 1 + 2?')]
  const summaries = []
  for (let step = 0; step < STEPS; step++) {
    const response = await model.respond(requestOf(model, { messages }))
    const results = response.toolCalls.map((call) => ({ call, result: { ok: true as const, value: step } }))
    messages.push(...response.messages)
    const result = model.toolMessage(results)
    if (result) messages.push(result)
    summaries.push(summaryOf(response))
  }
  return { summaries, reasoning: JSON.stringify(messages).match(/Step \d\./g) }
}

describe.each(SCRIPTED_PROVIDERS)('a conversation of ten steps with %s', (format) => {
  it('has the same results and usage with junk between the frames', async () => {
    const expected = await converse(format, [])
    expect(expected.summaries.map(({ text }) => text)).toEqual(RESPONSES.map(({ text }) => text))
    expect(new Set(expected.reasoning).size).toBe(STEPS)
    const junk = fc.array(
      fc.array(fc.constantFrom(...JUNK[format].map(([, frame]) => frame)), { maxLength: 3 }),
      { minLength: 1 },
    )
    await fc.assert(
      fc.asyncProperty(junk, async (each) => {
        expect(await converse(format, each)).toEqual(expected)
      }),
      { numRuns: propertyRuns(50) },
    )
  })
})
