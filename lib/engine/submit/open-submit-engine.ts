import { MAX_OPEN_EXECUTIONS as DEFAULT_MAX_OPEN_EXECUTIONS, SYNC_DEADLINE_MS } from '../../core/limits.ts'
import {
  ACCEPTS_ALONE,
  MAX_OPEN_EXECUTIONS,
  readDurationMs,
  readInteger,
  SYNC_DEADLINE_SECONDS,
} from '../../environment.ts'
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
  const maxOpen = readInteger(MAX_OPEN_EXECUTIONS, DEFAULT_MAX_OPEN_EXECUTIONS)
  const isOnlyProcess = process.env[ACCEPTS_ALONE] === 'on'
  const waitMs = readDurationMs(SYNC_DEADLINE_SECONDS, SYNC_DEADLINE_MS.streamed)
  return {
    ...parts,
    admit: admission(parts, maxOpen, isOnlyProcess ? 1 : undefined),
    times: readTimes(),
    syncDeadlineMs: Math.min(waitMs, maxWaitMs),
  }
}
