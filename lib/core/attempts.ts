import type { Json } from './json/json.ts'
import { STEP_BACKOFF_SECONDS } from './limits.ts'
import type { CallResult, RecordedStep } from './step.ts'

/** Under this call id the n-th attempt at a step of a code agent is recorded, from 1. */
export const attemptId = (number: number): string => `attempt-${number}`

/** Under this call id it is recorded that a backoff, which lasts until this time, is over before: in a test case. */
export const backoffEnd = (retryAt: string): string => `backoff ${retryAt}`

/** The attempts at a step whose first one failed, in order. The table keeps no order of results. */
export function attemptsAt({ step, results }: RecordedStep): CallResult[] {
  const attempts: CallResult[] = []
  if (step.kind !== 'CODE') return attempts
  for (let found = results.get(attemptId(1)); found; found = results.get(attemptId(attempts.length + 1)))
    attempts.push(found)
  return attempts
}

/** How a step of a code agent has ended; null if another attempt follows. */
export function endOfStep(recorded: RecordedStep): { value: Json } | { failed: CallResult } | null {
  const { step } = recorded
  if (step.kind === 'CODE' && step.value !== undefined) return { value: step.value }
  const last = attemptsAt(recorded).at(-1)
  if (last?.result.ok) return { value: last.result.value }
  return last?.failure?.retryAt === null ? { failed: last } : null
}

/** The steps of a code agent that have a value, which is JSON, by name. */
export const endedSteps = (recorded: readonly RecordedStep[]): [name: string, json: string][] =>
  recorded.flatMap((each): [string, string][] => {
    const { step } = each
    const end = endOfStep(each)
    return step.kind === 'CODE' && end && 'value' in end ? [[step.name, JSON.stringify(end.value)]] : []
  })

/** Milliseconds between the attempts at a step. */
export function timeInBackoff(attempts: CallResult[]): number {
  const pauses = attempts.slice(1).map(({ startedAt }, index) => {
    const { finishedAt = startedAt } = attempts[index] ?? {}
    return Math.max(Date.parse(startedAt) - Date.parse(finishedAt), 0)
  })
  return pauses.reduce((sum, ms) => sum + ms, 0)
}

type Backoff = {
  /** Before the first retry, in seconds. */
  first: number
  /** How many attempts have failed. */
  failures: number
  /** Between 0 and 1. */
  jitter: number
}

/**
 * The time until the next attempt: `seconds` doubles up to its maximum. Jitter takes up to a quarter of it away, so
 * that steps which fail together are not repeated together.
 */
export function stepBackoff({ first, failures, jitter }: Backoff): { seconds: number; delayMs: number } {
  const seconds = Math.min(first * 2 ** (failures - 1), STEP_BACKOFF_SECONDS.max)
  return { seconds, delayMs: Math.round(seconds * 1_000 * (1 - jitter / 4)) }
}
