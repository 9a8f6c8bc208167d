import { format } from 'node:util'

const MAX_LOG_CHARACTERS = 16_000
const FLUSH_MS = 100

/**
 * Sends what the run in progress prints to its execution's log, never to the service's. At most ten times a second: a
 * thread that prints in a loop must not keep its worker busy.
 * @param isOfRun whether the caller belongs to the run in progress; what an earlier run prints late is dropped
 * @returns takes what has not been sent
 */
export function captureConsole(send: (text: string) => void, isOfRun: () => boolean): () => string {
  let pending = ''
  let flushedAt = 0
  const take = () => {
    const text = pending
    pending = ''
    flushedAt = performance.now()
    return text
  }
  const write = (text: string) => {
    if (!isOfRun()) return
    pending = (pending + text).slice(-MAX_LOG_CHARACTERS)
    if (performance.now() - flushedAt > FLUSH_MS) send(take())
  }
  for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const)
    console[method] = (...values: unknown[]) => write(`${format(...values)}\n`)
  const writeChunk = (chunk: unknown, ...rest: unknown[]) => {
    write(typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString())
    const callback = rest.at(-1)
    if (typeof callback === 'function') process.nextTick(callback as () => void)
    return true
  }
  process.stdout.write = writeChunk as typeof process.stdout.write
  process.stderr.write = writeChunk as typeof process.stderr.write
  return take
}
