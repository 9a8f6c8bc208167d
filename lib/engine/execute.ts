import type { Version } from '../core/agent.ts'
import { type Execution, failure, type Outcome } from '../core/execution.ts'
import type { AgentStore, Ambient, ExecutionStore } from '../core/ports.ts'
import { DEFAULT_LEASE, keepLease, type LeaseTimes } from './lease-keeper.ts'
import { runCodeAgent } from './run-code-agent.ts'

export type Engine = {
  agents: AgentStore
  executions: ExecutionStore
  ambient: Ambient
  /** Milliseconds; the defaults unless a test shortens them. */
  lease?: LeaseTimes
}

/**
 * Runs an execution whose lease the caller holds, and ends it.
 * @returns the ended execution, or null when the lease was lost: then somebody else has ended it or is running it
 */
export async function execute(
  engine: Engine,
  execution: Execution,
  version: Version,
  onHeartbeat?: () => Promise<void>,
): Promise<Execution | null> {
  const { executions, ambient, lease: times = DEFAULT_LEASE } = engine
  const owner = execution.lease?.owner ?? ''
  const { lost, stop } = keepLease({ executions, ambient, times, id: execution.id, owner, onHeartbeat })
  try {
    const outcome = await runInTime(engine, execution, version, lost)
    if (!outcome) return null
    const finishedAt = new Date(ambient.now()).toISOString()
    return await executions.finish({ execution, owner, outcome, finishedAt })
  } finally {
    stop()
  }
}

/** The run's outcome, or ERROR `TimedOut` when time is up first; null when the lease is lost before either. */
async function runInTime(
  { agents, ambient }: Engine,
  execution: Execution,
  version: Version,
  lost: AbortSignal,
): Promise<Outcome | null> {
  const { timeoutSeconds } = version.execution
  const ownLimit = timeoutSeconds === null ? Number.POSITIVE_INFINITY : timeoutSeconds * 1000
  const limitMs = Math.min(ownLimit, Math.max(execution.deadlineAt - ambient.now(), 0))
  const timeUp = new AbortController()
  const timer = setTimeout(() => timeUp.abort(), limitMs)
  const signal = AbortSignal.any([lost, timeUp.signal])
  try {
    return await Promise.race([
      runCodeAgent({ store: agents, version, execution, signal }),
      aborted(signal).then(() => (lost.aborted ? null : timedOut(limitMs))),
    ])
  } finally {
    clearTimeout(timer)
  }
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
