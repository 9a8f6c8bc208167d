import type { IncomingMessage } from 'node:http'

/** Bytes that Lambda takes in one event. */
const MAX_BYTES = 6 * 1024 * 1024
/** A client that sends more than this is cut off; up to here it gets to read why it is refused. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024

/** The whole body. One that is too large is read to its end, so that its sender can read the answer. Never rejects. */
export function readBody(request: IncomingMessage): Promise<Buffer | 'too large' | 'gone'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MAX_BYTES) chunks.push(chunk)
      else chunks.length = 0
      if (length > MAX_DRAINED_BYTES) request.destroy()
    })
    request.once('end', () => resolve(length > MAX_BYTES ? 'too large' : Buffer.concat(chunks)))
    request.once('error', () => resolve('gone'))
    request.once('close', () => resolve('gone'))
  })
}
