import type { Agent, Version } from '../../core/agent.ts'
import type { Batch } from '../../core/batch.ts'
import { CANCELLED } from '../../core/execution-errors.ts'
import { costIncreaseOf, findUnmet, MIN_RUNS } from '../../core/gate.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import { TrialFailed, TrialNotFound, TrialRequired, VersionNotFound } from '../../core/resource-errors.ts'
import type { Gate } from '../../core/trial.ts'

/** The trial that a request names. */
export type ReleaseTrial = { id: string; batches: Pick<BatchStore, 'get'> }

type Release = {
  store: Pick<AgentStore, 'getVersion'>
  /** Its current version decides: what follows is written only if that still is the current one. */
  agent: Agent
  versionId: string
  trial: ReleaseTrial | undefined
}

/**
 * Allows a version to become current, or to get a part of the executions. A version that was current may come back
 * without a trial, and the first one needs none.
 * @throws VersionNotFound, TrialRequired, TrialNotFound, TrialFailed
 */
export async function assertMayRelease({ store, agent, versionId: id, trial }: Release): Promise<void> {
  const { organizationId, id: agentId, current } = agent
  if (!trial && !requiresTrial(current)) return
  const version = await store.getVersion({ organizationId, agentId, id })
  if (!version) throw new VersionNotFound()
  if (!trial) {
    if (wasCurrent(version)) return
    throw new TrialRequired()
  }
  const found = await trial.batches.get({ organizationId, id: trial.id })
  if (!found?.trial || found.agentId !== agentId || found.versionId !== id) throw new TrialNotFound()
  assertPassed(current?.execution.promotion ?? {}, found)
}

/** Whether another version needs a trial before it becomes current. */
export const requiresTrial = (current: Version | null): boolean =>
  current?.execution.promotion?.require === 'trial'

const wasCurrent = ({ status, neverReplaced }: Version): boolean => status === 'PUBLISHED' && !neverReplaced

type EndedTrial = Pick<Batch, 'id' | 'status' | 'stopped' | 'sums'>

function assertPassed(gate: Gate, { id, status, stopped, sums }: EndedTrial): void {
  if (stopped?.code === CANCELLED.code) throw new TrialFailed(['The trial was cancelled.'], { trialId: id })
  if (status !== 'ENDED' || !sums) throw new TrialFailed(['The trial has not ended.'], { trialId: id })
  const unmet = findUnmet(gate, sums)
  if (unmet.length === 0) return
  const { runs, verdicts } = sums
  throw new TrialFailed(
    unmet.map(({ message }) => message),
    {
      ...{ trialId: id, runs, verdicts, costIncrease: costIncreaseOf(sums) },
      limits: Object.fromEntries(unmet.map(({ limit }) => [limit, gate[limit] ?? MIN_RUNS])),
    },
  )
}
