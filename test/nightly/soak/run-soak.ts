import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../support/data/random.ts'
import { findViolations, growthOf, PERIODS, type Period, p99 } from './criteria.ts'
import { generatePacedLoad, measureCapacity, newLoad } from './load.ts'
import { createOperations } from './operations.ts'
import { startSoakService } from './service.ts'

export type SoakOptions = {
  minutes: number
  /** Share of the measured capacity. */
  share: number
  onProgress: (line: string) => void
  signal: AbortSignal
}

export type SoakReport = Awaited<ReturnType<typeof runSoak>>

const WARM_UP_MS = 20_000
/** Load before each period that is not judged: after a rest, threads and connections start again. */
const RESUME_MS = 10_000
const CAPACITY_MS = 20_000
const CONCURRENCY = 16
/** Longer than the service keeps idle threads (20 s) and idle connections of clients (65 s). */
const REST_MS = 70_000
const PROGRESS_MS = 30_000

/** Measures the capacity of the service, loads it with a share of that, and looks for growth. Rests are extra time. */
export async function runSoak({ minutes, share, onProgress, signal }: SoakOptions) {
  const service = await startSoakService()
  let progress: NodeJS.Timeout | undefined
  try {
    const operations = createOperations(service, seededRandom(0, 'operations'))
    const common = { operations, signal, concurrency: CONCURRENCY }
    onProgress('measuring the capacity')
    await measureCapacity({ ...common, durationMs: WARM_UP_MS, load: newLoad() })
    const capacity = await measureCapacity({ ...common, durationMs: CAPACITY_MS, load: newLoad() })
    const perSecond = capacity * share
    onProgress(`capacity ${capacity.toFixed(0)} operations per second, load ${perSecond.toFixed(0)}`)

    const rest = async () => {
      await operations.settle()
      await sleep(REST_MS, undefined, { signal })
      service.checkModel()
      return service.sample()
    }
    // Compiled code that is not used is freed with the garbage: the first period, too, begins after a rest.
    await rest()
    const periods: Period[] = []
    const durationMs = (minutes * 60_000) / PERIODS
    while (periods.length < PERIODS) {
      await generatePacedLoad({ operations, signal, load: newLoad(), durationMs: RESUME_MS, perSecond })
      const load = newLoad()
      const describe = () =>
        `period ${periods.length + 1} of ${PERIODS}: ${load.samples.length} operations, ${load.errors.length} errors` +
        (load.samples.length > 0 ? `, p99 ${p99(load).toFixed(0)} ms` : '')
      progress = setInterval(() => onProgress(describe()), PROGRESS_MS)
      await generatePacedLoad({ operations, signal, load, durationMs, perSecond })
      clearInterval(progress)
      const processes = await rest()
      onProgress(
        `${describe()}; at rest: ${processes.map(({ process, rssMiB, heapMiB, sockets, files }) => `${process} ${rssMiB.toFixed(0)} MiB (heap ${heapMiB.toFixed(1)}), ${sockets} sockets, ${files} files`).join('; ')}`,
      )
      periods.push({ load, processes })
    }
    return {
      minutes,
      capacity,
      perSecond,
      periods: periods.map(({ load, processes }) => ({
        operations: load.samples.length,
        errors: load.errors.length,
        p99Ms: p99(load),
        processes,
      })),
      growth: growthOf(periods),
      violations: findViolations(periods),
    }
  } finally {
    clearInterval(progress)
    await service.stop()
  }
}
