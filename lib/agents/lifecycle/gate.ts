import type { Agent, Version } from '../../core/agent.ts'
import type { Batch } from '../../core/batch.ts'
import { TrialFailed, TrialNotFound, TrialRequired, VersionNotFound } from '../../core/errors.ts'
import { CANCELLED } from '../../core/execution.ts'
import type { AgentStore, BatchStore } from '../../core/ports.ts'
import type { Gate, TrialSums } from '../../core/trial.ts'

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

/** A trial without runs shows nothing. */
const MIN_RUNS = 1

/** A sum of prices in binary is not exact. */
const TOLERANCE = 1e-9

export type UnmetLimit = { limit: Exclude<keyof Gate, 'require'>; message: string }

/**
 * The limits of a gate that a trial does not meet. Without `maxRegressed`, runs that regressed count as changed; so do
 * those that failed or diverged without `maxError`.
 */
export function findUnmet(gate: Gate, sums: TrialSums): UnmetLimit[] {
  const { maxRegressed, maxChanged, maxError, maxCostIncrease, minRuns = MIN_RUNS } = gate
  const { CHANGED, REGRESSED, DIVERGED, ERROR } = sums.verdicts
  const failed = maxError === undefined ? ERROR + DIVERGED : 0
  const changed = CHANGED + failed + (maxRegressed === undefined ? REGRESSED : 0)
  const increase = costIncreaseOf(sums) ?? Number.POSITIVE_INFINITY
  const unmet: UnmetLimit[] = []
  const check = (limit: UnmetLimit['limit'], isMet: boolean, message: string) => {
    if (!isMet) unmet.push({ limit, message: `${message} (${limit}).` })
  }
  const checkMax = (limit: UnmetLimit['limit'], max: number | undefined, count: number, what: string) =>
    check(limit, max === undefined || count <= max, `${countRuns(count)} ${what}; at most ${max} may`)
  check('minRuns', sums.runs >= minRuns, `The trial has ${countRuns(sums.runs)}, fewer than ${minRuns}`)
  checkMax('maxRegressed', maxRegressed, REGRESSED, 'regressed')
  checkMax('maxChanged', maxChanged, changed, failed > 0 ? 'changed, failed or diverged' : 'changed')
  checkMax('maxError', maxError, ERROR + DIVERGED, 'failed or diverged')
  check(
    'maxCostIncrease',
    maxCostIncrease === undefined || increase <= maxCostIncrease + TOLERANCE,
    `${describeIncrease(sums, increase)}; at most ${toPercent(maxCostIncrease)} more are allowed`,
  )
  return unmet
}

/** As a fraction of what the originals cost. Null: they cost nothing, and the trial did, or no run was compared. */
export function costIncreaseOf({
  compared,
  costUsd: { originalTotal, trialTotal },
}: TrialSums): number | null {
  if (compared === 0) return null
  if (originalTotal > 0) return trialTotal / originalTotal - 1
  return trialTotal > 0 ? null : 0
}

const countRuns = (count: number): string => (count === 1 ? '1 run' : `${count} runs`)

const toPercent = (fraction = 0): string => `${Number((fraction * 100).toPrecision(4))} %`

function describeIncrease({ compared }: TrialSums, increase: number): string {
  if (compared === 0) return 'No run has a cost that can be compared with that of its original'
  const more = Number.isFinite(increase) ? `${toPercent(increase)} more` : 'more'
  return `The runs cost ${more} than their originals`
}
