import { createHash } from 'node:crypto'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'

/**
 * Messages of one model for a request to another one: texts and calls, without reasoning, signatures, references to
 * items that a provider stores, and what its own tools returned.
 */
export function toPortable(messages: readonly Json[]): Json[] {
  return messages.flatMap((message) => {
    if (!isJsonObject(message) || !Array.isArray(message.content)) return [message]
    const { providerOptions: _, ...rest } = message
    const content = message.content.filter(isJsonObject).flatMap((part) => toPortablePart(part, message.role))
    return content.length > 0 ? [{ ...rest, content }] : []
  })
}

function toPortablePart({ providerOptions: _, ...part }: JsonObject, role: Json | undefined): JsonObject[] {
  if (part.providerExecuted || part.type === 'reasoning') return []
  if (part.type === 'tool-result' && role !== 'tool') return []
  if (typeof part.toolCallId !== 'string') return [part]
  return [{ ...part, toolCallId: toPortableId(part.toolCallId) }]
}

/** What every provider accepts as the id of a call. */
const PORTABLE_ID = /^[\w-]{1,40}$/

/** The id of a call in requests to another model. */
export const toPortableId = (id: string): string =>
  PORTABLE_ID.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
