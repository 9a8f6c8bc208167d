import type { Json, JsonObject } from '../../../lib/core/json.ts'
import type { ToolDeclaration } from '../../../lib/core/model.ts'
import type { Provider } from '../../../lib/models/model-name.ts'

/** One thing of a conversation, whichever format it came in. `isError` is null where the format cannot say. */
export type HistoryItem =
  | { type: 'text'; role: 'user' | 'assistant'; text: string }
  | { type: 'reasoning'; text: string; proof: string | null }
  | { type: 'call'; id: string; name: string; input: Json }
  | { type: 'result'; id: string; output: string; isError: boolean | null }

/** What a request says, in one form for all formats. */
export type DecodedRequest = {
  instructions: string
  history: HistoryItem[]
  tools: ToolDeclaration[]
  /** The members that set reasoning, as they are on the wire. */
  reasoning: JsonObject
  maxOutputTokens: number | null
}

export type RecordedRequest = DecodedRequest & {
  format: Provider
  model: string
  headers: Record<string, string>
  body: JsonObject
}

/** What a real provider would refuse: a call without its one result right behind it. Null when all is well. */
export function problemOf({ history }: DecodedRequest): string | null {
  const open = new Set<string>()
  for (const item of history) {
    if (item.type === 'call') {
      if (open.has(item.id)) return `the call ${item.id} is there twice`
      open.add(item.id)
    } else if (item.type === 'result') {
      if (!open.delete(item.id)) return `the result of ${item.id} answers no open call`
    } else if (open.size > 0 && !(item.type === 'text' && item.role === 'assistant')) {
      return `the calls ${[...open].join(', ')} have no result before the next message`
    }
  }
  return open.size > 0 ? `the calls ${[...open].join(', ')} have no result` : null
}
