import { MAX_OPEN_EXECUTIONS as DEFAULT_MAX_OPEN_EXECUTIONS, SYNC_DEADLINE_MS } from '../../core/limits.ts'
import { MAX_OPEN_EXECUTIONS, readDurationMs, readInteger, SYNC_DEADLINE_SECONDS } from '../../environment.ts'
import { readTimes } from '../engine.ts'
import { admission } from './admission.ts'
import type { SubmitEngine } from './submit.ts'

/** What the environment does not determine. */
type Parts = Omit<SubmitEngine, 'admit' | 'times' | 'syncDeadlineMs'>

/**
 * An engine that accepts requests, with the limits and times of the environment.
 * @param maxWaitMs how long a synchronous caller waits at most, whatever the environment says
 */
export function openSubmitEngine(parts: Parts, maxWaitMs = Number.POSITIVE_INFINITY): SubmitEngine {
  const waitMs = readDurationMs(SYNC_DEADLINE_SECONDS, SYNC_DEADLINE_MS.streamed)
  return {
    ...parts,
    admit: admission(parts, readInteger(MAX_OPEN_EXECUTIONS, DEFAULT_MAX_OPEN_EXECUTIONS)),
    times: readTimes(),
    syncDeadlineMs: Math.min(waitMs, maxWaitMs),
  }
}
