import { createHash } from 'node:crypto'

export const ROLLOUT_KEYS = ['tenant', 'execution'] as const

/** When the service ends a rollout by itself. Rates are fractions. */
export type AbortRules = {
  maxErrorRate?: number | undefined
  maxCostIncrease?: number | undefined
  minRuns: number
}

/** A version that runs a part of an agent's executions beside the current one. */
export type Rollout = {
  versionId: string
  /** From 1 to 100. */
  percent: number
  /** What decides: all runs of a tenant have the same version, or each run is on its own. */
  key: (typeof ROLLOUT_KEYS)[number]
  abort: AbortRules | null
  /** ISO 8601. A new percentage does not change it. */
  startedAt: string
  updatedAt: string
}

/** Why the service has ended a rollout. */
export type AbortedRollout = { at: string; reason: string }

/** Why an execution has its version: it is current, a rollout has selected it, or the request named it. */
export const SELECTED_BY = ['CURRENT', 'ROLLOUT', 'REQUEST'] as const
export type SelectedBy = (typeof SELECTED_BY)[number]

/** Hundredths of a percent. */
const BUCKETS = 10_000

/**
 * Whether a run gets the version of the rollout. A tenant, or an execution, that has it keeps it while the percentage
 * grows. Runs without a tenant are on their own.
 */
export function selects(
  { versionId, percent, key }: Pick<Rollout, 'versionId' | 'percent' | 'key'>,
  run: { tenantId: string | null; executionId: string },
): boolean {
  const name = key === 'tenant' && run.tenantId !== null ? `t/${run.tenantId}` : `e/${run.executionId}`
  const hash = createHash('sha256').update(`${versionId}/${name}`).digest()
  return hash.readUInt32BE(0) % BUCKETS < percent * (BUCKETS / 100)
}
