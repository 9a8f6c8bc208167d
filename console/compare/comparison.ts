import type { ComparisonRecord } from '../../lib/contract/records/comparison.ts'

export type Differences = Pick<ComparisonRecord, 'differences' | 'isCut'>
export type ComparedStep = ComparisonRecord['steps'][number]

/** Adjacent steps that are all the same, or one that differs. */
type StepGroup =
  | { kind: 'same'; steps: ComparedStep[] }
  | { kind: 'different'; step: ComparedStep; isFirst: boolean }

/** Folds the steps that are the same, so that those that differ are found. */
export function groupSteps(steps: ComparedStep[]): StepGroup[] {
  const groups: StepGroup[] = []
  let hasDifference = false
  for (const step of steps) {
    const last = groups.at(-1)
    if (!step.isSame) {
      groups.push({ kind: 'different', step, isFirst: !hasDifference })
      hasDifference = true
    } else if (last?.kind === 'same') last.steps.push(step)
    else groups.push({ kind: 'same', steps: [step] })
  }
  return groups
}

export const keyOfStep = ({ number, otherNumber }: ComparedStep): string =>
  `${number ?? '-'} ${otherNumber ?? '-'}`

/** `Step 3`, `Step 3 of A, 4 of B`, `Step 3 of A`, each with its name if it has one. */
export function titleOfStep({ number, otherNumber, name }: ComparedStep): string {
  const position =
    number !== null && otherNumber !== null
      ? number === otherNumber
        ? `Step ${number}`
        : `Step ${number} of A, ${otherNumber} of B`
      : number !== null
        ? `Step ${number} of A`
        : `Step ${otherNumber} of B`
  return name === undefined ? position : `${position}: ${name}`
}

/** How much more or less B is than A: `+12%`, `−3%`, `6.0 times as much`. Empty if it is less than 0.5%, or unknown. */
export function formatChange(a: number | null, b: number | null): string {
  if (a === null || b === null || a === b || a <= 0) return ''
  const ratio = b / a
  if (ratio >= 2) return `${ratio.toFixed(1)} times as much`
  const percent = Math.round(100 * Math.abs(ratio - 1))
  if (percent === 0) return ''
  return `${ratio > 1 ? '+' : '−'}${percent}%`
}

/** The ID of a run in what was typed or pasted: an ID, or the address of a page. Null if there is none. */
export function parseRunId(text: string): string | null {
  const ids = text.match(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi)
  return ids?.at(-1)?.toLowerCase() ?? null
}
