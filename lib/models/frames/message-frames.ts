import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../core/json/json.ts'
import { countOf, jsonTextOf, mergeUsage, objectOf, objectsOf, textOf } from './members.ts'
import { type FrameFormat, readFrames } from './read-frames.ts'

const BLOCKS = /^(text|thinking|redacted_thinking|tool_use|server_tool_use|web_search_tool_result)$/

/** The types of deltas, by the member with their text. */
const DELTAS = {
  text: 'text_delta',
  thinking: 'thinking_delta',
  signature: 'signature_delta',
  partial_json: 'input_json_delta',
}

/** Messages of Anthropic, and of the gateways that are compatible with it. */
export const readMessages = (send: typeof fetch) => readFrames(send, messageFrames)

const messageFrames: FrameFormat = {
  open() {
    let usage: JsonObject = {}
    let stop_reason: string | null = null
    const open = new Set<number>()
    const unknown = new Set<number>()
    let [last, hasStarted] = [0, false]

    function start(index: number, block: JsonObject): JsonObject[] {
      if (block.type && !BLOCKS.test(textOf(block.type))) unknown.add(index)
      if (!block.type || unknown.has(index)) return []
      open.add(index)
      last = index
      const { text, thinking, signature, input = {}, ...rest } = block
      const id = textOf(rest.id) || `toolu_${randomUUID()}`
      const content_block = { ...rest, id, name: textOf(rest.name), text: '', thinking: '', input: {} }
      const partial_json = Object.keys(objectOf(input)).length > 0 ? input : ''
      return [
        { type: 'content_block_start', index, content_block },
        ...add(index, { ...block, partial_json }),
      ]
    }

    const add = (index: number, part: JsonObject): JsonObject[] =>
      Object.entries(DELTAS).flatMap(([name, type]) => {
        const text = jsonTextOf(part[name])
        return text ? [{ type: 'content_block_delta', index, delta: { type, [name]: text } }] : []
      })

    const stop = (index: number): JsonObject[] =>
      open.delete(index) ? [{ type: 'content_block_stop', index }] : []

    return {
      isComplete: false,
      read({ type, ...frame }) {
        const index = countOf(frame.index) ?? last
        const delta = objectOf(frame.delta)
        switch (type) {
          case 'message_start':
            if (hasStarted) return []
            hasStarted = true
            // At this time, nothing of the output has been counted.
            usage = mergeUsage(usage, { ...objectOf(objectOf(frame.message).usage), output_tokens: 0 })
            return [{ type, message: { usage: { input_tokens: 0, ...usage } } }]
          case 'content_block_start':
            return start(index, objectOf(frame.content_block))
          case 'content_block_delta': {
            const isCitation = objectOf(delta.citation).type === 'web_search_result_location'
            const begun = open.has(index) || delta.type !== 'text_delta' ? [] : start(index, { type: 'text' })
            return [...begun, ...(isCitation ? [{ type, index, delta }] : add(index, delta))]
          }
          case 'content_block_stop':
            return stop(index)
          case 'message_delta':
            stop_reason = textOf(delta.stop_reason) || stop_reason
            usage = mergeUsage(usage, frame.usage)
            return [{ type, delta: { stop_reason }, usage: { output_tokens: 0, ...usage } }]
          case 'message_stop':
            this.isComplete = stop_reason !== null
            return [...[...open].flatMap(stop), { type }]
          default:
            return []
        }
      },
    }
  },

  split({ content, stop_reason, usage = null }) {
    if (!Array.isArray(content)) return []
    const hasCall = objectsOf(content).some(({ type }) => type === 'tool_use')
    const reason = textOf(stop_reason) || (hasCall ? 'tool_use' : 'end_turn')
    return [
      { type: 'message_start', message: { usage } },
      ...objectsOf(content).map((content_block, index) => ({
        type: 'content_block_start',
        index,
        content_block,
      })),
      { type: 'message_delta', delta: { stop_reason: reason }, usage },
      { type: 'message_stop' },
    ]
  },
}
