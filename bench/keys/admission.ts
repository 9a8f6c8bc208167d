import { TooManyRequests } from '../../lib/core/errors.ts'
import { openExecutions } from '../../lib/dynamodb/executions/open-executions.ts'
import { STATUS_SHARDS } from '../../lib/dynamodb/table/keys.ts'
import type { Table } from '../../lib/dynamodb/table/table.ts'
import { admission } from '../../lib/limits/admission.ts'
import { createRandom } from './random.ts'
import { createClock } from './virtual-clock.ts'

const MAX_OPEN = 1_000
const PROCESSES = 200
/** Of a query, of the write of a record, and until the index shows the write; in milliseconds. */
const LATENCY = { query: 5, write: 10, index: 10 } as const

export type AdmissionScenario = {
  name: string
  /** Requests per second, to all processes, at a time in seconds. */
  rate: (second: number) => number
  /** Mean duration in seconds of the runs that start then, distributed exponentially. */
  duration: (second: number) => number
  seconds: number
  /** 200 by default. */
  processes?: number
}

const steady = (share: number, duration: number, seconds: number): AdmissionScenario => ({
  name: `steady at ${share * 100} % of the cap, runs of ${duration} s`,
  rate: () => (share * MAX_OPEN) / duration,
  duration: () => duration,
  seconds,
})
const never = () => Number.POSITIVE_INFINITY

const ONE_PROCESS = {
  name: 'one process, 400 runs of 30 ms per second',
  rate: () => 400,
  duration: () => 0.03,
  seconds: 20,
  processes: 1,
}
export const STEADY: AdmissionScenario[] = [
  steady(0.25, 2, 200),
  steady(0.45, 2, 200),
  steady(0.4, 20, 2_000),
  ONE_PROCESS,
]
export const BURSTS: AdmissionScenario[] = [
  {
    name: '8,000 requests at once, no run ends',
    rate: (s) => (s < 0.008 ? 1e6 : 0),
    duration: never,
    seconds: 1,
  },
  { name: 'burst from zero, no run ends', rate: (s) => (s < 2 ? 4_000 : 0), duration: never, seconds: 3 },
  {
    name: 'burst after low load, no run ends',
    rate: (s) => (s < 120 ? 20 : 4_000),
    duration: (s) => (s < 120 ? 2 : never()),
    seconds: 122,
  },
  {
    name: 'load rises to twice the cap in 2 minutes',
    rate: (s) => s * 1.7,
    duration: () => 10,
    seconds: 120,
  },
]
const OTHERS: AdmissionScenario[] = [
  steady(0.78, 2, 60),
  {
    name: 'steady at 40 % of the cap, then no run ends',
    rate: () => 200,
    duration: (s) => (s < 120 ? 2 : never()),
    seconds: 150,
  },
]
export const ADMISSION_SCENARIOS = [...STEADY, ...BURSTS, ...OTHERS]

export type AdmissionResult = {
  /** As a share of the cap. */
  maxOpen: number
  /** Queries per run admitted below half of the cap, without the first count of each process. */
  queriesPerRun: number
  /** The smallest share of the cap that was open at a rejection; null if there was none. */
  minOpenAtRejection: number | null
}

/** Runs the processes of a scenario for one organization, on a clock of its own. The same seed repeats the result. */
export async function simulateAdmission(scenario: AdmissionScenario, seed = 1): Promise<AdmissionResult> {
  const { processes: processCount = PROCESSES } = scenario
  const random = createRandom(seed)
  const clock = createClock()
  const visible = Array<number>(STATUS_SHARDS).fill(0)
  let open = 0
  let queries = 0
  let runs = 0
  let maxOpen = 0
  let minOpenAtRejection: number | null = null

  const count = async (_: string, partition: string) => {
    if (open < MAX_OPEN / 2) queries++
    await clock.sleep(LATENCY.query)
    return visible[Number(partition.split('#').at(-1))] ?? 0
  }
  const executions = openExecutions({ count } as unknown as Table, random)
  const system = { now: clock.now, newId: () => '' }
  const processes = Array.from({ length: processCount }, () => admission({ executions, system }, MAX_OPEN))

  async function run(): Promise<void> {
    const shard = Math.floor(random() * STATUS_SHARDS)
    const show = async (change: number) => {
      await clock.sleep(LATENCY.index)
      visible[shard] = (visible[shard] ?? 0) + change
    }
    await clock.sleep(LATENCY.write)
    if (open < MAX_OPEN / 2) runs++
    open++
    maxOpen = Math.max(maxOpen, open)
    void show(1)
    const mean = scenario.duration(clock.now() / 1000)
    if (!Number.isFinite(mean)) return
    void clock.sleep(-Math.log(1 - random()) * mean * 1000).then(() => {
      open--
      return show(-1)
    })
  }

  async function request(): Promise<void> {
    try {
      await processes[Math.floor(random() * processCount)]?.('organization', run)
    } catch (error) {
      if (!(error instanceof TooManyRequests)) throw error
      minOpenAtRejection = Math.min(minOpenAtRejection ?? open, open)
    }
  }

  for (let at = 0; at < scenario.seconds * 1000; ) {
    const rate = scenario.rate(at / 1000)
    at += rate > 0 ? (-Math.log(1 - random()) * 1000) / rate : 1000
    void clock.sleep(at).then(request)
  }
  await clock.run()
  return {
    maxOpen: maxOpen / MAX_OPEN,
    queriesPerRun: Math.max(queries - processCount, 0) / runs,
    minOpenAtRejection: minOpenAtRejection === null ? null : minOpenAtRejection / MAX_OPEN,
  }
}
