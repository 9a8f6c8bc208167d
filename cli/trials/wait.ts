import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Trial } from '../../clients/typescript/src/index.ts'

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
