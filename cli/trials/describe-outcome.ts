import {
  describeGate,
  describeSettings,
  listMeasures,
  listScores,
  listVerdicts,
  MEASURE_HEADER,
  type Outcome,
  SCORE_HEADER,
  toDollars,
  toText,
} from '../../lib/contract/trial-outcome.ts'
import { textTable, toCell, toSingleLine } from '../format.ts'

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
    ...(sums?.scores ? ['', textTable(SCORE_HEADER, listScores(sums))] : []),
    ...(sums?.schemaViolations ? ['', `Violations of schemas: ${sums.schemaViolations} runs`] : []),
    ...(shown.length > 0 ? ['', 'First differences:', ...shown.flatMap(describeItem)] : []),
    '',
    describeGate({ gate, unmet }),
  ].join('\n')
}

/** Without control characters, which a terminal could interpret as commands. */
function describeItem({
  verdict,
  originalExecutionId,
  executionId,
  differences,
  moreDifferences,
  scores = [],
  error,
}: Outcome['items'][number]) {
  const shown = differences.slice(0, MAX_SHOWN.differences)
  const isCut = moreDifferences || shown.length < differences.length
  return [
    `${(verdict ?? '').padEnd(11)}${originalExecutionId} → ${executionId ?? 'none'}`,
    ...shown.map(
      ({ path, ...values }) =>
        `  ${toCell(path) || '(all)'}: ${cellOf(values, 'original')} → ${cellOf(values, 'trial')}`,
    ),
    ...(isCut ? ['  …'] : []),
    ...scores.map(
      ({ agent, original, trial }) => `  score of ${agent}: ${original ?? '-'} → ${trial ?? '-'}`,
    ),
    ...(error ? [`  ${error.code}: ${toCell(error.message)}`] : []),
  ]
}

const cellOf = (values: { original?: unknown; trial?: unknown }, side: 'original' | 'trial'): string =>
  toCell(toText(values, side))
