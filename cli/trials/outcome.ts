import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Trial, TrialItem } from '../../clients/typescript/src/index.ts'
import {
  describeGate,
  describeSettings,
  findReasons,
  GRAVE,
  listMeasures,
  listScores,
  listVerdicts,
  MAX_ITEMS,
  MEASURE_HEADER,
  type Outcome,
  SCORE_HEADER,
  toDollars,
  toText,
} from '../../lib/contract/trial-outcome.ts'
import { textTable, toCell, toSingleLine } from '../format.ts'
import { take } from '../take.ts'

export async function readOutcome(client: Client, trial: Trial): Promise<Outcome> {
  const { slug, currentVersionId } = await client.agent(trial.documentId)
  const current = currentVersionId === null ? null : await client.version(slug, currentVersionId)
  const gate = current?.execution.promotion ?? null
  const items: TrialItem[] = []
  for (const verdict of GRAVE)
    if (trial.verdicts[verdict] > 0)
      items.push(...(await take(client.trialItems(trial, { verdict, limit: MAX_ITEMS }), MAX_ITEMS)))
  return { trial, slug, gate, unmet: findReasons(trial, gate), items }
}

/** Between two reads. */
const PAUSE_MS = 1_000

/** Reads a trial until it has ended. */
export async function waitForTrial(
  client: Client,
  id: string,
  onProgress: (trial: Trial) => void,
): Promise<Trial> {
  for (;;) {
    const trial = await client.getTrial(id)
    onProgress(trial)
    if (trial.status === 'ENDED') return trial
    await sleep(PAUSE_MS)
  }
}

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
