import { hashJson } from '../../lib/core/hash-json.ts'
import type { ModelRequest } from '../../lib/core/model.ts'

/** Enough that two requests of an agent never have the same, and short enough to review. */
const HASH_CHARACTERS = 16

/** What a model request consists of: names, and hashes of what is long. Equal requests have equal keys. */
export type RequestKey = {
  model: string
  answerMode: string
  instructions: string
  tools: string
  messages: string
  truncatedAfter?: number
}

export const toRequestKey = (model: string, request: ModelRequest): RequestKey => ({
  model,
  answerMode: request.answerMode ?? 'tool',
  instructions: hash(request.instructions),
  tools: hash(request.tools),
  messages: hash(request.messages),
  ...(request.truncatedAfter !== undefined && { truncatedAfter: request.truncatedAfter }),
})

export const hash = (value: unknown): string => hashJson(value).slice(0, HASH_CHARACTERS)

const PARTS: Record<keyof RequestKey, string> = {
  model: 'the model',
  answerMode: 'how the output is requested',
  instructions: 'the instructions',
  tools: 'the tools or the output schema',
  messages: 'the input, an earlier response or a tool result',
  truncatedAfter: 'the output limit',
}

/** What differs between a request and the most similar recorded one; empty if there is none. */
export function explainChange(key: RequestKey, recorded: RequestKey[]): string {
  const parts = Object.keys(PARTS) as (keyof RequestKey)[]
  const [changed = []] = recorded
    .map((other) => parts.filter((part) => key[part] !== other[part]))
    .sort((a, b) => a.length - b.length)
  return changed.length === 0 ? '' : ` Changed: ${changed.map((part) => PARTS[part]).join(', ')}.`
}
