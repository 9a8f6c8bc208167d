import { failure, type LeasedExecution } from '../../core/execution.ts'
import { anyOf } from '../checkpoints/deadline.ts'
import { LeaseHeartbeat } from '../checkpoints/lease-heartbeat.ts'
import { liveResponseOf } from '../checkpoints/live-response.ts'
import { INLINE } from '../checkpoints/stop-reason.ts'
import { type Engine, timesOf } from '../engine.ts'
import { onceCompleted } from '../wait-for-completion.ts'
import type { Attempt, AttemptOptions, AttemptResult } from './attempt-state.ts'
import { endOf, finish, toRejection } from './finish-attempt.ts'
import { checkAndRun, score } from './run-attempt.ts'
import { stopAttempt } from './stop-attempt.ts'

/**
 * One worker's attempt at an execution whose lease it holds: to the end, or as far as this worker gets. Whatever goes
 * wrong, the lease is released. Never throws.
 */
export async function attempt(
  engine: Engine,
  execution: LeasedExecution,
  { onHeartbeat, retry = INLINE, ...options }: AttemptOptions = {},
): Promise<AttemptResult> {
  const { executions, system } = engine
  const heartbeat = new LeaseHeartbeat({
    ...{ executions, system, times: timesOf(engine), execution },
    async onHeartbeat() {
      // Readers in other processes may have come since.
      liveResponseOf(execution.id)?.catchUp()
      await onHeartbeat?.()
    },
  })
  const { signal: stop, clear } = options.deadline
    ? anyOf(heartbeat.lost, options.deadline.stop)
    : { signal: heartbeat.lost, clear: () => undefined }
  const current: Attempt = {
    ...options,
    engine,
    attempt,
    execution,
    retry,
    heartbeat,
    stop,
    journal: null,
    recording: null,
    scored: {},
  }
  // A run that is cancelled in this process stops at once, not at its next heartbeat.
  const ignore = onceCompleted(execution.id, () => heartbeat.check().catch(() => undefined))
  try {
    if (!(await heartbeat.start())) return { kind: 'lost' }
    let outcome = await checkAndRun(current).catch((error) => failure(toRejection(error)))
    await score(current, outcome)
    const completed = await finish(current, outcome).catch((error) => {
      outcome = failure(toRejection(error))
      return finish(current, outcome)
    })
    return completed ? endOf(current, completed, outcome) : { kind: 'lost' }
  } catch (error) {
    heartbeat.stop()
    return heartbeat.lost.aborted ? { kind: 'lost' } : await stopAttempt(current, error)
  } finally {
    ignore()
    heartbeat.stop()
    clear()
  }
}
