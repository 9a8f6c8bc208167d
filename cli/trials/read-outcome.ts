import { setTimeout as sleep } from 'node:timers/promises'
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
