import { format } from 'node:util'

const MAX_LOG_CHARACTERS = 16_000
const FLUSH_MS = 100

/**
 * Sends everything that the agent prints to its execution's log, never to the service's. At most ten times a second: a
 * thread that prints in a loop must not keep its worker busy.
 * @returns takes what has not been sent
 */
export function captureConsole(send: (text: string) => void): () => string {
  let pending = ''
  let flushedAt = 0
  const take = () => {
    const text = pending
    pending = ''
    flushedAt = performance.now()
    return text
  }
  const write = (text: string) => {
    pending = (pending + text).slice(-MAX_LOG_CHARACTERS)
    if (performance.now() - flushedAt > FLUSH_MS) send(take())
    return true
  }
  for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const)
    console[method] = (...values: unknown[]) => void write(`${format(...values)}\n`)
  const writeChunk = (chunk: unknown) => write(String(chunk))
  process.stdout.write = writeChunk as typeof process.stdout.write
  process.stderr.write = writeChunk as typeof process.stderr.write
  return take
}
