import type { Version } from '../../core/agent.ts'
import type { Execution, LeasedExecution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Recording } from '../../core/recording.ts'
import type { Judgement } from '../../core/trial.ts'
import type { Suspension } from '../../core/wait.ts'
import type { WorkerDeadline } from '../checkpoints/deadline.ts'
import type { Journal } from '../checkpoints/journal.ts'
import type { LeaseHeartbeat } from '../checkpoints/lease-heartbeat.ts'
import type { RetryPolicy } from '../checkpoints/stop-reason.ts'
import type { Engine } from '../engine.ts'
import type { RunAttempt } from '../model-agent/run-child.ts'

export type AttemptOptions = {
  /** Read unless the caller has it. */
  version?: Version | undefined
  /** Derived from the input unless the caller has it. */
  adaptedInput?: JsonObject | undefined
  /** Asked before the run begins. */
  isCancelled?: (() => Promise<boolean>) | undefined
  /** Called with each heartbeat. */
  onHeartbeat?: (() => Promise<void>) | undefined
  deadline?: WorkerDeadline | undefined
  /** `INLINE` by default. */
  retry?: RetryPolicy | undefined
}

/**
 * The result of one worker's attempt. `lost`: another worker has the lease, or the execution is final. `released`: the
 * lease is free for the next worker; `progressed`: this one stored a step; `hasFailed`: the attempt counts as a
 * failure. `suspended`: until what it waits for has arrived.
 */
export type AttemptResult =
  | { kind: 'completed'; execution: Execution }
  | { kind: 'lost' }
  | { kind: 'suspended'; suspension: Suspension }
  | { kind: 'released'; progressed: boolean; hasFailed: boolean; delayMs: number }

/** The state of an attempt while it runs. */
export type Attempt = Omit<AttemptOptions, 'onHeartbeat'> & {
  engine: Engine
  /** Attempts the runs of other agents that this one calls. */
  attempt: RunAttempt
  execution: LeasedExecution
  retry: RetryPolicy
  heartbeat: LeaseHeartbeat
  /** The lease is lost, or the worker's time is up. */
  stop: AbortSignal
  /** Null until it is open. */
  journal: Journal | null
  /** Of the original of a replay, or of a test case; null until it is read, and for any other run. */
  recording: Recording | null
  /** The scores of a line of a trial, once its output is scored. */
  scored: Pick<Judgement, 'scores' | 'scoring'>
}
