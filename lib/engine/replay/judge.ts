import { compareValues, isSameJson } from '../../core/compare.ts'
import type { Execution, Outcome } from '../../core/execution.ts'
import { type PointerTree, toPointerTree } from '../../core/json/pointer.ts'
import { DIVERGED, type Judgement, type Replay, type Verdict } from '../../core/trial.ts'

type Original = Pick<Execution, 'output' | 'error' | 'feedback'>

/** What became of an original, by how a run ends that repeats it. */
export function judge(original: Original, outcome: Outcome, { ignore }: Pick<Replay, 'ignore'>): Judgement {
  if (outcome.status === 'ERROR')
    return { verdict: verdictOfError(original, outcome.error.code), differences: [] }
  const { output } = outcome
  const ignored = toPointerTree(ignore)
  const compared = original.output
    ? compareValues(original.output, output, { ignored })
    : compareValues(undefined, output)
  const corrected = verdictOfCorrection(original, output, ignored)
  return { verdict: corrected ?? (compared.differences.length > 0 ? 'CHANGED' : 'SAME'), ...compared }
}

function verdictOfError({ error }: Original, code: string): Verdict {
  if (code === DIVERGED) return 'DIVERGED'
  return code === error?.code ? 'SAME' : 'ERROR'
}

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
