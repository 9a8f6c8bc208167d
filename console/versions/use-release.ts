import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { Gate } from '../../lib/core/trial.ts'
import { findVersion } from '../api/agents.ts'
import { requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'

const TRIALS = 20

/** What decides whether a version may be released: the gate of the current version, and the trials of this one. */
export function useRelease(agent: AgentRecord, versionId: string) {
  const { id, currentVersionId } = agent
  return useResource(`${currentVersionId} ${versionId}`, async (signal) => {
    const [current, trials] = await Promise.all([
      currentVersionId === null ? null : findVersion(id, currentVersionId, signal),
      versionId === ''
        ? null
        : requestPage<TrialRecord>('/v1/trials', {
            query: { agent: id, version: versionId, limit: TRIALS },
            signal,
          }),
    ])
    const gate: Gate | null = current?.execution.promotion ?? null
    return { gate, trials: trials?.items ?? [] }
  })
}

/** The newest trial that can count: one that has ended, and was not cancelled. */
export const newestEnded = (trials: TrialRecord[]): TrialRecord | undefined =>
  trials.find(({ status, cancelled }) => status === 'ENDED' && !cancelled)
