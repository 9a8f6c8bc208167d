import { setTimeout as sleep } from 'node:timers/promises'
import type { KeptRunner } from './kept-runner.ts'
import type { KeptService, Role } from './kept-service.ts'
import { seeded } from './random.ts'

const ROLES: Role[] = ['gateway', 'runner']

/** How many kills come with a pause of some runner, and how many leases it takes. */
const PAUSE_SHARE = 0.25
const PAUSE_LEASES = 1.5

const DRAW_AGAIN_MS = 200

type Victim = () => Promise<boolean>
type Options = { seed: number; everyMs: number; leaseMs: number }

/** Kills one process after the other, about every `everyMs`, until stopped. */
export function startKiller(
  services: KeptService[],
  runners: KeptRunner[],
  { seed, everyMs, leaseMs }: Options,
) {
  const random = seeded(seed, 'kills')
  const victims = [
    ...services.flatMap((service) =>
      ROLES.map(
        (role): Victim =>
          () =>
            service.kill(role),
      ),
    ),
    ...runners.map(
      (runner): Victim =>
        () =>
          runner.kill(),
    ),
  ]
  const stopping = new AbortController()

  /** The first drawn that is up. One that is just starting is drawn again only after a while: else nobody would grow old. */
  async function killOne(): Promise<void> {
    while (!stopping.signal.aborted) {
      const kill = random.pick(victims as [Victim, ...Victim[]])
      if (await kill()) return
      await sleep(DRAW_AGAIN_MS)
    }
  }

  const killing = (async () => {
    for (let due = performance.now(); !stopping.signal.aborted; ) {
      due += everyMs * (0.5 + random.next())
      const waitMs = Math.max(due - performance.now(), 0)
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
      for (const service of services) service.look()
      const isPausing = random.next() < PAUSE_SHARE
      const candidates = random.shuffled(services)
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
