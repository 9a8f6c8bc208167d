import type { IncomingMessage } from 'node:http'

/** Lambda's limit for an event. */
const MAX_BYTES = 6 * 1024 * 1024
/** A body that is larger than this is not read to its end: the connection is closed. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024

/**
 * The whole body. A body that is too large is read to its end too: many clients read a response only after they have sent
 * the request. Never rejects.
 */
export function readBody(request: IncomingMessage): Promise<Buffer | 'too large' | 'aborted'> {
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
    request.on('error', () => resolve('aborted'))
    request.once('close', () => resolve('aborted'))
  })
}
