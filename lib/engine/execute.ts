import { setTimeout as sleep } from 'node:timers/promises'
import type { Version } from '../core/agent.ts'
import { Unavailable } from '../core/errors.ts'
import { type Execution, type ExecutionError, failure, type Outcome } from '../core/execution.ts'
import { type LeaseTimes, leaseTimes } from '../core/lease-times.ts'
import type { AgentStore, Ambient, ExecutionStore } from '../core/ports.ts'
import type { StepStore } from '../core/step.ts'
import type { Environment } from '../environment.ts'
import { stepFunction } from './code-steps.ts'
import { type Departure, WorkerLeaves } from './departure.ts'
import { Journal, LeaseLost } from './journal.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { PassingFault } from './passing-fault.ts'
import { runCodeAgent } from './run-code-agent.ts'

export type Engine = {
  agents: AgentStore
  executions: ExecutionStore
  steps: StepStore
  ambient: Ambient
  /** Names models, keys and secrets. */
  environment?: Environment
  /** The defaults unless a test shortens them. */
  times?: LeaseTimes
}

export const timesOf = ({ times = leaseTimes() }: Engine): LeaseTimes => times

type Options = {
  /** Called with each renewal of the lease. */
  onHeartbeat?: () => Promise<void>
  leave?: Departure | undefined
  /** Whether the run comes back after a passing fault of a model or tool, instead of ending in ERROR. */
  comesBack?: boolean
}

/**
 * How a worker's turn ended. `lost`: somebody else has ended the execution, or has it now. `released`: its lease is
 * free for the next worker; `progressed` when this one has stored a step.
 */
export type Turn =
  | { kind: 'ended'; execution: Execution }
  | { kind: 'lost' }
  | { kind: 'released'; progressed: boolean; fault: PassingFault | null }

/** Runs an execution whose lease the caller holds, to its end or as far as this worker gets. */
export async function execute(
  engine: Engine,
  execution: Execution,
  version: Version,
  options: Options = {},
): Promise<Turn> {
  const { executions, ambient } = engine
  const { id, lease } = execution
  const { owner, expiresAt } = lease ?? { owner: '', expiresAt: 0 }
  const { onHeartbeat } = options
  const times = timesOf(engine)
  const keeper = new LeaseKeeper({ executions, ambient, times, id, owner, expiresAt, onHeartbeat })
  const run: Run = { execution, version, keeper, options, journal: null }
  const released = async (fault: PassingFault | null): Promise<Turn> => {
    keeper.stop()
    await release(engine, execution, fault)
    return { kind: 'released', progressed: run.journal?.hasGrown ?? false, fault }
  }
  try {
    const outcome = await runInTime(engine, run)
    if (!outcome) return keeper.lost.aborted ? { kind: 'lost' } : await released(null)
    const ended = await finish(engine, run, outcome)
    return ended ? { kind: 'ended', execution: ended } : { kind: 'lost' }
  } catch (error) {
    if (error instanceof LeaseLost || keeper.lost.aborted) return { kind: 'lost' }
    if (error instanceof WorkerLeaves) return await released(null)
    if (error instanceof PassingFault) return await released(error)
    if (error instanceof Unavailable) return await released(new PassingFault(UNAVAILABLE, null))
    throw error
  } finally {
    keeper.stop()
  }
}

const UNAVAILABLE: ExecutionError = {
  code: 'Unavailable',
  message: 'The database did not answer while the run was at work.',
}

/** Best effort: a lease that is not given back runs out. */
async function release(engine: Engine, { id, lease }: Execution, fault: PassingFault | null): Promise<void> {
  const { executions, ambient } = engine
  const until = ambient.now() + timesOf(engine).graceMs + (fault?.retryAfterMs ?? 0)
  await executions
    .release({ id, owner: lease?.owner ?? '', until, fault: fault?.error ?? null })
    .catch(() => undefined)
}

const FINISH_AGAIN_MS = 500

/** A result is not thrown away because the database does not take it at once: as long as the lease lasts, it is offered. */
async function finish({ executions, ambient }: Engine, { execution, keeper }: Run, outcome: Outcome) {
  const owner = execution.lease?.owner ?? ''
  const finishedAt = new Date(ambient.now()).toISOString()
  for (;;) {
    try {
      return await executions.finish({ execution, owner, outcome, finishedAt })
    } catch (error) {
      if (!(error instanceof Unavailable) || keeper.lost.aborted) throw error
      await sleep(FINISH_AGAIN_MS)
    }
  }
}

type Run = {
  execution: Execution
  version: Version
  keeper: LeaseKeeper
  options: Options
  /** Null until it is open. */
  journal: Journal | null
}

/** The run's outcome, or ERROR `TimedOut` when time is up first; null when it has to be given up before either. */
async function runInTime(engine: Engine, run: Run): Promise<Outcome | null> {
  const { ambient, steps } = engine
  const { execution, version, keeper, options } = run
  const limitMs = timeLimit(execution, version)
  const timeUp = new AbortController()
  const timer = setTimeout(() => timeUp.abort(), limitMs.end - ambient.now())
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
      comesBack: options.comesBack ?? false,
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
  { execution, version, journal, signal, comesBack }: Start,
): Promise<Outcome> {
  if (!version.code) {
    const { runModelVersion } = await import('./model-run.ts')
    return runModelVersion({ engine, execution, version, journal, signal, comesBack })
  }
  const leaving = new AbortController()
  const step = stepFunction(journal, engine.ambient, () => leaving.abort())
  const given = AbortSignal.any([signal, leaving.signal])
  return Promise.race([
    runCodeAgent({ store: engine.agents, version, execution, step, signal: given }),
    aborted(leaving.signal).then(() => {
      throw new WorkerLeaves()
    }),
  ])
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
