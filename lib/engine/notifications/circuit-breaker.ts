import { LRUCache } from 'lru-cache'
import type { LeaseTimes } from '../../core/lease-times.ts'
import type { DeliveryResult } from '../../core/notification.ts'

export type CircuitBreaker = {
  /**
   * Sends to a destination, unless its last attempts have got no answer: then one attempt at a time tries whether it
   * answers again, and the others fail at once, so that a receiver that hangs does not occupy all workers.
   * @param isForced sends in any case
   */
  run(
    receiver: string,
    options: { isForced: boolean },
    send: () => Promise<DeliveryResult>,
  ): Promise<DeliveryResult>
}

/** Attempts in a row without an answer that open the circuit. */
const THRESHOLD = 3
/** For how long, in first delays of a retry: 30 s. */
const OPEN_DELAYS = 6
const MAX_RECEIVERS = 10_000

/** The circuit breakers of this process, by receiver. */
export function circuitBreaker(now: () => number, { backoffMs }: LeaseTimes): CircuitBreaker {
  const circuits = new LRUCache<string, { failures: number; openUntil: number; isTrying: boolean }>({
    max: MAX_RECEIVERS,
  })
  return {
    async run(id, { isForced }, send) {
      const circuit = circuits.get(id)
      if (circuit && circuit.failures >= THRESHOLD && !isForced) {
        if (circuit.isTrying || now() < circuit.openUntil) return NOT_SENT
        circuit.isTrying = true
      }
      const result = await send().catch((error: unknown) => {
        if (circuit) circuit.isTrying = false
        throw error
      })
      if (result.ok || result.responseStatus !== null) circuits.delete(id)
      else {
        const failures = (circuits.get(id)?.failures ?? 0) + 1
        circuits.set(id, { failures, openUntil: now() + OPEN_DELAYS * backoffMs, isTrying: false })
      }
      return result
    },
  }
}

const NOT_SENT: DeliveryResult = {
  ok: false,
  responseStatus: null,
  error: 'Not sent: the receiver has not answered the last attempts.',
  isGone: false,
}
