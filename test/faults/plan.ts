import { seeded } from './random.ts'

/** Slugs of the two agents that the harness publishes. */
export const CODE_AGENT = 'marked-steps'
export const MODEL_AGENT = 'looking-up'

/** One run to ask for. `marker` names it wherever it is seen: it is in its input, and its idempotency key. */
export type PlannedRun = {
  index: number
  marker: string
  kind: 'instant' | 'steps' | 'slow' | 'model'
  mode: 'async' | 'sync'
  slug: string
  input: Record<string, string | number>
  /** What its output has to be. */
  output: { marker: string; total: number }
}

export type ModelInput = { marker: string; steps: number; parallel: number }

/** What a tool call gives; the model adds them up. */
export const toolValue = (step: number, call: number) => 10 * step + call

/** How often each kind is asked for. */
const KINDS = ['instant', 'instant', 'steps', 'steps', 'slow', 'model'] as const

type Plan = { seed: number; asyncRuns: number; syncRuns: number; log: string }

/** Runs in an order and of kinds that follow from the seed: one in six is a model's. */
export function planRuns({ seed, asyncRuns, syncRuns, log }: Plan): PlannedRun[] {
  const random = seeded(seed, 'runs')
  const modes = random.shuffled([
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

/** All steps but the last call tools, `parallel` at a time. */
function modelRun(marker: string, steps: number, parallel: number) {
  let total = 0
  for (let step = 1; step < steps; step++) {
    for (let call = 1; call <= parallel; call++) total += toolValue(step, call)
  }
  const input: ModelInput = { marker, steps, parallel }
  return { slug: MODEL_AGENT, input, output: { marker, total } }
}
