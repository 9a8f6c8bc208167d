import { describe, expect, it } from 'vitest'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { openScripted, requestOf, useScriptedModel } from '../support.ts'

const scripted = useScriptedModel()

const ALL = {
  inputTokens: 100,
  outputTokens: 50,
  cachedInputTokens: 60,
  cacheWriteTokens: 20,
  reasoningTokens: 30,
}
const ZERO = { ...ALL, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
/** What a format has no member for. */
const NEVER_REPORTED = {
  openai: [],
  anthropic: [],
  bedrock: ['reasoningTokens'],
  'openai-compatible': ['cacheWriteTokens'],
}

describe.each(SCRIPTED_PROVIDERS)('the usage of a response of %s', (format) => {
  const without = (usage: object) =>
    Object.fromEntries(
      Object.entries(usage).filter(([name]) => !(NEVER_REPORTED[format] as string[]).includes(name)),
    )

  it.each([
    ['counts', ALL],
    ['zeros', ZERO],
  ])('contains the %s that the provider reports', async (_, usage) => {
    const { model } = await openScripted(scripted.server, format, [{ text: 'Three.', usage }])
    expect((await model.respond(requestOf(model))).usage).toEqual(without(usage))
  })

  it('has no counts that the provider does not report', async () => {
    const usage = { inputTokens: 100, outputTokens: 50 }
    const { model } = await openScripted(scripted.server, format, [{ text: 'Three.', usage }])
    expect((await model.respond(requestOf(model))).usage).toEqual(usage)
  })
})
