import { asApiError } from './api-error.ts'
import { type Attention, watchAttention } from './attention.ts'
import { createPoller } from './poller.ts'

/** A stream costs as long as it is open, much more than a request now and then. */
const QUIET_MS = 300_000
const PEEK_INTERVAL_MS = 30_000

type Options = {
  /** Reads what is different when there is something new. */
  peek: () => Promise<unknown>
  watch?: (attention: Attention) => () => void
  isHidden?: () => boolean
}

export type Quiet = {
  /** Resolves when a stream is worth it, to the signal that ends it. @throws the reason of `signal` */
  next: (signal: AbortSignal) => Promise<AbortSignal>
  restart: () => void
  stop: () => void
}

/** Whether a stream of events should be open: not while nobody sees it, or nothing happens. Then it peeks at times. */
export function createQuiet({
  peek,
  watch = watchAttention,
  isHidden = () => document.hidden,
}: Options): Quiet {
  let stream: AbortController | null = null
  let worth = Promise.withResolvers<void>()
  let isWorth = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let known: string | undefined
  const poller = createPoller({ poll: look, onResult: () => undefined, intervalMs: PEEK_INTERVAL_MS })
  const unwatch = watch({
    onUse: () => (stream ? restart() : resume()),
    onHide: pause,
  })
  if (!isHidden()) resume()

  function resume() {
    poller.pause()
    isWorth = true
    worth.resolve()
  }

  function pause() {
    clearTimeout(timer)
    timer = undefined
    poller.pause()
    stream?.abort()
    stream = null
    if (!isWorth) return
    isWorth = false
    worth = Promise.withResolvers()
  }

  function restart() {
    clearTimeout(timer)
    timer = setTimeout(rest, QUIET_MS)
  }

  /** What arrives while it looks is in the stream; what comes later is different from what it has seen. */
  async function rest() {
    const open = stream
    const seen = timer
    const read = await peek().then(JSON.stringify, () => undefined)
    if (stream !== open || timer !== seen) return
    if (read === undefined) return restart()
    known = read
    pause()
    poller.start()
  }

  async function look() {
    try {
      const read = JSON.stringify(await peek())
      if (read !== known) resume()
      return read
    } catch (error) {
      const { status } = asApiError(error)
      // It is deleted, for example. The stream says so.
      if (status >= 400 && status < 500 && status !== 429) resume()
      throw error
    }
  }

  return {
    async next(signal) {
      signal.throwIfAborted()
      const aborted = Promise.withResolvers<never>()
      const abort = () => aborted.reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      await Promise.race([worth.promise, aborted.promise])
      signal.removeEventListener('abort', abort)
      stream ??= new AbortController()
      if (timer === undefined) restart()
      return stream.signal
    },
    restart,
    stop() {
      unwatch()
      pause()
    },
  }
}
