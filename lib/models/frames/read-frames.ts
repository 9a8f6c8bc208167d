import type { Transformer, TransformStreamDefaultController } from 'node:stream/web'
import { isJsonObject, type JsonObject } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import {
  findReported,
  IncompleteStreamError,
  isErrorFrame,
  ResponseError,
} from '../responses/reported-error.ts'
import { eventStream, type FrameCodec } from './event-stream.ts'

/** Reads the frames of one response. */
export type FrameReader = {
  /** The frames that the package of the provider gets in place of one: its schemas accept them. */
  read(frame: JsonObject): JsonObject[]
  isComplete: boolean
}

export type FrameFormat = {
  open(): FrameReader
  /** A response that is not a stream, as frames; none if it has another format. */
  split(body: JsonObject): JsonObject[]
  /** Default: server-sent events. */
  codec?: FrameCodec
}

/**
 * A `fetch` for the package of a provider, whose schemas reject a whole response for one frame that is not by the book.
 * A frame that means nothing is left out, one with a single meaning is repaired, and an error ends the response.
 */
export const readFrames =
  (send: typeof fetch, format: FrameFormat): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init)
    if (!response.ok || !response.body) return response
    const repaired = new TransformStream(await repair(response, format))
    return new Response(response.body.pipeThrough(repaired), response)
  }

/** How long a server may hold the connection after all that is needed; usage may follow. */
const MAX_HOLD_MS = 2_000

async function repair(
  response: Response,
  { open, split, codec = eventStream }: FrameFormat,
): Promise<Transformer<Uint8Array, Uint8Array>> {
  const reader = open()
  const { read, write } = await codec()
  /** What may be an error: it is one if the response is not complete. */
  let suspect = /event-?stream/.test(response.headers.get('content-type') ?? '') ? null : ''
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false
  const transform = (bytes: Uint8Array | null, controller: TransformStreamDefaultController<Uint8Array>) => {
    for (const frame of read(bytes)) {
      hasEnded ||= frame === null
      if (frame === null || hasEnded) break
      const body = typeof frame === 'string' ? parsePartnerJson(frame) : frame
      const text = typeof frame === 'string' ? frame : JSON.stringify(frame)
      if (!isJsonObject(body) || isErrorFrame(body)) throw new ResponseError(response, text)
      const parts = typeof frame === 'string' ? split(body) : [body]
      const frames = parts.flatMap((part) => reader.read(part))
      for (const each of frames) controller.enqueue(write(each))
      if (parts.length === 0 || (frames.length === 0 && findReported(body))) suspect = text
    }
    if (bytes && (hasEnded || reader.isComplete))
      timer ??= setTimeout(() => controller.terminate(), MAX_HOLD_MS)
  }
  return {
    transform,
    flush(controller) {
      clearTimeout(timer)
      transform(null, controller)
      if (reader.isComplete) return
      throw suspect === null ? new IncompleteStreamError() : new ResponseError(response, suspect)
    },
  }
}
