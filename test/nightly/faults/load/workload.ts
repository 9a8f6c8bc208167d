import { type Random, seededRandom } from '../../../support/data/random.ts'
import { faultsFor, faultyRun } from './faulty-runs.ts'
import { modelRun } from './model-runs.ts'
import {
  codeRun,
  EXHAUSTED,
  flakyRun,
  HOSTILE_AGENT,
  KINDS,
  type PlannedRun,
  waitingRun,
} from './planned-run.ts'

type HostileRun = [how: string, code: string]

/** What hostile runs do, and the error code that they end with. */
const HOSTILE: [HostileRun, ...HostileRun[]] = [
  ['busy loop', 'TimedOut'],
  ['never settles', 'TimedOut'],
  ['process.exit', 'AgentFailed'],
  ['unhandled rejection', 'AgentFailed'],
  ['rejection without waiting', 'AgentFailed'],
  ['deep recursion', 'AgentFailed'],
  ['heap', 'AgentFailed'],
  ['500 kB error', 'AgentFailed'],
]

/** Payloads of this size, which does not compress well, are stored in several items. */
const PADDING_BYTES = 400_000
const DELETED_SHARE = 1 / 3

type Workload = { seed: number; asyncRuns: number; syncRuns: number; log: string }

/** Runs whose kinds and order follow from the seed, and some that get faults of their own. */
export function planRuns({ seed, asyncRuns, syncRuns, log }: Workload): PlannedRun[] {
  const random = seededRandom(seed, 'runs')
  const modes = random.shuffle([
    ...Array<'async'>(asyncRuns).fill('async'),
    ...Array<'sync'>(syncRuns).fill('sync'),
  ])
  const planned = modes.map((mode, index): PlannedRun => {
    const marker = `run-${seed}-${index}`
    const kind = random.pick(KINDS)
    const isDeleted = random.next() < DELETED_SHARE
    const base = {
      index,
      marker,
      kind,
      mode,
      isDeleted,
      useCache: random.pick([true, false]),
      errors: EXHAUSTED,
      fault: null,
    }
    switch (kind) {
      case 'model':
      case 'delegating':
        return { ...base, ...modelRun(kind, marker, random.between(2, 4), random.between(1, 2)) }
      case 'hostile': {
        const [how, code] = random.pick(HOSTILE)
        const input = { marker, how }
        // A run that resumes after its time limit ends there.
        return { ...base, slug: HOSTILE_AGENT, input, output: null, errors: [code, 'TimedOut', ...EXHAUSTED] }
      }
      case 'waiting':
        return { ...base, ...waitingRun({ marker, number: random.between(1, 1_000), log }), useCache: false }
      case 'flaky':
        return { ...base, ...flakyRun({ marker, number: random.between(1, 1_000), log }), useCache: false }
      default: {
        const steps = kind === 'steps' ? random.between(2, 5) : 0
        const params = { marker, number: random.between(1, 1_000), steps, pauseMs: PAUSE_MS[kind], log }
        return { ...base, ...codeRun(params, kind === 'large' ? randomText(random, PADDING_BYTES) : null) }
      }
    }
  })
  const faulty = random.shuffle(faultsFor(modes.length)).map((fault, i) => {
    const index = modes.length + i
    const mode = random.pick(['async', 'sync'] as const)
    return faultyRun(fault, { index, marker: `run-${seed}-${index}`, mode }, log)
  })
  return [...planned, ...faulty]
}

const PAUSE_MS = { instant: 0, large: 0, steps: 60, slow: 300 }

const randomText = (random: Random, bytes: number): string =>
  Array.from({ length: Math.ceil(bytes / 8) }, () => random.next().toString(36).slice(2, 10)).join('')
