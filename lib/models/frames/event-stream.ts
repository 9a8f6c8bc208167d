import type { JsonObject } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import { objectsOf } from './members.ts'

/** A text is a frame that is no JSON, or a response that is not a stream; null is the mark after the last frame. */
export type Frame = JsonObject | string | null

/** The bytes of frames. `read` gets null at their end. Opened for each response, because packages load on demand. */
export type FrameCodec = () => Promise<{
  read(bytes: Uint8Array | null): Frame[]
  write(frame: JsonObject): Uint8Array
}>

/** Server-sent events with JSON as their data. */
export const eventStream: FrameCodec = async () => {
  const { createParser } = await import('eventsource-parser')
  const decoder = new TextDecoder()
  const frames: Frame[] = []
  const parser = createParser({
    onEvent: ({ event = '', data }) => frames.push(...toFrames(event, data)),
    // Older servers of llama.cpp report errors in a field of their own.
    onError: ({ field = '', value = '' }) => field === 'error' && frames.push(...toFrames(field, value)),
  })
  let [start, isStream] = ['', false]
  return {
    read(bytes) {
      const text = bytes ? decoder.decode(bytes, { stream: true }) : '\n\n'
      if (isStream) parser.feed(text)
      else {
        start += text
        isStream = /^\s*[^\s[{<]/.test(start)
        if (isStream) parser.feed(start)
      }
      if (bytes) return frames.splice(0)
      // A frame that is cut says nothing.
      return isStream
        ? frames.filter((each) => typeof each !== 'string')
        : [start].filter((each) => each.trim())
    },
    write: (frame) => Buffer.from(`data: ${JSON.stringify(frame)}\n\n`),
  }
}

function toFrames(name: string, data: string): Frame[] {
  const text = data.trim()
  const frame = parsePartnerJson(text)
  if (text === '[DONE]') return [null]
  // Without empty lines between them.
  if (frame === undefined && /[^,{[]\n[{[]/.test(text))
    return text.split('\n').flatMap((line) => toFrames(name, line))
  if (frame === undefined && /^[[{]/.test(text)) return [text]
  if (text && (name === 'error' || (frame === undefined && /\berror\b/i.test(text))))
    return [{ error: frame ?? text }]
  return objectsOf(frame).map((each) => (name ? { type: name, ...each } : each))
}
