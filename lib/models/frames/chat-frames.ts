import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { countOf, jsonTextOf, mergeUsage, objectOf, objectsOf, textOf } from './members.ts'
import { type FrameFormat, readFrames } from './read-frames.ts'

/** Chat completions of OpenAI, and of the many servers that are compatible with it. */
export const readChat = (send: typeof fetch) => readFrames(send, chatFrames)

const chatFrames: FrameFormat = {
  open() {
    const calls = new Map<string, JsonObject>()
    let usage: JsonObject = {}
    let [last, hasDeltas, isRefused] = ['', false, false]

    /** A call whose arguments have begun: before, its name may come in pieces, or again with each piece. */
    function join(delta: JsonObject): JsonObject[] {
      const { name, arguments: input } = { ...delta, ...objectOf(delta.function) }
      const index = countOf(delta.index)
      last = index === undefined ? textOf(delta.id) || last : `${index}`
      const known = calls.get(last) ?? {}
      const isOther = name && delta.id && known.id && known.id !== textOf(delta.id)
      const [before, piece] = [isOther ? '' : textOf(known.name), textOf(name)]
      const { thought_signature = '' } = objectOf(objectOf(delta.extra_content).google)
      const call = {
        ...(isOther ? {} : known),
        ...(index !== undefined && { index }),
        ...(!known.id || isOther ? { id: textOf(delta.id) } : {}),
        name: piece.startsWith(before) ? piece || before : before + piece,
        ...(textOf(thought_signature) && { extra_content: { google: { thought_signature } } }),
      }
      if (jsonTextOf(input)) calls.delete(last)
      else calls.set(last, call)
      return [...(isOther ? [toDelta(known, '')] : []), ...(jsonTextOf(input) ? [toDelta(call, input)] : [])]
    }

    return {
      isComplete: false,
      read(frame) {
        const choice = objectsOf(frame.choices).find(isFirst) ?? {}
        const reported = frame.usage ?? choice.usage
        usage = mergeUsage(usage, reported)
        // After the deltas, some servers send the complete message, too.
        const delta = objectOf(choice.delta ?? (hasDeltas ? null : choice.message))
        const legacy = isJsonObject(delta.function_call) ? [{ index: 0, function: delta.function_call }] : []
        const reason = textOf(choice.finish_reason)
        this.isComplete ||= reason !== ''
        isRefused ||= textOf(delta.refusal) !== ''
        const parts = {
          content: toContent(delta.content) || textOf(delta.refusal),
          reasoning_content: textOf(delta.reasoning_content) || textOf(delta.reasoning),
          tool_calls: [...objectsOf(delta.tool_calls), ...legacy].flatMap(join),
        }
        // Calls without arguments.
        if (reason) for (const call of calls.values()) if (call.name) parts.tool_calls.push(toDelta(call, ''))
        const isEmpty = !reason && Object.values(parts).every(({ length }) => length === 0)
        hasDeltas ||= !isEmpty && isJsonObject(choice.delta)
        if (isEmpty && !reported) return []
        const finish_reason = reason && isRefused ? 'refusal' : reason || null
        return [{ choices: isEmpty ? [] : [{ delta: parts, finish_reason }], ...toUsage(usage) }]
      },
    }
  },

  split({ choices, ...body }) {
    const choice = objectsOf(choices).find((each) => isFirst(each) && isJsonObject(each.message))
    if (!choice) return []
    const message = objectOf(choice.message)
    const tool_calls = objectsOf(message.tool_calls).map((call, index) => ({ ...call, index }))
    const finish_reason = textOf(choice.finish_reason) || (tool_calls.length > 0 ? 'tool_calls' : 'stop')
    return [{ ...body, choices: [{ ...choice, delta: { ...message, tool_calls }, finish_reason }] }]
  },
}

const isFirst = ({ index }: JsonObject): boolean => !countOf(index)
const toUsage = (usage: JsonObject) => (Object.keys(usage).length > 0 ? { usage } : {})

const toDelta = ({ name = '', ...call }: JsonObject, input: Json | undefined): JsonObject => ({
  ...call,
  function: { ...(name && { name }), arguments: jsonTextOf(input) },
})

/** A text, or the parts that have a type. */
const toContent = (content: Json | undefined): string | Json[] =>
  typeof content === 'object'
    ? [content]
        .flat()
        .flatMap((part) => (typeof part === 'string' ? { type: 'text', text: part } : objectsOf(part)))
        .filter(({ type }) => typeof type === 'string')
    : textOf(content)
