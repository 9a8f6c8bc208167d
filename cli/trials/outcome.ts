import type { Client, Trial, TrialItem } from '../../clients/typescript/src/index.ts'
import { findUnmet } from '../../lib/agents/lifecycle/gate.ts'
import type { Gate, TrialSums, Verdict } from '../../lib/core/trial.ts'
import { take } from '../take.ts'

/** A trial that has ended. `gate`: that of the current version, null if it has none. */
export type Outcome = {
  trial: Trial
  slug: string
  gate: Gate | null
  /** Sentences about why the version may not replace the current one. Empty if it may. */
  unmet: string[]
  /** Some executions that do not have the result of their original, the gravest first. */
  items: TrialItem[]
}

/** What is worse than the original, or may be. */
const GRAVE = ['REGRESSED', 'DIVERGED', 'ERROR', 'CHANGED'] as const satisfies Verdict[]
/** Of each verdict. */
const MAX_ITEMS = 50

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

/** Without a gate, nothing may be worse than it was, and everything has to be tried. */
export function findReasons(
  { error, lines, sums }: Pick<Trial, 'error' | 'lines' | 'sums'>,
  gate: Gate | null,
): string[] {
  if (error?.code === 'Cancelled') return ['The trial was cancelled.']
  if (!sums) return ['The trial has not ended.']
  if (gate) return findUnmet(gate, sums).map(({ message }) => message)
  return findChanges(sums, lines)
}

function findChanges({ runs, verdicts }: TrialSums, lines: number): string[] {
  const grave = GRAVE.filter((verdict) => verdicts[verdict] > 0)
  return [
    ...(runs < lines ? [`${lines - runs} of ${lines} executions were not tried.`] : []),
    ...(grave.length > 0 ? [`${grave.map((verdict) => `${verdicts[verdict]} ${verdict}`).join(', ')}.`] : []),
  ]
}
