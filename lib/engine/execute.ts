import type { Version } from '../core/agent.ts'
import { type Execution, failure, type Outcome } from '../core/execution.ts'
import type { AgentStore, Ambient, ExecutionStore } from '../core/ports.ts'
import type { StepStore } from '../core/step.ts'
import type { Environment } from '../environment.ts'
import { stepFunction } from './code-steps.ts'
import { Journal, LeaseLost } from './journal.ts'
import { DEFAULT_LEASE, keepLease, type LeaseTimes } from './lease-keeper.ts'
import { runCodeAgent } from './run-code-agent.ts'

export type Engine = {
  agents: AgentStore
  executions: ExecutionStore
  steps: StepStore
  ambient: Ambient
  /** Names models, keys and secrets. */
  environment?: Environment
  /** Milliseconds; the defaults unless a test shortens them. */
  lease?: LeaseTimes
}

type Options = {
  /** Called with each renewal of the lease. */
  onHeartbeat?: () => Promise<void>
  /** Makes this worker leave the run as it is, for another to go on with. */
  leave?: AbortSignal
}

/**
 * Runs an execution whose lease the caller holds, and ends it.
 * @returns the ended execution, or null when it was left or its lease lost: then somebody else ends it
 */
export async function execute(
  engine: Engine,
  execution: Execution,
  version: Version,
  { onHeartbeat, leave }: Options = {},
): Promise<Execution | null> {
  const { executions, ambient, lease: times = DEFAULT_LEASE } = engine
  const owner = execution.lease?.owner ?? ''
  const { lost, stop } = keepLease({ executions, ambient, times, id: execution.id, owner, onHeartbeat })
  const given = leave ? AbortSignal.any([lost, leave]) : lost
  try {
    const outcome = await runInTime(engine, execution, version, given)
    if (!outcome) return null
    const finishedAt = new Date(ambient.now()).toISOString()
    return await executions.finish({ execution, owner, outcome, finishedAt })
  } catch (error) {
    if (error instanceof LeaseLost) return null
    throw error
  } finally {
    stop()
  }
}

/** The run's outcome, or ERROR `TimedOut` when time is up first; null when it has to be given up before either. */
async function runInTime(
  engine: Engine,
  execution: Execution,
  version: Version,
  given: AbortSignal,
): Promise<Outcome | null> {
  const { ambient, executions, steps, lease: { leaseMs } = DEFAULT_LEASE } = engine
  const { timeoutSeconds } = version.execution
  const ownLimit = timeoutSeconds === null ? Number.POSITIVE_INFINITY : timeoutSeconds * 1000
  const limitMs = Math.min(ownLimit, Math.max(execution.deadlineAt - ambient.now(), 0))
  const timeUp = new AbortController()
  const timer = setTimeout(() => timeUp.abort(), limitMs)
  const signal = AbortSignal.any([given, timeUp.signal])
  let journal: Journal | undefined
  try {
    const opened = await Journal.open({ executions, steps, ambient, execution, leaseMs })
    journal = opened
    const running = run(engine, { execution, version, journal: opened, signal })
    // Given up below, it may still reject; nobody is there to hear it.
    running.catch(() => undefined)
    return await Promise.race([
      running,
      aborted(signal).then(() => (given.aborted ? null : { ...timedOut(limitMs), ...opened.progress })),
    ])
  } finally {
    journal?.close()
    clearTimeout(timer)
  }
}

type Run = { execution: Execution; version: Version; journal: Journal; signal: AbortSignal }

async function run(engine: Engine, { execution, version, journal, signal }: Run): Promise<Outcome> {
  if (!version.code) {
    const { runModelVersion } = await import('./model-run.ts')
    return runModelVersion({ engine, execution, version, journal, signal })
  }
  const step = stepFunction(journal, engine.ambient)
  return runCodeAgent({ store: engine.agents, version, execution, step, signal })
}

function timedOut(limitMs: number): Outcome {
  return failure({
    code: 'TimedOut',
    message: `The run did not end within its ${Math.round(limitMs / 1000)} seconds.`,
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
