import { type Call, watch } from './call.ts'

/** Event streams send a comment after 15 seconds of silence, and results do not wait for anything. */
const MAX_SILENCE_MS = 45_000

/**
 * The text of a response in parts, until it ends, breaks or stays silent. The reader may take its time between them.
 * @throws the reason of the call's signal
 */
export async function* readText({ body }: Response, { signal }: Call): AsyncGenerator<string> {
  // Safari cannot iterate over streams.
  const reader = body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  const stop = () => void reader.cancel().catch(() => undefined)
  try {
    for (;;) {
      const watchdog = watch(signal, MAX_SILENCE_MS, () => undefined)
      watchdog.signal.addEventListener('abort', stop)
      if (watchdog.signal.aborted) stop()
      const part = await reader.read().catch(() => undefined)
      watchdog.close()
      signal.throwIfAborted()
      if (!part?.value) return
      yield decoder.decode(part.value, { stream: true })
    }
  } finally {
    stop()
  }
}
