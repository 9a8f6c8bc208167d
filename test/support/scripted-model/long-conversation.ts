import type { Json } from '../../../lib/core/json/json.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { computePromptCosts } from './prompt-cache.ts'
import type { ScriptedModel } from './start-scripted-model.ts'

/** Sizes in tokens of four bytes, and the number of requests. */
const CONVERSATION = { instructions: 5_000, step: 2_000, steps: 20 }
const BYTES_PER_TOKEN = 4

const textOf = (tokens: number) => 'lore'.repeat(tokens).slice(0, tokens * BYTES_PER_TOKEN)

const LOOK_UP = {
  name: 'look_up',
  description: 'Looks something up.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
}

/**
 * Sends the requests of a run whose instructions have 5,000 tokens and whose 20 steps add 2,000 each, and computes what
 * they cost from what the server received.
 */
export async function costOfLongConversation(
  server: ScriptedModel,
  format: Extract<Provider, 'anthropic' | 'bedrock'>,
): Promise<{ cached: number; uncached: number }> {
  const id = `anthropic.claude-sonnet-4-5-${format}`
  server.script(id, () => ({ calls: [{ name: LOOK_UP.name, input: { id: 'x' } }] }))
  const model = await openModel(server.modelFor(format, id), server.environmentFor(format))
  const messages: Json[] = [model.userMessage('Go.')]
  const { instructions, step, steps } = CONVERSATION
  for (let number = 0; number < steps; number++) {
    const signal = new AbortController().signal
    const request = { instructions: textOf(instructions), messages, tools: [LOOK_UP], signal }
    const response = await model.respond(request)
    const results = response.toolCalls.map((call) => ({
      call,
      result: { ok: true as const, value: textOf(step) },
    }))
    messages.push(...response.messages, model.toolMessage(results))
  }
  return computePromptCosts(server.requests(id))
}
