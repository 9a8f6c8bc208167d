import { type Batch, lineExecutionId } from '../../core/batch.ts'
import { type ExecutionSummary, inputErrorsOf, roundDollars, usageOfTree } from '../../core/execution.ts'
import type { BatchStore, ExecutionStore } from '../../core/ports.ts'
import {
  type Compared,
  type Distribution,
  judgementOf,
  type TrialSums,
  VERDICTS,
  type Verdict,
} from '../../core/trial.ts'
import { measuresOf } from '../../core/usage.ts'

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
  const trials: Measures[] = []
  let [runs, schemaViolations] = [0, 0]
  for (const [block, { first }] of batch.blocks.entries()) {
    const lines = await batches.readBlock({ batch, block })
    const ids = lines.map((_, index) => lineExecutionId(batch, first + index))
    const tried = await readAll(executions, organizationId, ids)
    const repeated = await readAll(
      executions,
      organizationId,
      lines.map(({ customId }) => customId),
    )
    for (const [index, execution] of tried.entries()) {
      if (!execution) continue
      const { verdict } = judgementOf(execution)
      runs++
      verdicts[verdict]++
      if (violatesSchema(execution)) schemaViolations++
      const original = repeated[index]
      if (!original || verdict === 'ERROR' || verdict === 'DIVERGED') continue
      originals.push(measure(original))
      trials.push(measure(execution))
    }
  }
  const compare = (name: keyof Measures): Compared => ({
    original: distributionOf(originals.map((each) => each[name])),
    trial: distributionOf(trials.map((each) => each[name])),
  })
  const total = (of: Measures[]) => roundDollars(of.reduce((sum, { costUsd }) => sum + costUsd, 0))
  return {
    runs,
    compared: trials.length,
    verdicts,
    schemaViolations,
    costUsd: { ...compare('costUsd'), originalTotal: total(originals), trialTotal: total(trials) },
    runTimeMs: compare('runTimeMs'),
    steps: compare('steps'),
  }
}

async function readAll(executions: Stores['executions'], organizationId: string, ids: string[]) {
  const all: (ExecutionSummary | null)[] = []
  for await (const summary of executions.readSummaries({ organizationId, ids })) all.push(summary)
  return all
}

function measure(execution: ExecutionSummary): Measures {
  const { finishedAt, createdAt, steps, replayedUsage } = execution
  const { runTimeMs } = measuresOf(execution, Date.parse(finishedAt ?? createdAt))
  const costUsd = (usageOfTree(execution)?.costUsd ?? 0) + (replayedUsage?.costUsd ?? 0)
  return { costUsd: roundDollars(costUsd), runTimeMs, steps }
}

const violatesSchema = ({ error }: ExecutionSummary): boolean =>
  error !== null && (error.code === 'OutputSchemaMismatch' || inputErrorsOf(error).length > 0)

const distributionOf = (values: number[]): Distribution => {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) }
}

/** Between the two nearest values; 0 without any. */
function quantile(sorted: number[], share: number): number {
  const position = (sorted.length - 1) * share
  const [below = 0, above = below] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]]
  return roundDollars(below + (above - below) * (position % 1))
}
