import { ApiError } from '../api/api-error.ts'

/** How far a redelivery of several events is. */
export type Redelivery = {
  done: number
  accepted: number
  /** The events do not exist any more, or another page has deleted the webhook. */
  gone: number
  /** What was wrong with the last one that was not accepted. */
  lastError: string | null
}

export const NOTHING_DONE: Redelivery = { done: 0, accepted: 0, gone: 0, lastError: null }

type Outcome = { status: string; error: string | null }

type Options = {
  /** One attempt. Throws ApiError. */
  redeliver: (id: string) => Promise<Outcome>
  sleep: (ms: number) => Promise<unknown>
  onProgress: (progress: Redelivery) => void
  signal: AbortSignal
}

/** Of one event, in a row: then the service does not respond. */
const MAX_FAILURES = 5

/**
 * Redelivers events one after the other: a receiver that has just failed gets no burst. It waits when the service says
 * so. The signal stops it after the current attempt.
 * @throws ApiError if the token may not, or the service does not respond
 */
export async function redeliverAll(ids: string[], options: Options): Promise<Redelivery> {
  const { onProgress, signal } = options
  let progress = NOTHING_DONE
  for (const id of ids) {
    if (signal.aborted) break
    const outcome = await attempt(id, options)
    if (outcome === 'stopped') break
    progress = add(progress, outcome)
    onProgress(progress)
  }
  return progress
}

function add(progress: Redelivery, outcome: Outcome | 'gone'): Redelivery {
  const done = progress.done + 1
  if (outcome === 'gone') return { ...progress, done, gone: progress.gone + 1 }
  if (outcome.error === null && outcome.status === 'DELIVERED')
    return { ...progress, done, accepted: progress.accepted + 1 }
  return { ...progress, done, lastError: outcome.error }
}

async function attempt(
  id: string,
  { redeliver, sleep, signal }: Options,
): Promise<Outcome | 'gone' | 'stopped'> {
  for (let failures = 1; ; failures++) {
    try {
      return await redeliver(id)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 404) return 'gone'
      const isTransient = error.status === 429 || error.status === 503
      if (!isTransient || failures === MAX_FAILURES) throw error
      await sleep((error.retryAfter ?? failures) * 1_000)
      if (signal.aborted) return 'stopped'
    }
  }
}
