import type { Batch } from '../../core/batch.ts'
import { quantile } from '../../core/bootstrap.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import { inputErrorsOf } from '../../core/execution-errors.ts'
import { roundDollars, usageOfTree } from '../../core/model-usage.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import { zip } from '../../core/read-pages.ts'
import { sumScores } from '../../core/score-pairs.ts'
import {
  type Compared,
  type Distribution,
  type Judgement,
  judgementOf,
  type TrialSums,
  VERDICTS,
  type Verdict,
} from '../../core/trial.ts'
import { runTimeOf } from '../../core/usage.ts'
import { readLines } from './read-lines.ts'

type Stores = {
  batches: Pick<BatchStore, 'readBlock'>
  executions: Pick<ExecutionStore, 'readSummaries'>
}

/** Of both sides of a line, in the same order. */
type Measures = Record<'costUsd' | 'runTimeMs' | 'steps', number>

/**
 * What a trial has found, from the summaries of its executions and their originals: a block of lines at a time.
 * @throws Unavailable
 */
export async function sumTrial({ batches, executions }: Stores, batch: Batch): Promise<TrialSums> {
  const { organizationId } = batch
  const verdicts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<Verdict, number>
  const originals: Measures[] = []
  /** With those that cannot be compared. */
  const all: Measures[] = []
  const trials: Measures[] = []
  const judgements: Judgement[] = []
  let schemaViolations = 0
  for await (const lines of readLines({ batches }, batch)) {
    const read = (ids: string[]) => executions.readSummaries({ organizationId, ids })
    const repeated: (ExecutionSummary | null)[] = []
    for await (const original of read(lines.map(({ customId }) => customId))) repeated.push(original)
    const tried = read(lines.map(({ executionId }) => executionId))
    for await (const [original, execution] of zip(repeated, tried)) {
      if (!execution) continue
      const judgement = judgementOf(execution)
      const { verdict } = judgement
      judgements.push({ ...judgement, differences: [] })
      verdicts[verdict]++
      if (violatesSchema(execution)) schemaViolations++
      if (!original) continue
      all.push(measure(original))
      if (verdict === 'ERROR' || verdict === 'DIVERGED') continue
      originals.push(measure(original))
      trials.push(measure(execution))
    }
  }
  const compare = (name: keyof Measures): Compared => ({
    original: distributionOf((trials.length > 0 ? originals : all).map((each) => each[name])),
    trial: distributionOf(trials.map((each) => each[name])),
  })
  const total = (of: Measures[]) => roundDollars(of.reduce((sum, { costUsd }) => sum + costUsd, 0))
  const { scorers } = batch.trial ?? {}
  return {
    runs: judgements.length,
    compared: trials.length,
    verdicts,
    schemaViolations,
    costUsd: { ...compare('costUsd'), originalTotal: total(originals), trialTotal: total(trials) },
    runTimeMs: compare('runTimeMs'),
    steps: compare('steps'),
    ...(scorers && { scores: scorers.map((scorer) => sumScores(scorer, judgements, batch.id)) }),
  }
}

function measure(execution: ExecutionSummary): Measures {
  const { steps, replayedUsage } = execution
  const costUsd = (usageOfTree(execution)?.costUsd ?? 0) + (replayedUsage?.costUsd ?? 0)
  return { costUsd: roundDollars(costUsd), runTimeMs: runTimeOf(execution), steps }
}

const violatesSchema = ({ error }: ExecutionSummary): boolean =>
  error !== null && (error.code === 'OutputSchemaMismatch' || inputErrorsOf(error).length > 0)

const distributionOf = (values: number[]): Distribution => {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: roundDollars(quantile(sorted, 0.5)), p95: roundDollars(quantile(sorted, 0.95)) }
}
