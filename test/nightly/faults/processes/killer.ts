import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../../support/data/random.ts'
import type { Role, SupervisedService } from './supervised-service.ts'

const ROLES: Role[] = ['gateway', 'runner']

/** Share of the kills that also pause a runner, and for how many leases. */
const PAUSE_SHARE = 0.25
const PAUSE_LEASES = 1.5

const RETRY_MS = 200

type Kill = () => Promise<boolean>
/** Intervals that the next kill waits for progress: on a busy machine, a service may need longer to start than one. */
const PATIENCE = 8

type Options = {
  seed: number
  everyMs: number
  leaseMs: number
  /** Counts what the clients have achieved. */
  progress: () => number
}

/** Kills a random process about every `everyMs` until stopped. */
export function startKiller(services: SupervisedService[], { seed, everyMs, leaseMs, progress }: Options) {
  const random = seededRandom(seed, 'kills')
  const kills = services.flatMap((service) =>
    ROLES.map(
      (role): Kill =>
        () =>
          service.kill(role),
    ),
  )
  const stopping = new AbortController()

  async function killOne(): Promise<void> {
    while (!stopping.signal.aborted) {
      const kill = random.pick(kills as [Kill, ...Kill[]])
      if (await kill()) return
      // The process is starting. Without a pause here, no process would live long enough to do any work.
      await sleep(RETRY_MS)
    }
  }

  async function awaitProgress(since: number): Promise<void> {
    const endsAt = performance.now() + everyMs * PATIENCE
    while (progress() === since && performance.now() < endsAt && !stopping.signal.aborted)
      await sleep(RETRY_MS)
  }

  const killing = (async () => {
    for (let due = performance.now(); !stopping.signal.aborted; ) {
      due = Math.max(due, performance.now() - everyMs) + everyMs * (0.5 + random.next())
      const before = progress()
      const waitMs = Math.max(due - performance.now(), 0)
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
      // One that has exited on its own must not count as killed.
      for (const service of services) service.checkGateway()
      await awaitProgress(before)
      const isPausing = random.next() < PAUSE_SHARE
      const candidates = random.shuffle(services)
      await killOne()
      for (const service of isPausing ? candidates : []) {
        if (stopping.signal.aborted || (await service.pause(PAUSE_LEASES * leaseMs))) break
      }
    }
  })()

  return {
    async stop(): Promise<void> {
      stopping.abort()
      await killing
    },
  }
}
