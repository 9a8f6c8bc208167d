import type { Lease, LeasedExecution } from '../../core/execution.ts'
import { type Engine, timesOf } from '../engine.ts'
import { hasArrived } from './has-arrived.ts'

/** A message may be delivered this much before its time: the clocks of machines differ. */
const EARLY_MS = 2_000

/**
 * Takes the lease of a suspended execution if what it waits for has arrived, whoever says so: a message decides
 * nothing. `closed`: it does not wait for anything that has arrived, or does not wait at all.
 * @throws Unavailable
 */
export async function wake(
  engine: Engine,
  id: string,
  lease: Lease,
): Promise<LeasedExecution | 'held' | 'closed' | { retryInMs: number }> {
  const { executions, system } = engine
  const execution = await executions.getSuspended({ id })
  if (!execution) return 'closed'
  if (!(await hasArrived(engine, execution))) {
    const remainingMs = execution.suspension.until - system.now()
    return remainingMs <= EARLY_MS ? { retryInMs: Math.max(remainingMs, 0) } : 'closed'
  }
  const now = system.now()
  const openUntil = now + timesOf(engine).graceMs
  return (await executions.wake({ execution, lease, openUntil, now })) ?? 'held'
}
