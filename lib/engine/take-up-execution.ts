import { type ExecutionError, failure } from '../core/execution.ts'
import { MAX_ATTEMPTS } from '../core/limits.ts'
import { type Engine, execute } from './execute.ts'
import { DEFAULT_LEASE } from './lease-keeper.ts'
import { versionOf } from './versions.ts'

/** `held`: another worker has a live lease. `idle`: there is nothing to do, the execution has ended or is gone. */
export type TakeUp = 'ran' | 'held' | 'idle'

/** One round of the runner: takes a waiting execution's lease and runs it to its end. */
export async function takeUpExecution(
  engine: Engine,
  id: string,
  onHeartbeat?: () => Promise<void>,
): Promise<TakeUp> {
  const { executions, ambient, lease: times = DEFAULT_LEASE } = engine
  const now = ambient.now()
  const owner = ambient.newId()
  const execution = await executions.claim({ id, lease: { owner, expiresAt: now + times.leaseMs }, now })
  if (execution === 'held') return 'held'
  if (execution === 'closed') return 'idle'

  const finishedAt = new Date(now).toISOString()
  const end = (error: ExecutionError) =>
    executions.finish({ execution, owner, outcome: failure(error), finishedAt })
  if (execution.attempts > MAX_ATTEMPTS) {
    await end({
      code: 'AttemptsExhausted',
      message: `The run was taken up ${MAX_ATTEMPTS} times and its worker died each time.`,
    })
    return 'ran'
  }
  const version = await versionOf(engine.agents, execution)
  if (!version) {
    await end({ code: 'VersionNotFound', message: 'The version that the execution runs on is gone.' })
    return 'ran'
  }
  await execute(engine, execution, version, onHeartbeat ? { onHeartbeat } : {})
  return 'ran'
}
