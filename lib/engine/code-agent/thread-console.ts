import { format } from 'node:util'

const MAX_LOG_CHARACTERS = 16_000
const FLUSH_MS = 100

type Printed = { text: string; isCut: boolean }

/**
 * Sends what the run in progress prints to its execution's log, never to the service's. At most ten times a second: a
 * thread that prints in a loop must not keep its worker busy.
 * @param isOfRun whether the caller belongs to the run in progress; what an earlier run prints late is dropped
 * @returns takes what has not been sent
 */
export function captureConsole(send: (printed: Printed) => void, isOfRun: () => boolean): () => Printed {
  let pending: Printed = { text: '', isCut: false }
  let flushedAt = 0
  const take = () => {
    const printed = pending
    pending = { text: '', isCut: false }
    flushedAt = performance.now()
    return printed
  }
  const write = (added: string) => {
    if (!isOfRun()) return
    const text = pending.text + added
    const isCut = pending.isCut || text.length > MAX_LOG_CHARACTERS
    pending = { text: text.slice(-MAX_LOG_CHARACTERS), isCut }
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
