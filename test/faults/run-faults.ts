import { setTimeout as sleep } from 'node:timers/promises'
import { callRun, type Observation } from './caller.ts'
import { judge } from './judge.ts'
import { startKiller } from './killer.ts'
import { type PlannedRun, planRuns } from './plan.ts'
import type { Report } from './report.ts'
import { killsOf, startWorld, type World } from './world.ts'

export type FaultOptions = {
  seed: number
  asyncRuns: number
  syncRuns: number
  /** One process is killed about this often. */
  killEveryMs: number
  /** Share of the requests to the emulators that meet a fault. */
  rate: number
  leaseSeconds: number
  /** How long no run at all may become final, once kills and faults have stopped, before the rest counts as hanging. */
  settleMs: number
  /** How long kills and faults may go on at most. */
  limitMs: number
  onProgress?: (line: string) => void
  /** Ends everything early. */
  signal?: AbortSignal
}

/** Requests that clients have under way at a time. */
const CLIENTS = 32
/** Model runs of these, so that a kill costs less than one response of a model on average. */
const MODEL_CLIENTS = 6
const PROGRESS_MS = 5_000
const LOOK_MS = 500

export const SETTLE_LEASES = 10

/**
 * Asks two services for runs while their processes are killed and their requests go wrong, then lets them come to rest
 * and judges what became of the runs.
 */
export async function runFaults(options: FaultOptions): Promise<Report> {
  const { seed, killEveryMs, rate } = options
  const startedAt = performance.now()
  const world = await startWorld(options)
  let progress: NodeJS.Timeout | undefined
  try {
    const load = startLoad(world, planRuns({ ...options, log: world.log }), options.signal)
    progress = setInterval(() => options.onProgress?.(load.progress()), PROGRESS_MS)
    for (const proxy of Object.values(world.proxies)) proxy.setRate(rate)
    const killer = startKiller(world.services, world.runners, {
      seed,
      everyMs: killEveryMs,
      leaseMs: options.leaseSeconds * 1000,
    })
    try {
      await Promise.race([load.accepted, sleep(options.limitMs, undefined, { ref: false })])
    } finally {
      await killer.stop()
      for (const proxy of Object.values(world.proxies)) proxy.setRate(0)
    }
    const settling = performance.now()
    const observed = await settled(load, options.settleMs)
    await Promise.all(world.services.map((service) => service.ready()))
    const seconds = { faults: (settling - startedAt) / 1000, settling: (performance.now() - settling) / 1000 }
    return await judge(world, { observed, counted: load.counted, complaints: load.complaints, seconds })
  } finally {
    clearInterval(progress)
    await world.stop()
  }
}

/** However many runs are left and however slow the machine: one after the other has to become final. */
async function settled(load: ReturnType<typeof startLoad>, settleMs: number): Promise<Observation[]> {
  let seen = -1
  let limit: NodeJS.Timeout | undefined
  const look = setInterval(() => {
    if (load.finals() === seen) return
    seen = load.finals()
    clearTimeout(limit)
    limit = setTimeout(load.giveUp, settleMs)
  }, LOOK_MS)
  try {
    return await load.done
  } finally {
    clearInterval(look)
    clearTimeout(limit)
  }
}

function startLoad(world: World, runs: PlannedRun[], signal?: AbortSignal) {
  const counted: Record<string, number> = {}
  const complaints: string[] = []
  const observed: Observation[] = []
  const giving = new AbortController()
  const given = signal ? AbortSignal.any([signal, giving.signal]) : giving.signal
  let accepted = 0
  let onAllAccepted = () => {}
  const allAccepted = new Promise<void>((resolve) => {
    onAllAccepted = resolve
  })

  const work = async (queue: PlannedRun[]) => {
    for (let run = queue.shift(); run; run = queue.shift()) {
      observed.push(
        await callRun({
          run,
          clients: world.clients,
          count: (what) => {
            counted[what] = (counted[what] ?? 0) + 1
          },
          complain: (what) => complaints.push(what),
          onAccepted: () => {
            accepted++
            if (accepted === runs.length) onAllAccepted()
          },
          signal: given,
        }),
      )
    }
  }
  const [models, codes] = [
    runs.filter((run) => run.kind === 'model'),
    runs.filter((run) => run.kind !== 'model'),
  ]
  const workers = [
    ...Array.from({ length: MODEL_CLIENTS }, () => work(models)),
    ...Array.from({ length: CLIENTS - MODEL_CLIENTS }, () => work(codes)),
  ]
  const done = Promise.all(workers).then(() => observed)

  return {
    counted,
    complaints,
    /** All runs have been accepted, or were given up. */
    accepted: Promise.race([allAccepted, done]),
    done,
    giveUp: () => giving.abort(),
    finals: () => observed.length,
    progress: () => {
      return `${accepted} of ${runs.length} accepted, ${observed.length} final, ${killsOf(world).all} kills`
    },
  }
}
