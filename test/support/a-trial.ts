import type { Trial, TrialItem } from '../../clients/typescript/src/index.ts'
import type { Difference, Verdict } from '../../lib/core/trial.ts'
import { trialSums } from './batches/a-batch.ts'

export const TRIAL_ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
export const TRIED_VERSION = '01a2003b-879e-76ff-97ee-7005494d15b8'

/** The record of a trial that has ended with these verdicts, unless it says otherwise. */
export function aTrial(counts: Parameters<typeof trialSums>[0], overrides: Partial<Trial> = {}): Trial {
  const sums = trialSums(counts)
  const { runs, verdicts } = sums
  const failed = verdicts.ERROR + verdicts.DIVERGED
  return {
    id: TRIAL_ID,
    documentId: 'bd180e09-d8a0-52e5-ae06-3e1cf08caaa2',
    versionId: TRIED_VERSION,
    tokenId: null,
    status: 'ENDED',
    counts: { IN_PROGRESS: 0, SUCCESS: runs - failed, ERROR: failed },
    cancelled: 0,
    maxConcurrency: 50,
    error: null,
    createdAt: '2026-11-25T09:00:00.000Z',
    endedAt: '2026-11-25T09:01:00.000Z',
    lines: runs,
    costUsd: 0.42,
    maxTrialCostUsd: 2,
    ...{ from: null, to: null, tenantId: null, feedback: null, selectionCut: false },
    ...{ tools: { default: 'recorded' }, models: 'live', steps: 'recorded', ignore: [] },
    verdicts,
    sums: sums as Trial['sums'],
    ...overrides,
  }
}

export const anItem = (
  verdict: Verdict,
  differences: Difference[] = [],
  overrides: Partial<TrialItem> = {},
): TrialItem => ({
  originalExecutionId: '01a2003b-1111-76ff-97ee-7005494d15b8',
  executionId: '01a2003b-2222-76ff-97ee-7005494d15b8',
  status: verdict === 'ERROR' || verdict === 'DIVERGED' ? 'ERROR' : 'SUCCESS',
  verdict,
  differences,
  moreDifferences: false,
  error: null,
  costUsd: 0.002,
  replayedCostUsd: null,
  runTimeMs: 1_200,
  steps: 3,
  ...overrides,
})
