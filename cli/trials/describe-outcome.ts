import type { Trial, TrialItem } from '../../clients/typescript/src/index.ts'
import { VERDICTS } from '../../lib/core/trial.ts'
import { textTable, toCell, toSingleLine } from '../format.ts'
import type { Outcome } from './outcome.ts'

const MAX_SHOWN = { items: 10, differences: 5 } as const

/** The tables of a trial, and the first differences. */
export function describeOutcome({ trial, slug, gate, unmet, items }: Outcome): string {
  const { sums, error } = trial
  const shown = items.slice(0, MAX_SHOWN.items)
  const count = `${trial.lines} ${trial.lines === 1 ? 'execution' : 'executions'}`
  return [
    `Trial ${trial.id} of ${slug}, version ${trial.versionId}: ${count}, ${toDollars(trial.costUsd)}`,
    ...describeSettings(trial).map(([name, value]) => `${name}: ${toSingleLine(value)}`),
    ...(error ? [`Stopped: ${error.code}: ${toSingleLine(error.message)}`] : []),
    '',
    textTable(['VERDICT', 'RUNS'], listVerdicts(trial)),
    ...(sums ? ['', textTable(['', ...MEASURE_HEADER], listMeasures(sums))] : []),
    ...(sums?.schemaViolations ? ['', `Violations of schemas: ${sums.schemaViolations} runs`] : []),
    ...(shown.length > 0 ? ['', 'First differences:', ...shown.flatMap(describeItem)] : []),
    '',
    describeGate({ gate, unmet }),
  ].join('\n')
}

/** What the trial has repeated, and what it has not compared, unless nothing was chosen. */
export function describeSettings({
  from,
  to,
  tenantId,
  feedback,
  selectionCut,
  ignore,
}: Trial): [string, string][] {
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

export const listVerdicts = ({ verdicts }: Pick<Trial, 'verdicts'>): string[][] =>
  VERDICTS.map((verdict) => [verdict, String(verdicts[verdict])])

/** Without control characters, which a terminal could interpret as commands. */
function describeItem({
  verdict,
  originalExecutionId,
  executionId,
  differences,
  moreDifferences,
  error,
}: TrialItem) {
  const shown = differences.slice(0, MAX_SHOWN.differences)
  const isCut = moreDifferences || shown.length < differences.length
  return [
    `${(verdict ?? '').padEnd(11)}${originalExecutionId} → ${executionId ?? 'none'}`,
    ...shown.map(
      ({ path, ...values }) =>
        `  ${toCell(path) || '(all)'}: ${cellOf(values, 'original')} → ${cellOf(values, 'trial')}`,
    ),
    ...(isCut ? ['  …'] : []),
    ...(error ? [`  ${error.code}: ${toCell(error.message)}`] : []),
  ]
}

const cellOf = (values: { original?: unknown; trial?: unknown }, side: 'original' | 'trial'): string =>
  toCell(toText(values, side))

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
export const listMeasures = ({ costUsd, runTimeMs, steps }: NonNullable<Trial['sums']>): string[][] => [
  ['cost', ...toColumns(costUsd, toDollars)],
  ['run time', ...toColumns(runTimeMs, toSeconds)],
  ['steps', ...toColumns(steps, String)],
]

type Distribution = { median: number; p95: number }

const toColumns = (
  { original, trial }: { original: Distribution; trial: Distribution },
  format: (value: number) => string,
): string[] => [original, trial].flatMap(({ median, p95 }) => [format(median), format(p95)])

export const toDollars = (value: number): string =>
  `$${value >= 1 ? value.toFixed(2) : Number(value.toPrecision(3))}`

const toSeconds = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toPrecision(3))} s`
