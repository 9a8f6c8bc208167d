import type { Json } from '../core/json.ts'
import type { ModelRequest } from '../core/model.ts'

type Quotable = Pick<ModelRequest, 'instructions' | 'messages'>

/** Members of a message that are the SDK's, not the caller's. */
const NOT_TEXT = new Set(['role', 'type', 'toolName', 'toolCallId', 'providerOptions'])
const SHORTEST = 4
const WINDOW = 12
const STRIDE = 4

/**
 * Whether a provider's message repeats what it was sent: a whole text of it, or any 15 characters in a row. Providers do
 * so in their errors, and errors go on records and into logs.
 */
export function quotesRequest(message: string, { instructions, messages }: Quotable): boolean {
  const texts = [instructions, ...textsIn(messages)]
  if (texts.some((text) => text.length >= SHORTEST && message.includes(text))) return true
  for (let start = 0; start + WINDOW <= message.length; start += STRIDE) {
    const window = message.slice(start, start + WINDOW)
    if (texts.some((text) => text.includes(window))) return true
  }
  return false
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return Object.entries(value).flatMap(([key, child]) => (NOT_TEXT.has(key) ? [] : textsIn(child)))
}
