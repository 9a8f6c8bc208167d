import type { IncomingMessage } from 'node:http'
import { ToolError } from '../tool.ts'

/** Bytes of a response after which reading stops. */
export const MAX_READ_BYTES = 5_000_000

export type ResponseText = { text: string; mediaType: string; isComplete: boolean }
export type ResponseBody = { bytes: Buffer; mediaType: string; charset: string; isComplete: boolean }

/**
 * Reads up to `maxBytes` of a response as text, then closes the connection.
 * @throws ToolError if the body is not text in the charset of the response (default UTF-8)
 */
export const readText = async (response: IncomingMessage, maxBytes: number): Promise<ResponseText> =>
  toText(await readBody(response, maxBytes))

/**
 * Reads up to `maxBytes` of a response, then closes the connection.
 * @throws ToolError if the body is compressed
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<ResponseBody> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = response.headers
  const mediaType = (type.split(';')[0] ?? '').trim().toLowerCase()
  const charset = /charset="?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8'
  if (encoding !== 'identity') {
    response.destroy()
    throw new ToolError(`The response is compressed (${encoding}), although no compression was requested.`)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) break
  }
  const bytes = Buffer.concat(chunks).subarray(0, maxBytes)
  return { bytes, mediaType, charset, isComplete: size <= maxBytes }
}

/** @throws ToolError if the body is not text in its charset */
export function toText({ bytes, mediaType, charset, isComplete }: ResponseBody): ResponseText {
  const text = decode(bytes, charset, isComplete)
  if (text !== null) return { text, mediaType, isComplete }
  const length = `${isComplete ? '' : 'more than '}${bytes.length} bytes`
  throw new ToolError(`The response is binary (${mediaType || 'no content type'}, ${length}), not text.`)
}

/** Returns null for binary content. Omits a character that is split at the end of an incomplete response. */
function decode(bytes: Buffer, charset: string, isComplete: boolean): string | null {
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: !isComplete })
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}
