import type { Client, Trial, TrialItem } from '../../clients/typescript/src/index.ts'
import { findReasons, GRAVE, MAX_ITEMS, type Outcome } from '../../lib/contract/trial-outcome.ts'
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
