import { compareValues, isSameJson } from '../../core/compare.ts'
import type { Execution, Outcome } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import { type PointerTree, toPointerTree } from '../../core/json/pointer.ts'
import { isEquivalent } from '../../core/score-pairs.ts'
import { DIVERGED, type Judgement, type Replay, type Verdict } from '../../core/trial.ts'

type Original = Pick<Execution, 'output' | 'error' | 'feedback'>

/** What became of an original, by how a run ends that repeats it, and by what scorers say about both outputs. */
export function judge(
  original: Original,
  outcome: Outcome,
  { ignore, scorers = [] }: Pick<Replay, 'ignore' | 'scorers'>,
  scored: Pick<Judgement, 'scores' | 'scoring'> = {},
): Judgement {
  if (outcome.status === 'ERROR') return { verdict: verdictOfError(original, outcome.error), differences: [] }
  const { output } = outcome
  const ignored = toPointerTree(ignore)
  const compared = original.output
    ? compareValues(original.output, output, { ignored })
    : compareValues(undefined, output)
  const corrected = verdictOfCorrection(original, output, ignored)
  const changed = isEquivalent(scorers, scored.scores ?? []) ? 'EQUIVALENT' : 'CHANGED'
  const verdict = corrected ?? (compared.differences.length > 0 ? changed : 'SAME')
  return { verdict, ...compared, ...scored }
}

function verdictOfError({ error: original }: Original, error: ExecutionError): Verdict {
  if (error.code === DIVERGED) return 'DIVERGED'
  // The error itself: the run has reached the end of its original.
  if (error === original) return 'SAME'
  return error.code === original?.code && !isOfLimits(error) ? 'SAME' : 'ERROR'
}

/** Whether a cost limit of the trial, a tenant or an agent has stopped the run: none of the version. */
const isOfLimits = ({ code, limit, maxTrialCostUsd }: ExecutionError): boolean =>
  code === 'BudgetExceeded' && (limit !== undefined || maxTrialCostUsd !== undefined)

/** Null unless one of the two outputs is what a human has corrected the original to, and the other one is not. */
function verdictOfCorrection(
  original: Original,
  output: NonNullable<Execution['output']>,
  ignored: PointerTree,
): Verdict | null {
  const correct = original.feedback?.correctedOutput
  if (!correct) return null
  const wasCorrect = original.output !== null && isSameJson(correct, original.output, ignored)
  const isCorrect = isSameJson(correct, output, ignored)
  if (wasCorrect === isCorrect) return null
  return isCorrect ? 'CORRECTED' : 'REGRESSED'
}
