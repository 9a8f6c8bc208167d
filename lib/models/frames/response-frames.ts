import { randomUUID } from 'node:crypto'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { countOf, jsonTextOf, mergeUsage, objectOf, objectsOf, textOf } from './members.ts'
import { type FrameFormat, readFrames } from './read-frames.ts'

/** An item that has begun. `text`: what has arrived of its text, summary or arguments. */
type Item = { item: JsonObject; text: string; isDone: boolean }

/** Responses of OpenAI, and of the servers that are compatible with it. */
export const readResponses = (send: typeof fetch) => readFrames(send, responseFrames)

const responseFrames: FrameFormat = {
  open() {
    const items = new Map<number, Item>()
    let [last, isRefused] = [0, false]

    function begin(output_index: number, given: JsonObject): JsonObject[] {
      const item = toItem({ ...given, id: textOf(given.id) || `item_${randomUUID()}` })
      if (!item || items.has(output_index)) return []
      items.set(output_index, { item, text: '', isDone: false })
      last = output_index
      return [{ type: 'response.output_item.added', output_index, item }]
    }

    /** A part of an item, which may not have begun. */
    function add(
      output_index: number,
      item: JsonObject,
      delta: Json | undefined,
      part: JsonObject,
    ): JsonObject[] {
      const begun = begin(output_index, item)
      const open = items.get(output_index)
      if (!open || open.isDone || open.item.type !== item.type) return begun
      open.text += textOf(delta)
      return [...begun, { ...part, output_index, item_id: open.item.id ?? '', delta: textOf(delta) }]
    }

    function addText(index: number, id: Json, delta: Json | undefined): JsonObject[] {
      return textOf(delta)
        ? add(index, { type: 'message', id }, delta, { type: 'response.output_text.delta' })
        : []
    }

    function addSummary(
      type: string,
      index: number,
      id: Json,
      { summary_index, delta }: JsonObject,
    ): JsonObject[] {
      return add(index, { type: 'reasoning', id }, delta, {
        type,
        summary_index: countOf(summary_index) ?? 0,
      })
    }

    function end(index: number, given: JsonObject): JsonObject[] {
      const begun = begin(index, given)
      const open = items.get(index)
      if (!open || open.isDone) return begun
      const { id = '' } = open.item
      const streamed = open.text
      // What was not streamed.
      const texts = streamed
        ? []
        : objectsOf(given.content).flatMap(({ text, refusal }) => {
            isRefused ||= Boolean(refusal)
            return addText(index, id, text ?? refusal)
          })
      const summaries = streamed
        ? []
        : objectsOf(given.summary).flatMap(({ text }, summary_index) => [
            ...addSummary('response.reasoning_summary_part.added', index, id, { summary_index }),
            ...addSummary('response.reasoning_summary_text.delta', index, id, {
              summary_index,
              delta: text ?? '',
            }),
          ])
      open.isDone = true
      const input = jsonTextOf(given.arguments) || streamed || jsonTextOf(open.item.arguments)
      const item = toItem({ ...open.item, ...given, id, arguments: input })
      return [
        ...begun,
        ...texts,
        ...summaries,
        { type: 'response.output_item.done', output_index: index, item },
      ]
    }

    return {
      isComplete: false,
      read({ type = '', item_id, ...frame }) {
        const id = textOf(item_id) || textOf(objectOf(frame.item).id)
        const given = countOf(frame.output_index) ?? last
        // Gateways give all items the same index.
        const isOther = id !== '' && items.has(given) && items.get(given)?.item.id !== id
        const known = isOther ? [...items.keys()].find((each) => items.get(each)?.item.id === id) : given
        const index = known ?? given
        switch (type) {
          case 'response.output_item.added':
            return begin(known ?? items.size, objectOf(frame.item))
          case 'response.output_item.done':
            return end(index, objectOf(frame.item))
          case 'response.refusal.delta':
            isRefused = true
            return addText(index, id, frame.delta)
          case 'response.output_text.delta':
            return addText(index, id, frame.delta)
          case 'response.function_call_arguments.delta':
            return add(index, { type: 'function_call' }, frame.delta, { type })
          case 'response.reasoning_summary_part.added':
          case 'response.reasoning_summary_part.done':
          case 'response.reasoning_summary_text.delta':
            return addSummary(type, index, id, frame)
          case 'response.completed':
          case 'response.incomplete': {
            this.isComplete = true
            const { output, incomplete_details, usage: reported } = objectOf(frame.response)
            const rest = items.size > 0 ? [] : objectsOf(output)
            const ended = [...items.keys()]
              .flatMap((each) => end(each, {}))
              .concat(rest.flatMap((item, each) => end(each, item)))
            const reason = isRefused ? 'refusal' : textOf(objectOf(incomplete_details).reason)
            const counts = mergeUsage({}, reported)
            const usage =
              Object.keys(counts).length > 0 ? { input_tokens: 0, output_tokens: 0, ...counts } : null
            return [...ended, { type, response: { incomplete_details: reason ? { reason } : null, usage } }]
          }
          default:
            return []
        }
      },
    }
  },

  split: (response) => (Array.isArray(response.output) ? [{ type: 'response.completed', response }] : []),
}

/** An item of those that the service requests; null for another one. */
function toItem({ type, id = '', ...item }: JsonObject): JsonObject | null {
  const { phase, action } = item
  switch (type) {
    case 'message':
      return { type, id, ...((phase === 'commentary' || phase === 'final_answer') && { phase }) }
    case 'reasoning':
      return { type, id, encrypted_content: textOf(item.encrypted_content) || null }
    case 'function_call': {
      const call = { call_id: textOf(item.call_id) || id, name: textOf(item.name) }
      return { type, id, ...call, arguments: jsonTextOf(item.arguments), status: 'completed' }
    }
    case 'web_search_call':
      return { type, id, status: textOf(item.status) || 'completed', ...(action && { action }) }
    default:
      return null
  }
}
