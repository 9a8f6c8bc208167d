import type { JsonObject } from '../../../lib/core/json/json.ts'
import {
  asText,
  EVENT_STREAM,
  type Format,
  openaiError,
  parsedOrText,
  pick,
  toDeltas,
  toEvent,
  toTools,
  type Wire,
} from './format.ts'
import type { HistoryItem } from './recorded-request.ts'
import type { CompleteResponse, ScriptedSearch } from './turn.ts'
import { toResponsesUsage } from './usage.ts'

/** OpenAI Responses API, POST /responses. */
export const openaiResponses: Format = {
  path: /\/responses$/,
  contentType: EVENT_STREAM,

  decode(body) {
    const isSystem = (item: Wire) => item.role === 'system' || item.role === 'developer'
    return {
      instructions: body.input
        .filter(isSystem)
        .map((item: Wire) => asText(item.content))
        .join('\n'),
      history: body.input.filter((item: Wire) => !isSystem(item)).flatMap(toItem),
      tools: toTools(body.tools, 'parameters'),
      reasoning: pick(body, 'reasoning'),
      maxOutputTokens: body.max_output_tokens ?? null,
      temperature: body.temperature ?? null,
      forcedTool: body.tool_choice?.name ?? null,
      responseSchema: body.text?.format?.schema ?? null,
    }
  },

  encode({ id, model, text, refusal, reasoning, calls, searches, usage, finish }) {
    const reason = INCOMPLETE[finish] ?? null
    const head = { id: `resp_${id}`, object: 'response', created_at: 1_700_000_000, model }
    const items: StreamedItem[] = [
      ...(reasoning ? [reasoningItem(id, reasoning)] : []),
      ...searches.map((search, index) => searchItem(search, `ws_${id}_${index + 1}`)),
      ...(text || refusal ? [messageItem(id, text, refusal)] : []),
      ...calls.map(callItem),
    ]
    const last = {
      ...head,
      status: reason ? 'incomplete' : 'completed',
      output: items.map(({ item }) => item),
      incomplete_details: reason && { reason },
      usage: usage && toResponsesUsage(usage),
    }
    const response = { ...head, status: 'in_progress' }
    const events: Event[] = [
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
      ...items.flatMap(({ item, added, events }, output_index) => [
        { type: 'response.output_item.added', output_index, item: { ...item, ...added } },
        ...events.map((event) => ({ ...event, output_index, item_id: item.id })),
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: `response.${last.status}`, response: last },
    ]
    return events.map(toNumberedEvent)
  },

  error: openaiError,
  streamError: (message, code) => toNumberedEvent({ type: 'error', code, message, param: null }, 99),
}

type Event = JsonObject & { type: string }

/** An item of the output as it is when done; `added`: what differs when it is added; `events`: those in between. */
type StreamedItem = { item: Event & { id: string }; added: JsonObject; events: Event[] }

const INCOMPLETE: Record<string, string> = { length: 'max_output_tokens', 'content-filter': 'content_filter' }

const toNumberedEvent = (event: Event, sequence_number: number) =>
  toEvent({ ...event, sequence_number }, event.type)

function reasoningItem(id: string, reasoning: string): StreamedItem {
  const part = { type: 'summary_text', text: reasoning }
  const at = { summary_index: 0 }
  const type = 'response.reasoning_summary_text.delta'
  return {
    item: { type: 'reasoning', id: `rs_${id}`, encrypted_content: `sealed ${reasoning}`, summary: [part] },
    added: { encrypted_content: null, summary: [] },
    events: [
      { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
      ...toDeltas(reasoning).map((delta) => ({ type, ...at, delta })),
      { type: 'response.reasoning_summary_part.done', ...at, part },
    ],
  }
}

function searchItem(search: ScriptedSearch, id: string): StreamedItem {
  const urls = 'urls' in search ? search.urls : []
  const sources = urls.map((url) => ({ type: 'url', url }))
  const action = { type: 'search', query: search.query, sources }
  const statuses = ['in_progress', 'searching', 'completed']
  return {
    item: { type: 'web_search_call', id, status: 'completed', action },
    added: { status: 'in_progress' },
    events: statuses.map((status) => ({ type: `response.web_search_call.${status}` })),
  }
}

function messageItem(id: string, text: string, refusal: string): StreamedItem {
  const kind = refusal ? 'refusal' : 'output_text'
  const content = refusal ? { type: kind, refusal } : { type: kind, text, annotations: [] }
  const at = { content_index: 0 }
  return {
    item: { type: 'message', role: 'assistant', id: `msg_${id}`, status: 'completed', content: [content] },
    added: { status: 'in_progress', content: [] },
    events: [
      { type: 'response.content_part.added', ...at, part: { type: kind } },
      ...toDeltas(refusal || text).map((delta) => ({ type: `response.${kind}.delta`, ...at, delta })),
      { type: `response.${kind}.done`, ...at, [refusal ? 'refusal' : 'text']: refusal || text },
      { type: 'response.content_part.done', ...at, part: content },
    ],
  }
}

function callItem({ id, name, text }: CompleteResponse['calls'][number]): StreamedItem {
  const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: text }
  return {
    item: { ...item, status: 'completed' },
    added: { arguments: '', status: 'in_progress' },
    events: [
      ...toDeltas(text).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: text },
    ],
  }
}

function toItem(item: Wire): HistoryItem | HistoryItem[] {
  switch (item.type) {
    case 'function_call':
      return { type: 'call', id: item.call_id, name: item.name, input: parsedOrText(item.arguments) }
    case 'function_call_output':
      return { type: 'result', id: item.call_id, output: asText(item.output), isError: null }
    case 'web_search_call':
      return { type: 'search', value: item }
    case 'reasoning': {
      const text = item.summary.map((part: Wire) => part.text).join('')
      return { type: 'reasoning', text, signature: item.encrypted_content ?? null }
    }
    case undefined:
    case 'message': {
      const { content } = item
      const parts = typeof content === 'string' ? [{ text: content }] : content
      const text = parts.map((part: Wire) => part.text ?? '').join('')
      const files = parts.filter((part: Wire) => /^input_(image|file)$/.test(part.type))
      return [
        { type: 'text', role: item.role, text },
        ...files.map((part: Wire) => ({ type: 'file', role: 'user', part })),
      ]
    }
    default:
      throw new Error(`Unknown item type: ${item.type}`)
  }
}
