import { describe, expect, it } from 'vitest'
import { parseModelName } from '../../../lib/models/model-name.ts'
import { getAnswerModes } from '../../../lib/models/providers/answer-modes.ts'

const FORCED = ['tool', 'forced-tool']

describe('getAnswerModes', () => {
  it.each([
    ['openai/gpt-5', FORCED],
    ['openai/gpt-5:none', FORCED],
    ['openai/gpt-5:high', ['tool']],
    ['anthropic/claude-sonnet-4-5', FORCED],
    ['anthropic/claude-sonnet-4-5:low', ['tool']],
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', FORCED],
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0:high', ['tool']],
    ['bedrock/eu.amazon.nova-lite-v1:0', FORCED],
    ['bedrock/meta.llama3-1-70b-instruct-v1:0', ['tool']],
    ['openai-compatible/qwen3:8b', ['tool', 'json']],
    ['openai-compatible/qwen3:8b:high', ['tool', 'json']],
  ])('of %s are %j', (name, modes) => {
    expect(getAnswerModes(parseModelName(name))).toEqual(modes)
  })
})
