import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import { VERDICTS, type Verdict } from '../../lib/core/trial.ts'
import { formatCount } from '../components/format.ts'

export const VERDICT_LABELS: Record<Verdict, string> = {
  SAME: 'Same',
  EQUIVALENT: 'Equivalent',
  CHANGED: 'Changed',
  CORRECTED: 'Corrected',
  REGRESSED: 'Regressed',
  DIVERGED: 'Diverged',
  ERROR: 'Failed',
}

export const VERDICT_MEANINGS: Record<Verdict, string> = {
  SAME: 'Like the original: the same output, or the same error.',
  EQUIVALENT: 'Another output, and every scorer gives it the score of the original, within its tolerance.',
  CHANGED: 'Another output, or the original had failed and this one has not.',
  CORRECTED: 'Now equals the output that a person has corrected; the original did not.',
  REGRESSED: 'The original equalled the corrected output, and this one does not.',
  DIVERGED: 'Would need what the original did not record, such as a new call of a tool. It was not made.',
  ERROR: 'Failed, and the original did not in the same way.',
}

export const parseVerdict = (text: string | null): Verdict | null =>
  VERDICTS.find((verdict) => verdict === text) ?? null

/** Lines that have ended: with a result, or because they were not started any more. */
export const endedOf = ({ counts }: Pick<TrialRecord, 'counts'>): number => counts.SUCCESS + counts.ERROR

export type TrialState = { kind: 'in_progress' | 'success' | 'cancelled' | 'warning'; label: string }

export function stateOf({ status, error }: Pick<TrialRecord, 'status' | 'error'>): TrialState {
  if (status === 'IN_PROGRESS') return { kind: 'in_progress', label: 'In progress' }
  if (status === 'CANCELLING') return { kind: 'in_progress', label: 'Being cancelled' }
  if (error === null) return { kind: 'success', label: 'Ended' }
  if (error.code === 'Cancelled') return { kind: 'cancelled', label: 'Cancelled' }
  const labels: Record<string, string> = {
    BudgetExceeded: 'Stopped at its cost limit',
    DeadlineExceeded: 'Stopped at its deadline',
  }
  return { kind: 'warning', label: labels[error.code] ?? 'Stopped' }
}

export type Verdicts = Partial<Record<Verdict, number>>

/** The verdicts that occur, in words: `2 changed`. */
export const countVerdicts = (verdicts: Verdicts): string[] =>
  VERDICTS.filter((verdict) => (verdicts[verdict] ?? 0) > 0).map(
    (verdict) => `${formatCount(verdicts[verdict] ?? 0)} ${VERDICT_LABELS[verdict].toLowerCase()}`,
  )

const VERDICT_NAMES = new RegExp(`\\b(?:${VERDICTS.join('|')})\\b`, 'g')

/** Sentences of the service about a gate, without the names of limits in the document; verdicts are in words. */
export const withoutNames = (detail: string): string =>
  detail
    .replace(/ \(\w+\)(?=\.)/g, '')
    .replace(VERDICT_NAMES, (name) => VERDICT_LABELS[name as Verdict].toLowerCase())

/** How much a value differs from another one: `12% more`, `the same`. */
export function formatChange(original: number, trial: number): string {
  if (original === trial) return 'the same'
  if (original === 0) return 'more'
  const percent = Math.abs(trial / original - 1) * 100
  const text = percent < 1 ? '< 1' : percent < 1_000 ? String(Math.round(percent)) : '> 1,000'
  return `${text}% ${trial > original ? 'more' : 'less'}`
}
