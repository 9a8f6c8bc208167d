import { randomUUID } from 'node:crypto'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'

/** Begins a text that stands for a search. Random, so that no model can return it. */
const MARK = `web-search-${randomUUID()} `

/** The package drops searches from the history of requests that OpenAI does not store. */
export const toSearchText = (callId: string, result: Json): string =>
  MARK +
  JSON.stringify({ type: 'web_search_call', id: callId, status: 'completed', action: toAction(result) })

const ACTIONS: Record<string, string> = { openPage: 'open_page', findInPage: 'find_in_page' }

/** The action as OpenAI has it, of the result as the package returns it. */
function toAction(result: Json): JsonObject {
  const { action, sources } = isJsonObject(result) ? result : {}
  if (!isJsonObject(action)) return { type: 'search', query: '' }
  const type = String(action.type)
  return { ...action, type: ACTIONS[type] ?? type, ...(sources !== undefined && { sources }) }
}

/** A `fetch` for OpenAI that sends searches in place of the texts that stand for them. */
export function withSearches(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const body = init?.body
    if (typeof body !== 'string' || !body.includes(MARK)) return send(input, init)
    const request = JSON.parse(body) as { input: Json[] }
    return send(input, { ...init, body: JSON.stringify({ ...request, input: request.input.map(toItem) }) })
  }
}

function toItem(item: Json): Json {
  if (!isJsonObject(item) || typeof item.content !== 'string' || !item.content.startsWith(MARK)) return item
  return JSON.parse(item.content.slice(MARK.length)) as Json
}
