import type { IncomingMessage } from 'node:http'
import { ToolError } from '../tool.ts'

export type ReadText = { text: string; mediaType: string; isComplete: boolean }

/**
 * Reads an answer as text, up to `limit` bytes: then the connection is closed.
 * @throws ToolError when it is not text in its charset (UTF-8 unless it says another)
 */
export async function readText(answer: IncomingMessage, limit: number): Promise<ReadText> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = answer.headers
  const mediaType = (type.split(';')[0] ?? '').trim().toLowerCase()
  if (encoding !== 'identity') {
    answer.destroy()
    throw new ToolError(`The answer is compressed (${encoding}), which was not asked for.`)
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > limit) break
  }
  const isComplete = size <= limit
  const bytes = Buffer.concat(chunks).subarray(0, limit)
  const text = decode(bytes, /charset="?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8', isComplete)
  if (text !== null) return { text, mediaType, isComplete }
  const what = mediaType === '' ? 'of no type' : `of type ${mediaType}`
  throw new ToolError(
    `The answer is binary (${what}, ${size} bytes${isComplete ? '' : ' or more'}), not text.`,
  )
}

/** Null when it is not text. A character cut in two at the end of an incomplete answer is left out. */
function decode(bytes: Buffer, charset: string, isComplete: boolean): string | null {
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: !isComplete })
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}
