import { setTimeout as sleep } from 'node:timers/promises'
import type { Execution } from '../core/execution.ts'
import type { ExecutionStore } from '../core/ports.ts'
import { onceCompleted } from './completion-events.ts'

type Params = {
  executions: Pick<ExecutionStore, 'get' | 'getStatus'>
  organizationId: string
  id: string
  /** Milliseconds. */
  limitMs: number
}

const FIRST_LOOK_MS = 50
const MAX_LOOK_MS = 1_000

/**
 * The execution once it is final, or as it is when the time is up; null when there is none. Looks as soon as its end is
 * announced, and less and less often until then.
 */
export async function waitForCompletion({
  executions,
  organizationId,
  id,
  limitMs,
}: Params): Promise<Execution | null> {
  const end = performance.now() + limitMs
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 1.5, MAX_LOOK_MS)) {
    const leftMs = end - performance.now()
    if (leftMs <= 0) return executions.get({ organizationId, id })
    const pause = new AbortController()
    // From before the look, so that none goes unheard during it.
    const announced = onceCompleted(id, pause.signal)
    try {
      const status = await executions.getStatus({ organizationId, id })
      if (status !== 'IN_PROGRESS') return await executions.get({ organizationId, id })
      const { signal } = pause
      await Promise.race([
        announced,
        sleep(Math.min(waitMs, leftMs), undefined, { signal }).catch(() => null),
      ])
    } finally {
      pause.abort()
    }
  }
}
