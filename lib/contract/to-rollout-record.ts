import type { Agent } from '../core/agent.ts'
import type { Rollout } from '../core/rollout.ts'
import type { RolloutRecord } from './records/rollout-record.ts'

export function toRolloutRecord({
  id,
  current,
  rollout,
}: Pick<Agent, 'id' | 'current'> & { rollout: Rollout }): RolloutRecord {
  const { abort } = rollout
  return {
    documentId: id,
    currentVersionId: current?.id ?? '',
    ...toAgentRollout(rollout),
    abort: abort && {
      maxErrorRate: abort.maxErrorRate ?? null,
      maxCostIncrease: abort.maxCostIncrease ?? null,
      minRuns: abort.minRuns,
    },
  }
}

/** Without what only those see who change it. */
export const toAgentRollout = ({ versionId, percent, key, startedAt, updatedAt }: Rollout) => ({
  versionId,
  percent,
  key,
  startedAt,
  updatedAt,
})
