import { median, percentile } from '../../../bench/harness/rounds.ts'
import type { Load } from './load.ts'
import type { ProcessSample, Resources } from './process-sample.ts'

/** A sixth of the soak: its load, and what the processes held at rest after it. */
export type Period = { load: Load; processes: ProcessSample[] }

export const PERIODS = 6

/** How much more a process may hold at rest in the last two periods than in the second and third: share, number. */
const TOLERANCE: Record<keyof Resources, { share: number; plus: number }> = {
  // What bursts of threads leave in the arenas of malloc varies by this much.
  rssMiB: { share: 0.15, plus: 24 },
  heapMiB: { share: 0.05, plus: 2 },
  sockets: { share: 0.1, plus: 8 },
  files: { share: 0, plus: 4 },
}
const RESOURCES = Object.keys(TOLERANCE) as (keyof Resources)[]

const MAX_P99_RATIO = 1.3

/** Share of the operations that may not be started because the service did not keep up with the rate. */
const MAX_NOT_STARTED = 0.01

/** Which processes may not grow. The database grows with what is stored. */
const isJudged = ({ process }: ProcessSample) => process !== 'database'

export type Growth = { process: string; resource: keyof Resources; early: number; late: number; max: number }

/**
 * What each process held in periods 2 and 3 and in periods 5 and 6. The first period is left out: code is compiled,
 * caches and pools fill. The samples are taken at rest after garbage collection, so that a difference is what is
 * retained.
 */
export function growthOf(periods: Period[]): Growth[] {
  const processes = periods[0]?.processes.filter(isJudged).map(({ process }) => process) ?? []
  return processes.flatMap((process) =>
    RESOURCES.map((resource) => {
      const values = periods.map((period) => {
        const sample = period.processes.find((other) => other.process === process)
        if (!sample) throw new Error(`There is no sample of the ${process}.`)
        return sample[resource]
      })
      const early = median(values.slice(1, 3))
      const late = median(values.slice(4, 6))
      const { share, plus } = TOLERANCE[resource]
      return { process, resource, early, late, max: early * (1 + share) + plus }
    }),
  )
}

export const p99 = ({ samples }: Pick<Load, 'samples'>): number =>
  percentile(
    samples.map(({ ms }) => ms),
    0.99,
  )

/** Everything that a soak must not show. */
export function findViolations(periods: Period[]): string[] {
  const loads = periods.map(({ load }) => load)
  const errors = loads.flatMap((load) => load.errors)
  const notStarted = loads.reduce((sum, load) => sum + load.notStarted, 0)
  const started = loads.reduce((sum, { samples }) => sum + samples.length, 0)
  const [first, last] = [loads[0], loads.at(-1)].map((load) => (load ? p99(load) : 0)) as [number, number]
  const grown = growthOf(periods).filter(({ late, max }) => late > max)
  return [
    ...errors,
    ...(notStarted > MAX_NOT_STARTED * started
      ? [`${notStarted} operations were not started: the service did not keep up.`]
      : []),
    ...(last > first * MAX_P99_RATIO
      ? [`p99 rose from ${first.toFixed(0)} to ${last.toFixed(0)} ms, by more than ${MAX_P99_RATIO} times.`]
      : []),
    ...grown.map(
      ({ process, resource, early, late, max }) =>
        `${process}: ${resource} grew from ${early.toFixed(1)} to ${late.toFixed(1)}, allowed is ${max.toFixed(1)}.`,
    ),
  ]
}
