import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../../support/data/random.ts'
import type { FaultName } from '../../../support/proxy/faults.ts'
import type { ProxyRequest } from '../../../support/proxy/start-proxy.ts'

/** What happens to all requests during an outage. */
const KINDS = ['throttle', 'drop', 'hang'] as const satisfies FaultName[]

/** Between the beginnings of two outages, and the length of one, in leases. */
const INTERVAL = { min: 2, max: 5 }
const LENGTH = { min: 0.3, max: 1.3 }

/** Share of the reads of versions that are throttled, by their key, while `start` is in effect. */
const THROTTLED_VERSIONS = 0.3

/** Outages of the whole table, one after the other, and throttled reads of versions. */
export function createOutages({ seed, leaseMs }: { seed: number; leaseMs: number }) {
  const random = seededRandom(seed, 'outages')
  const stopping = new AbortController()
  let current: (typeof KINDS)[number] | null = null
  let count = 0
  let repeating: Promise<void> | null = null
  const leases = ({ min, max }: { min: number; max: number }) => (min + random.next() * (max - min)) * leaseMs
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {})

  async function repeat(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(leases(INTERVAL))
      if (stopping.signal.aborted) return
      current = random.pick(KINDS)
      count++
      await pause(leases(LENGTH))
      current = null
    }
  }

  return {
    count: () => count,
    inject({ operation, body }: ProxyRequest): FaultName | null {
      if (!repeating || stopping.signal.aborted) return null
      if (current) return current
      const isVersion = operation === 'GetItem' && body.includes('"VERSION#')
      return isVersion && random.next() < THROTTLED_VERSIONS ? 'throttle' : null
    },
    start(): void {
      repeating = repeat()
    },
    async stop(): Promise<void> {
      stopping.abort()
      await repeating
    },
  }
}

export type Outages = ReturnType<typeof createOutages>
