import { compareValues, isSameJson } from '../../core/compare.ts'
import type { Execution, Outcome } from '../../core/execution.ts'
import { DIVERGED, type Judgement, type Replay, type Verdict } from '../../core/trial.ts'

type Original = Pick<Execution, 'output' | 'error' | 'feedback'>

/** What became of an original, by how a run ends that repeats it. */
export function judge(original: Original, outcome: Outcome, { ignore }: Pick<Replay, 'ignore'>): Judgement {
  if (outcome.status === 'ERROR')
    return { verdict: verdictOfError(original, outcome.error.code), differences: [] }
  const { output } = outcome
  const compared = original.output
    ? compareValues(original.output, output, { ignore })
    : compareValues(undefined, output)
  const corrected = verdictOfCorrection(original, output, ignore)
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
  ignore: readonly string[],
): Verdict | null {
  const correct = original.feedback?.correctedOutput
  if (!correct) return null
  const wasCorrect = original.output !== null && isSameJson(correct, original.output, ignore)
  const isCorrect = isSameJson(correct, output, ignore)
  if (wasCorrect === isCorrect) return null
  return isCorrect ? 'CORRECTED' : 'REGRESSED'
}
