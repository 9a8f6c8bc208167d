import type { Json } from './json/json.ts'
import type { ScoredPair, ScoreSums, TrialScorer } from './score-pairs.ts'

/** Where a part of a replayed run comes from: the recording of the original, or as in any other run. */
export const REPLAY_SOURCES = ['recorded', 'live'] as const
export type ReplaySource = (typeof REPLAY_SOURCES)[number]

/** What a replay takes from the recording. */
export type ReplaySettings = {
  /** By the name of a tool in the document; `default` for the others. Agents as tools are always recorded. */
  tools: Record<string, ReplaySource>
  models: ReplaySource
  /** Steps and waits of code agents. */
  steps: ReplaySource
  /** JSON Pointers (RFC 6901) into arguments of tools and into outputs, of what is not compared. */
  ignore: string[]
}

/** Where calls of a tool are answered from. Names are those of documents: also `constructor` is one. */
export const sourceOf = (tools: ReplaySettings['tools'], name: string): ReplaySource =>
  (Object.hasOwn(tools, name) ? tools[name] : tools.default) ?? 'recorded'

/** How an execution repeats another one. */
export type Replay = ReplaySettings & {
  /** The original. */
  executionId: string
  /** Steps before this one are taken from the original as they are. 1 for none. */
  fromStep: number
  /** Something is recorded, or it is a line of a trial. Otherwise it is a run like any other. */
  isTrial: boolean
  /** The model of agents whose document names none, as in the original. Null: that of the service. */
  defaultModel: string | null
  /** The scorers of both outputs of a line of a trial. Absent without any. */
  scorers?: TrialScorer[]
  /** What all lines of its trial may cost together; 0: no model is called. Absent for no limit. */
  maxTrialCostUsd?: number
}

/** Originals of a trial. */
export const MAX_TRIAL_RUNS = 1_000
export const TRIAL_RUNS = { min: 1, max: MAX_TRIAL_RUNS, default: 100 } as const

/** JSON Pointers of a trial or a rerun that are not compared. */
export const MAX_IGNORED = 100

export const LIVE: ReplaySettings = { tools: { default: 'live' }, models: 'live', steps: 'live', ignore: [] }

export const TRIAL_FEEDBACK = ['corrected', 'rated'] as const

/** Which executions a trial repeats, and how. Times are ISO 8601; null for no bound. */
export type TrialSettings = ReplaySettings & {
  from: string | null
  to: string | null
  tenantId: string | null
  feedback: (typeof TRIAL_FEEDBACK)[number] | null
  /** Absent without any. */
  scorers?: TrialScorer[]
  /** Fewer executions than asked for: older ones were not looked at. */
  isCut?: true
}

/** `EQUIVALENT`: the output is another one, and its scores are those of the original. */
export const VERDICTS = [
  'SAME',
  'EQUIVALENT',
  'CHANGED',
  'CORRECTED',
  'REGRESSED',
  'DIVERGED',
  'ERROR',
] as const
export type Verdict = (typeof VERDICTS)[number]

/** `original` or `trial` is absent where that output has no such value. Long values are cut. */
export type Difference = { path: string; original?: Json; trial?: Json }

/** What became of an original on the version of the trial. */
export type Judgement = {
  verdict: Verdict
  differences: Difference[]
  /** There are more differences than are kept. */
  isCut?: true
  /** Absent unless both outputs were scored. */
  scores?: ScoredPair[]
  /** What the scorers have cost, and for how long the line has waited for them. Absent like the scores. */
  scoring?: { costUsd: number; ms: number }
}

/** The code of the error of a run that would need what its original did not record. */
export const DIVERGED = 'Diverged'

/** That of a final execution of a trial. One that no worker ended has none of its own. */
export const judgementOf = ({
  judgement,
  error,
}: {
  judgement: Judgement | null
  error: { code: string } | null
}): Judgement => judgement ?? { verdict: error?.code === DIVERGED ? 'DIVERGED' : 'ERROR', differences: [] }

export type Distribution = { median: number; p95: number }
export type Compared = { original: Distribution; trial: Distribution }

/**
 * Of the lines that have an execution. Costs, times and steps: of those whose end can be compared with that of their
 * original; if there are none, `original` has all originals. Costs include what was replayed.
 */
export type TrialSums = {
  runs: number
  /** Of these, runs that costs, times and steps are of. */
  compared: number
  verdicts: Record<Verdict, number>
  /** Runs whose output, or whose input, did not match the schema of the version. */
  schemaViolations: number
  costUsd: Compared & { originalTotal: number; trialTotal: number }
  runTimeMs: Compared
  steps: Compared
  /** By scorer. Absent without any. */
  scores?: ScoreSums[] | undefined
}

/** What the mean score of a trial has to be, and how much lower than that of its originals it may be. */
export type ScoreGate = { min?: number | undefined; maxDrop?: number | undefined }

/** What a trial has to meet before its version becomes current. Counts, except for the fraction `maxCostIncrease`. */
export type Gate = {
  require?: 'trial' | undefined
  maxRegressed?: number | undefined
  maxChanged?: number | undefined
  /** Errors and divergences. */
  maxError?: number | undefined
  maxCostIncrease?: number | undefined
  /** By the slug of the scorer. */
  scores?: Record<string, ScoreGate> | undefined
  minRuns?: number | undefined
}

/** How many lines of a trial have a verdict; absent for none. */
export type Verdicts = Partial<Record<Verdict, number>>

export function addVerdicts(sum: Verdicts = {}, added: Verdicts = {}): Verdicts {
  const counts = { ...sum }
  for (const [verdict, count] of Object.entries(added) as [Verdict, number][])
    counts[verdict] = (counts[verdict] ?? 0) + count
  return counts
}
