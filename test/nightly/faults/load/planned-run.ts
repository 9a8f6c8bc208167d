import type { RunFault } from '../database/targeted-faults.ts'

/** Slugs of the agents that the harness publishes. */
export const CODE_AGENT = 'marked-steps'
/** The same with a time limit. */
export const TIMED_AGENT = 'marked-steps-timed'
/** Waits for a time, a signal and an approval, all of which its client ends. */
export const WAITING_AGENT = 'marked-waits'
/** Its steps fail at random, and are tried again. */
export const FLAKY_AGENT = 'marked-retries'
export const FLAKY_STEPS = 20
/** As it declares them. */
export const STEP_RETRIES = 10
export const HOSTILE_AGENT = 'hostile'
export const MODEL_AGENT = 'looking-up'
/** Calls the model agent as its tool. */
export const DELEGATING_AGENT = 'delegating'

/** Kinds of runs, by frequency. */
export const KINDS = [
  ...(['instant', 'instant', 'instant', 'steps', 'steps', 'steps', 'slow', 'slow'] as const),
  ...(['waiting', 'waiting', 'large', 'model', 'model', 'delegating', 'hostile', 'flaky'] as const),
] as const

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
  /** What the database does to this run. */
  fault: RunFault | null
}

/** Kills and outages may stop each attempt before it made progress; the error names what was lost last, if anything. */
export const EXHAUSTED = ['AttemptsExhausted', 'StepNotStored', 'OutputNotStored']

/** Whether a model responds in it. */
export const isModelRun = ({ kind }: PlannedRun) => ['model', 'delegating'].includes(kind)

type CodeInput = { marker: string; number: number; steps: number; pauseMs: number; log: string }

/** A run of the code agent, whose output contains `text` if there is one. */
export function codeRun(params: CodeInput, text: string | null) {
  const { marker, number, steps } = params
  const total = number + (number * steps * (steps + 1)) / 2
  const padding = text === null ? {} : { padding: text }
  return { slug: CODE_AGENT, input: { ...params, ...padding }, output: { marker, total, ...padding } }
}

/** What the client of a waiting run sends. */
export const SIGNAL = { name: 'add', data: 1_000 }

/** A run of the agent that waits. */
export function waitingRun(params: Pick<CodeInput, 'marker' | 'number' | 'log'>) {
  const { marker, number } = params
  return { slug: WAITING_AGENT, input: params, output: { marker, total: 3 * number + SIGNAL.data } }
}

/** A run whose steps fail at random. */
export function flakyRun({ marker, number, log }: Pick<CodeInput, 'marker' | 'number' | 'log'>) {
  const total = (number * FLAKY_STEPS * (FLAKY_STEPS + 1)) / 2
  return { slug: FLAKY_AGENT, input: { marker, number, steps: FLAKY_STEPS, log }, output: { marker, total } }
}
