import { type Random, seededRandom } from '../../support/random.ts'

/** Slugs of the agents that the harness publishes. */
export const CODE_AGENT = 'marked-steps'
export const MODEL_AGENT = 'looking-up'
export const HOSTILE_AGENT = 'hostile'

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

/** One run to request. `marker` identifies it everywhere: in its input and as its idempotency key. */
export type PlannedRun = {
  index: number
  marker: string
  kind: (typeof KINDS)[number]
  mode: 'async' | 'sync'
  slug: string
  input: Record<string, string | number>
  /** The expected output; null if the run must fail. */
  output: { marker: string; total: number; padding?: string } | null
  /** Error codes that it may end with. */
  errors: string[]
  useCache: boolean
  /** Whether the client deletes it as soon as it is final. */
  isDeleted: boolean
}

export type ModelInput = { marker: string; steps: number; parallel: number }

/** The result of a tool call; the model adds them up. */
export const toolValue = (step: number, call: number) => 10 * step + call

/** Kinds of runs, by frequency. */
const KINDS = [
  ...(['instant', 'instant', 'instant', 'steps', 'steps', 'steps', 'slow', 'slow'] as const),
  ...(['large', 'model', 'model', 'hostile'] as const),
] as const

/** Payloads of this size, which does not compress well, are stored in several items. */
const PADDING_BYTES = 400_000
const DELETED_SHARE = 1 / 3

/** A kill may stop each attempt before it made progress. */
const KILLED = 'AttemptsExhausted'

type Workload = { seed: number; asyncRuns: number; syncRuns: number; log: string }

/** Runs whose kinds and order follow from the seed. */
export function planRuns({ seed, asyncRuns, syncRuns, log }: Workload): PlannedRun[] {
  const random = seededRandom(seed, 'runs')
  const modes = random.shuffle([
    ...Array<'async'>(asyncRuns).fill('async'),
    ...Array<'sync'>(syncRuns).fill('sync'),
  ])
  return modes.map((mode, index): PlannedRun => {
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
      errors: [KILLED],
    }
    switch (kind) {
      case 'model':
        return { ...base, ...modelRun(marker, random.between(2, 4), random.between(1, 2)) }
      case 'hostile': {
        const [how, code] = random.pick(HOSTILE)
        const input = { marker, how }
        // A run that resumes after its time limit ends there.
        return { ...base, slug: HOSTILE_AGENT, input, output: null, errors: [code, 'TimedOut', KILLED] }
      }
      default: {
        const steps = kind === 'steps' ? random.between(2, 5) : 0
        const params = { marker, number: random.between(1, 1_000), steps, pauseMs: PAUSE_MS[kind], log }
        return { ...base, ...codeRun(params, kind === 'large' ? randomText(random, PADDING_BYTES) : null) }
      }
    }
  })
}

const PAUSE_MS = { instant: 0, large: 0, steps: 60, slow: 300 }

type CodeInput = { marker: string; number: number; steps: number; pauseMs: number; log: string }

function codeRun(params: CodeInput, text: string | null) {
  const { marker, number, steps } = params
  const total = number + (number * steps * (steps + 1)) / 2
  const padding = text === null ? {} : { padding: text }
  return { slug: CODE_AGENT, input: { ...params, ...padding }, output: { marker, total, ...padding } }
}

const randomText = (random: Random, bytes: number): string =>
  Array.from({ length: Math.ceil(bytes / 8) }, () => random.next().toString(36).slice(2, 10)).join('')

/** Every step but the last makes `parallel` tool calls. */
function modelRun(marker: string, steps: number, parallel: number) {
  let total = 0
  for (let step = 1; step < steps; step++) {
    for (let call = 1; call <= parallel; call++) total += toolValue(step, call)
  }
  const input: ModelInput = { marker, steps, parallel }
  return { slug: MODEL_AGENT, input, output: { marker, total } }
}
