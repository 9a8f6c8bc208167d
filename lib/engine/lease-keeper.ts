import { HEARTBEAT_MS, LEASE_MS } from '../core/limits.ts'
import type { Ambient, ExecutionStore } from '../core/ports.ts'

export type LeaseTimes = { leaseMs: number; heartbeatMs: number }

export const DEFAULT_LEASE: LeaseTimes = { leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS }

type Params = {
  executions: ExecutionStore
  ambient: Ambient
  times: LeaseTimes
  id: string
  owner: string
  /** Renewed together with the lease, for a run that came by message. */
  onHeartbeat?: (() => Promise<void>) | undefined
}

/** Renews a lease until stopped. `lost` aborts when somebody else ended or took the execution, or renewing failed too long. */
export function keepLease({ executions, ambient, times, id, owner, onHeartbeat }: Params) {
  const lost = new AbortController()
  let expiresAt = ambient.now() + times.leaseMs
  const beat = async () => {
    const next = ambient.now() + times.leaseMs
    try {
      if (!(await executions.renew({ id, lease: { owner, expiresAt: next } }))) return lost.abort()
      expiresAt = next
      await onHeartbeat?.()
    } catch {
      if (ambient.now() >= expiresAt) lost.abort()
    }
  }
  const timer = setInterval(beat, times.heartbeatMs)
  return { lost: lost.signal, stop: () => clearInterval(timer) }
}
