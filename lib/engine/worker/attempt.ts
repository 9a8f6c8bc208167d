import type { Version } from '../../core/agent.ts'
import { type Execution, failure, type Outcome } from '../../core/execution.ts'
import { type Departure, WorkerLeaves } from '../checkpoints/deadline.ts'
import { Journal } from '../checkpoints/journal.ts'
import type { LeaseHeartbeat } from '../checkpoints/lease-heartbeat.ts'
import type { RetryableError } from '../checkpoints/stop-reason.ts'
import { runCodeAgent } from '../code-agent/run.ts'
import { stepFunction } from '../code-agent/steps.ts'
import { adapterOf } from '../compiled-schemas.ts'
import type { Engine } from '../engine.ts'
import { takeOver } from './single-flight.ts'

export type TurnOptions = {
  /** Called with each renewal of the lease. */
  onHeartbeat?: () => Promise<void>
  leave?: Departure | undefined
  /**
   * Given when the run can come back after a passing fault of a model or tool, instead of ending in ERROR: after how
   * many milliseconds. `progressed`: this worker has stored a step.
   */
  comesBackIn?: ((fault: RetryableError, progressed: boolean) => number) | undefined
}

/** One worker's turn at a run. */
export type Run = {
  execution: Execution
  version: Version
  keeper: LeaseHeartbeat
  options: TurnOptions
  /** Null until it is open. */
  journal: Journal | null
}

/** The run's outcome, or ERROR `TimedOut` when time is up first; null when it has to be given up before either. */
export async function runInTime(engine: Engine, run: Run): Promise<Outcome | null> {
  const { system, steps } = engine
  const { execution, version, keeper, options } = run
  const limitMs = timeLimit(execution, version)
  const timeUp = new AbortController()
  const timer = setTimeout(() => timeUp.abort(), limitMs.end - system.now())
  const leave = options.leave?.now
  const given = leave ? AbortSignal.any([keeper.lost, leave]) : keeper.lost
  const signal = AbortSignal.any([given, timeUp.signal])
  try {
    const journal = await Journal.open({ steps, execution, keeper, leaveSoon: options.leave?.soon })
    run.journal = journal
    const running = start(engine, {
      execution,
      version,
      journal,
      signal,
      comesBack: options.comesBackIn !== undefined,
    })
    // Given up below, it may still reject; nobody is there to hear it.
    running.catch(() => undefined)
    return await Promise.race([
      running,
      aborted(signal).then(() =>
        given.aborted ? null : { ...timedOut(limitMs.seconds), ...journal.progress },
      ),
    ])
  } finally {
    run.journal?.close()
    clearTimeout(timer)
  }
}

/** When the run's time is up, whoever has worked on it so far: its version's limit, or the execution's deadline. */
function timeLimit({ startedAt, createdAt, deadlineAt }: Execution, { execution }: Version) {
  const since = Date.parse(startedAt ?? createdAt)
  const own =
    execution.timeoutSeconds === null ? Number.POSITIVE_INFINITY : since + execution.timeoutSeconds * 1000
  const end = Math.min(own, deadlineAt)
  return { end, seconds: Math.round((end - since) / 1000) }
}

type Start = {
  execution: Execution
  version: Version
  journal: Journal
  signal: AbortSignal
  comesBack: boolean
}

async function start(
  engine: Engine,
  { execution: recorded, version, journal, signal, comesBack }: Start,
): Promise<Outcome> {
  const taken = await takeOver({ engine, execution: recorded, signal, comesBack })
  if (taken) return taken
  const execution = withEffectiveInput(recorded, version)
  if (!version.code) {
    const { runModelVersion } = await import('../model-agent/run.ts')
    return runModelVersion({ engine, execution, version, journal, signal, comesBack })
  }
  const leaving = new AbortController()
  const step = stepFunction(journal, engine.system, () => leaving.abort())
  const given = AbortSignal.any([signal, leaving.signal])
  return Promise.race([
    runCodeAgent({ store: engine.agents, version, execution, step, signal: given }),
    aborted(leaving.signal).then(() => {
      throw new WorkerLeaves()
    }),
  ])
}

/** The record keeps the input that was sent; what the agent gets follows from it and its version. */
function withEffectiveInput(execution: Execution, version: Version): Execution {
  if (execution.inputAdaptations.length === 0) return execution
  return { ...execution, input: adapterOf(version)(execution.input).input }
}

function timedOut(seconds: number): Outcome {
  return failure({ code: 'TimedOut', message: `The run did not end within its ${seconds} seconds.` })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
