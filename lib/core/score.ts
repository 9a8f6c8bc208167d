import { ExactNumber } from './json/exact-number.ts'
import type { Json, JsonObject } from './json/json.ts'

/** Scorers of a document. */
export const MAX_SCORERS = 5

/** Scores of two outputs that differ by no more are the same. */
export const SCORE_TOLERANCE = 0.1

/** An agent that scores the outputs of another one, from 0 to 1, as a document names it. */
export type Scorer = {
  /** The slug. */
  agent: string
  /** Lower scores need attention. Absent: none do. */
  min?: number | undefined
  /** Percent of the production runs that it scores. Absent: none. */
  sample?: number | undefined
  /** Absent: `SCORE_TOLERANCE`. */
  tolerance?: number | undefined
}

/**
 * What a run scores. `production`: what it knows of a production run. `trial`: the trial whose outputs it scores, and
 * what that may cost, 0 for nothing. `isCallee`: the run is one of an agent that the scorer has called.
 */
export type ScoredRun = {
  executionId: string
  production?: ProductionRun
  trial?: { id: string; maxCostUsd: number }
  isCallee?: true
}

/** The version that a scored run has had, and its scorer: a slug, and the score below which it needs attention. */
export type ProductionRun = { agentId: string; versionId: string; scorer: string; min?: number | undefined }

/** What a scorer says about an output. `score`: from 0 to 1; null without one, then `error` says why. */
export type Score = {
  /** The slug of the scorer. */
  agent: string
  /** Its run and that run's version; null if it did not run. */
  executionId: string | null
  versionId: string | null
  score: number | null
  reason: string | null
  error: { code: string; message: string } | null
}

/**
 * A scorer that scores a production run: it was chosen when the run was accepted. `agent`: its slug. `min`: lower
 * scores need attention. `result`: absent until it has said something, or why it cannot.
 */
export type RunScore = { agent: string; min?: number | undefined; result?: Score }

/** Characters of a reason, or of the message of an error. */
const MAX_TEXT_CHARACTERS = 500

type Said = Pick<Score, 'score' | 'reason' | 'error'>

/** Reads what the output of a scorer says. */
export function readScore({ score, reason }: JsonObject): Said {
  const value: Json | undefined = score instanceof ExactNumber ? score.toDouble() : score
  if (typeof value === 'number' && value >= 0 && value <= 1)
    return { score: value, reason: typeof reason === 'string' ? cut(reason) : null, error: null }
  const found = value === undefined ? 'is missing' : `is ${JSON.stringify(value).slice(0, 50).toWellFormed()}`
  const message = `The output of a scorer must have a number from 0 to 1 as score, which ${found}.`
  return noScore({ code: 'InvalidScore', message })
}

export const noScore = ({ code, message }: NonNullable<Score['error']>): Said => ({
  ...{ score: null, reason: null },
  error: { code, message: cut(message) },
})

type EndedRun = { id: string; versionId: string; output: JsonObject | null; error: Score['error'] }

/** What a run of a scorer that has ended says. @param agent its slug */
export const toScore = (agent: string, { id, versionId, output, error }: EndedRun): Score => ({
  ...{ agent, executionId: id, versionId },
  ...(output
    ? readScore(output)
    : noScore(error ?? { code: 'Unknown', message: 'The scorer has no output.' })),
})

const cut = (text: string): string => text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()
