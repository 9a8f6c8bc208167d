import { seededRandom } from '../../support/random.ts'

/** Slugs of the two agents that the harness publishes. */
export const CODE_AGENT = 'marked-steps'
export const MODEL_AGENT = 'looking-up'

/** One run to request. `marker` identifies it everywhere: in its input and as its idempotency key. */
export type PlannedRun = {
  index: number
  marker: string
  kind: 'instant' | 'steps' | 'slow' | 'model'
  mode: 'async' | 'sync'
  slug: string
  input: Record<string, string | number>
  /** The expected output. */
  output: { marker: string; total: number }
}

export type ModelInput = { marker: string; steps: number; parallel: number }

/** The result of a tool call; the model adds them up. */
export const toolValue = (step: number, call: number) => 10 * step + call

/** Kinds of runs, by frequency. */
const KINDS = ['instant', 'instant', 'steps', 'steps', 'slow', 'model'] as const

type Workload = { seed: number; asyncRuns: number; syncRuns: number; log: string }

/** Runs whose kinds and order follow from the seed. One in six uses the model agent. */
export function planRuns({ seed, asyncRuns, syncRuns, log }: Workload): PlannedRun[] {
  const random = seededRandom(seed, 'runs')
  const modes = random.shuffle([
    ...Array<'async'>(asyncRuns).fill('async'),
    ...Array<'sync'>(syncRuns).fill('sync'),
  ])
  return modes.map((mode, index): PlannedRun => {
    const marker = `run-${seed}-${index}`
    const kind = random.pick(KINDS)
    const base = { index, marker, kind, mode }
    if (kind === 'model') return { ...base, ...modelRun(marker, random.between(2, 4), random.between(1, 2)) }
    const number = random.between(1, 1_000)
    const steps = kind === 'steps' ? random.between(2, 5) : 0
    const pauseMs = { instant: 0, steps: 60, slow: 300 }[kind]
    const total = number + (number * steps * (steps + 1)) / 2
    return {
      ...base,
      slug: CODE_AGENT,
      input: { marker, number, steps, pauseMs, log },
      output: { marker, total },
    }
  })
}

/** Every step but the last makes `parallel` tool calls. */
function modelRun(marker: string, steps: number, parallel: number) {
  let total = 0
  for (let step = 1; step < steps; step++) {
    for (let call = 1; call <= parallel; call++) total += toolValue(step, call)
  }
  const input: ModelInput = { marker, steps, parallel }
  return { slug: MODEL_AGENT, input, output: { marker, total } }
}
