import { randomUUID } from 'node:crypto'
import { isJsonObject, type JsonObject } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import { eventStream, type FrameCodec } from './event-stream.ts'
import { countOf, jsonTextOf, mergeUsage, objectOf, objectsOf, textOf } from './members.ts'
import { type FrameFormat, readFrames } from './read-frames.ts'

/** Messages of an event stream: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html */
const messages: FrameCodec = async () => {
  const { EventStreamCodec } = await import('@smithy/core/event-streams')
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString(),
    (text) => Buffer.from(text),
  )
  const whole = await eventStream()
  let bytes = Buffer.alloc(0)
  return {
    read(chunk) {
      if (chunk) bytes = Buffer.concat([bytes, chunk])
      // The length of a message, in four bytes, begins with 0; a text does not.
      if (bytes[0]) return chunk ? [] : [...whole.read(bytes), ...whole.read(null)]
      const frames: JsonObject[] = []
      for (let length = lengthOf(bytes); length <= bytes.length; length = lengthOf(bytes)) {
        const { headers, body } = codec.decode(bytes.subarray(0, length))
        bytes = bytes.subarray(length)
        const value = parsePartnerJson(Buffer.from(body).toString()) ?? null
        const [kind, event = '', ...error] = HEADERS.map((name) => textOf(headers[`:${name}`]?.value))
        const [type = '', message = ''] = error.filter(Boolean)
        frames.push(kind === 'event' ? { [event]: value } : { error: { type, message, ...objectOf(value) } })
      }
      return frames
    },
    write(frame) {
      const [type = '', value] = Object.entries(frame)[0] ?? []
      const header = (text: string) => ({ type: 'string' as const, value: text })
      const headers = { ':message-type': header('event'), ':event-type': header(type) }
      return codec.encode({ headers, body: Buffer.from(JSON.stringify(value)) })
    },
  }
}

const HEADERS = ['message-type', 'event-type', 'exception-type', 'error-code', 'error-message']

const lengthOf = (bytes: Buffer): number => (bytes.length < 4 ? Infinity : bytes.readUInt32BE(0))

/** Converse, the API of Amazon Bedrock. A frame has one member: the type of its event. */
export const readConverse = (send: typeof fetch) => readFrames(send, converseFrames)

const converseFrames: FrameFormat = {
  codec: messages,

  open() {
    let usage: JsonObject = {}
    let [last, isStopped] = [0, false]
    const open = new Set<number>()
    return {
      isComplete: false,
      read(frame) {
        const [type = '', value] = Object.entries(frame)[0] ?? []
        const { contentBlockIndex: index, start, delta, stopReason, usage: reported } = objectOf(value)
        const contentBlockIndex = countOf(index) ?? last
        switch (type) {
          case 'contentBlockStart': {
            const { toolUse } = objectOf(start)
            if (!isJsonObject(toolUse)) return []
            open.add(contentBlockIndex)
            last = contentBlockIndex
            const toolUseId = textOf(toolUse.toolUseId) || `tooluse_${randomUUID()}`
            const call = { toolUse: { toolUseId, name: textOf(toolUse.name) } }
            return [{ [type]: { contentBlockIndex, start: call } }]
          }
          case 'contentBlockDelta':
            return toDeltas(objectOf(delta)).map((each) => ({ [type]: { contentBlockIndex, delta: each } }))
          case 'contentBlockStop':
            open.delete(contentBlockIndex)
            return [{ [type]: { contentBlockIndex } }]
          case 'messageStop':
            isStopped = true
            return [
              ...[...open].map((each) => ({ contentBlockStop: { contentBlockIndex: each } })),
              { [type]: { stopReason: textOf(stopReason) } },
            ]
          case 'metadata':
            this.isComplete = isStopped
            usage = mergeUsage(usage, reported)
            return [{ [type]: { usage: { inputTokens: 0, outputTokens: 0, ...usage } } }]
          default:
            return []
        }
      },
    }
  },

  split({ output, stopReason, usage = null }) {
    const { content } = objectOf(objectOf(output).message)
    if (!Array.isArray(content)) return []
    const hasCall = objectsOf(content).some(({ toolUse }) => toolUse)
    return [
      ...objectsOf(content).flatMap((delta, contentBlockIndex) => [
        ...(delta.toolUse ? [{ contentBlockStart: { contentBlockIndex, start: delta } }] : []),
        { contentBlockDelta: { contentBlockIndex, delta } },
        { contentBlockStop: { contentBlockIndex } },
      ]),
      { messageStop: { stopReason: textOf(stopReason) || (hasCall ? 'tool_use' : 'end_turn') } },
      { metadata: { usage } },
    ]
  },
}

const REASONING = ['text', 'signature', 'data', 'redactedContent']

/** The members that the package knows, each of which makes a frame. */
function toDeltas({ text, toolUse, reasoningContent }: JsonObject): JsonObject[] {
  const { reasoningText, redactedReasoning, ...reasoning } = objectOf(reasoningContent)
  const parts: JsonObject = { ...reasoning, ...objectOf(reasoningText), ...objectOf(redactedReasoning) }
  return [
    ...(textOf(text) ? [{ text: textOf(text) }] : []),
    ...(isJsonObject(toolUse) ? [{ toolUse: { input: jsonTextOf(toolUse.input) } }] : []),
    ...REASONING.filter((name) => textOf(parts[name])).map((name) => ({
      reasoningContent: { [name]: textOf(parts[name]) },
    })),
  ]
}
