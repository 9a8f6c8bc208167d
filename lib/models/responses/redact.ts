import type { Json } from '../../core/json/json.ts'
import type { ModelRequest } from '../../core/model.ts'
import { truncate } from '../../schema/message-text.ts'

type Quotable = Pick<ModelRequest, 'instructions' | 'messages'>

const MAX_CHARACTERS = 300

/** Members of a message that contain no text of the request. */
const METADATA = new Set(['role', 'type', 'toolName', 'toolCallId', 'providerOptions'])

const MIN_QUOTE = 4
const WINDOW = 12
const STRIDE = 4

/** Masks secrets, and turns a message into a single line of limited length. */
export function redact(text: string, secrets: string[]): string {
  return truncate(
    mask(text, secrets)
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim(),
    MAX_CHARACTERS,
  )
}

/** Like `redact`, but returns null if the text quotes the request, as errors of providers sometimes do. */
export function redactDetail(text: string, secrets: string[], request: Quotable): string | null {
  const start = mask(text, secrets).slice(0, 2 * MAX_CHARACTERS)
  return quotesRequest(start, request) ? null : redact(start, secrets)
}

/** Called before a text is truncated, because a truncated secret would not be recognized. */
const mask = (text: string, secrets: string[]): string =>
  secrets.reduce((result, secret) => result.replaceAll(secret, '[secret]'), text)

/** Whether a message contains a complete text of the request, or any 15 consecutive characters of it. */
function quotesRequest(message: string, { instructions, messages }: Quotable): boolean {
  const texts = [instructions, ...textsIn(messages)]
  if (texts.some((text) => text.length >= MIN_QUOTE && message.includes(text))) return true
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
  return Object.entries(value).flatMap(([key, child]) => (METADATA.has(key) ? [] : textsIn(child)))
}
