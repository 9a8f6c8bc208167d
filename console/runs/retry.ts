import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import { ApiError } from '../api/api-error.ts'
import { wait } from '../api/follow-events.ts'
import { send } from '../api/request.ts'

/** `isEarlier`: it was started by an earlier request for the same run. */
export type Retry =
  | { state: 'waiting' | 'starting' | 'stopped' }
  | { state: 'started'; id: string; createdAt: string; status: ExecutionRecord['status']; isEarlier: boolean }
  | { state: 'rejected'; error: ApiError }

const CONCURRENCY = 3
const MAX_ATTEMPTS = 6
const PAUSE_MS = 1_000
/** Between the time of a new run and that of the response. */
const MAX_AGE_MS = 10_000

type Options = {
  signal: AbortSignal
  onChange: (executionId: string, retry: Retry) => void
  /** For tests. */
  pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Runs each of them again, a few at a time. One that fails does not keep others from being started. */
export async function retryRuns(ids: string[], options: Options): Promise<void> {
  const { signal, onChange } = options
  const left = [...ids]
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      if (signal.aborted) onChange(id, { state: 'stopped' })
      else {
        onChange(id, { state: 'starting' })
        onChange(id, await retryRun(id, options))
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

async function retryRun(id: string, { signal, pause = wait }: Options): Promise<Retry> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(id)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const isTemporary = error.status === 0 || error.status === 429 || error.status === 503
      if (!isTemporary || attempt === MAX_ATTEMPTS || signal.aborted) return { state: 'rejected', error }
      const ms = error.retryAfter === null ? PAUSE_MS * attempt : error.retryAfter * 1_000
      await pause(ms, signal).catch(() => undefined)
    }
  }
}

/** The key is that of the run: in a day, it is run again once, in whatever tab. @throws ApiError */
async function start(id: string): Promise<Retry> {
  const response = await send(`/v1/agent_executions/${encodeURIComponent(id)}/rerun`, {
    method: 'POST',
    headers: { 'Idempotency-Key': `console-retry-${id}` },
  })
  const run: ExecutionRecord = await response.json()
  const age = Date.parse(response.headers.get('Date') ?? '') - Date.parse(run.createdAt)
  return {
    state: 'started',
    id: run.id,
    createdAt: run.createdAt,
    status: run.status,
    isEarlier: age > MAX_AGE_MS,
  }
}
