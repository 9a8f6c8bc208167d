import { findUnmet } from '../core/gate.ts'
import { formatScore } from '../core/score-pairs.ts'
import { type Gate, type TrialSums, VERDICTS, type Verdict } from '../core/trial.ts'
import type { TrialRecord } from './records/trial.ts'
import type { TrialItemRecord } from './records/trial-item.ts'

/** A trial that has ended. `gate`: that of the current version, null if it has none. */
export type Outcome = {
  trial: TrialRecord
  slug: string
  gate: Gate | null
  /** Sentences about why the version may not replace the current one. Empty if it may. */
  unmet: string[]
  /** Some executions that do not have the result of their original, the gravest first. */
  items: TrialItemRecord[]
}

/** What is worse than the original, or may be. */
export const GRAVE = ['REGRESSED', 'DIVERGED', 'ERROR', 'CHANGED'] as const satisfies Verdict[]
/** Of each verdict. */
export const MAX_ITEMS = 50

/** Without a gate, nothing may be worse than it was, and everything has to be tried. */
export function findReasons(
  { error, lines, sums }: Pick<TrialRecord, 'error' | 'lines' | 'sums'>,
  gate: Gate | null,
): string[] {
  if (error?.code === 'Cancelled') return ['The trial was cancelled.']
  if (!sums) return ['The trial has not ended.']
  if (gate) return findUnmet(gate, sums).map(({ message }) => message)
  return findChanges(sums, lines)
}

function findChanges({ runs, verdicts, scores = [] }: TrialSums, lines: number): string[] {
  const grave = GRAVE.filter((verdict) => verdicts[verdict] > 0)
  return [
    ...(runs < lines ? [`${lines - runs} of ${lines} executions were not tried.`] : []),
    ...(grave.length > 0 ? [`${grave.map((verdict) => `${verdicts[verdict]} ${verdict}`).join(', ')}.`] : []),
    ...scores.flatMap(({ agent, difference }) =>
      difference && difference.high < 0
        ? [
            `The mean score of ${agent} changes by ${formatScore(difference.mean)} (95 %: ${toRange(difference)}).`,
          ]
        : [],
    ),
  ]
}

/** What the trial has repeated, and what it has not compared, unless nothing was chosen. */
export function describeSettings({
  from,
  to,
  tenantId,
  feedback,
  selectionCut,
  ignore,
}: TrialRecord): [string, string][] {
  const selected = [
    ...(from === null ? [] : [`from ${from}`]),
    ...(to === null ? [] : [`before ${to}`]),
    ...(tenantId === null ? [] : [`tenant ${tenantId}`]),
    ...(feedback === null ? [] : [feedback]),
  ]
  return [
    ...(selected.length > 0 ? [['Selected', selected.join(', ')] as [string, string]] : []),
    ...(selectionCut
      ? [['Not looked at', 'executions older than the newest 5,000'] as [string, string]]
      : []),
    ...(ignore.length > 0
      ? [[`Not compared (${ignore.length})`, ignore.join(', ')] as [string, string]]
      : []),
  ]
}

export const listVerdicts = ({ verdicts, scorers }: Pick<TrialRecord, 'verdicts' | 'scorers'>): string[][] =>
  VERDICTS.filter((verdict) => verdict !== 'EQUIVALENT' || scorers).map((verdict) => [
    verdict,
    String(verdicts[verdict]),
  ])

export const SCORE_HEADER = ['SCORER', 'ORIGINAL', 'TRIAL', 'DIFFERENCE', '95 %', 'BETTER', 'SAME', 'WORSE']

/** The mean score of both sides and their difference, by scorer, and how many runs have no score. */
export const listScores = ({ scores = [] }: NonNullable<TrialRecord['sums']>): string[][] =>
  scores.map(({ agent, original, trial, difference, wins, ties, losses, unscored }) => [
    unscored > 0 ? `${agent} (${unscored} without a score)` : agent,
    ...[original, trial, difference].map((each) => (each ? formatScore(each.mean) : '-')),
    difference ? toRange(difference) : '-',
    ...[wins, ties, losses].map(String),
  ])

const toRange = ({ low, high }: { low: number; high: number }): string =>
  `${formatScore(low)} to ${formatScore(high)}`

/** JSON of a value; `none` where the output has no such value. */
export const toText = (
  values: { original?: unknown; trial?: unknown },
  side: 'original' | 'trial',
): string => (side in values ? (JSON.stringify(values[side]) ?? 'none') : 'none')

/** One line about the gate, then the reasons. */
export function describeGate({ gate, unmet }: Pick<Outcome, 'gate' | 'unmet'>): string {
  const [met, notMet] = gate
    ? ['The gate of the current version is met.', 'The gate of the current version is not met:']
    : [
        'Nothing is worse than it was. The current version has no gate.',
        'Not all runs are as good as they were. The current version has no gate.',
      ]
  return unmet.length === 0 ? String(met) : [notMet, ...unmet.map((reason) => `  ${reason}`)].join('\n')
}

export const MEASURE_HEADER = ['ORIGINAL MEDIAN', 'P95', 'TRIAL MEDIAN', 'P95']

/** Cost, time and steps of both sides. */
export const listMeasures = ({ compared, ...sums }: NonNullable<TrialRecord['sums']>): string[][] =>
  [
    ['cost', ...toColumns(sums.costUsd, toDollars)],
    ['run time', ...toColumns(sums.runTimeMs, toSeconds)],
    ['steps', ...toColumns(sums.steps, String)],
  ].map((row) => (compared > 0 ? row : [...row.slice(0, 3), '-', '-']))

type Distribution = { median: number; p95: number }

const toColumns = (
  { original, trial }: { original: Distribution; trial: Distribution },
  format: (value: number) => string,
): string[] => [original, trial].flatMap(({ median, p95 }) => [format(median), format(p95)])

export const toDollars = (value: number): string =>
  `$${value >= 1 ? value.toFixed(2) : Number(value.toPrecision(3))}`

const toSeconds = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toPrecision(3))} s`
