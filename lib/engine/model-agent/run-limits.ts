import pRetry from 'p-retry'
import { toSpending } from '../../core/budget.ts'
import type { Execution } from '../../core/execution.ts'
import type { Model } from '../../core/model.ts'
import type { Usage } from '../../core/model-usage.ts'
import {
  describeReached,
  findUsedUp,
  hasCostLimit,
  type Limited,
  ownerOf,
  type Spent,
} from '../../core/usage-limits.ts'
import { limitsOf, readSpent } from '../../limits/limits.ts'
import { addTrialSpent, isTrialUsedUp, trialUsedUp, withoutPrice } from '../../limits/trial-limit.ts'
import { describeCause, logger } from '../../logger.ts'
import type { Engine } from '../engine.ts'
import { BudgetExceeded } from './run-budget.ts'

const RETRIES = { retries: 3, minTimeout: 100, maxTimeout: 1_000, randomize: true }

/**
 * The cost limits of a run's tenant and agent, and of its trial. Agents that it calls spend for the tenant, and for
 * themselves.
 */
export type RunLimits = {
  /** To be called before each model request, retries included. @throws BudgetExceeded, Unavailable */
  check(model: Pick<Model, 'name' | 'costOf'>): Promise<void>
  /** What a response has cost, also of one that cannot be used. Never throws: the response must not be lost. */
  add(usage: Usage): Promise<void>
  /** Whether a cost limit applies that does not count what a run has used, because a model has no price. */
  misses(usage: Usage): Promise<boolean>
}

/** Null where there are no limits. An organization without any costs one cached read. */
export function openRunLimits(
  { limits: store, system, warnAtLimit }: Pick<Engine, 'limits' | 'system' | 'warnAtLimit'>,
  execution: Pick<
    Execution,
    'id' | 'organizationId' | 'tenantId' | 'agentId' | 'batch' | 'replay' | 'scored'
  >,
): RunLimits | null {
  if (!store) return null
  const { organizationId, id: executionId, batch, replay, scored } = execution
  const maxTrialCostUsd = scored ? scored.trial?.maxCostUsd : replay?.maxTrialCostUsd
  const { id } = scored?.trial ?? batch ?? {}
  const trial = id !== undefined && maxTrialCostUsd !== undefined ? { organizationId, id } : null
  /** Best effort: each request and each response repeats it. @param known what was spent; it is read by default */
  async function warn({ subject, limits }: Limited, at: number, known?: Spent): Promise<void> {
    if (!store || !warnAtLimit || limits.warnAt === null) return
    const spent = known ?? (await readSpent(store, { organizationId, subject, limits, at }).catch(() => null))
    if (spent) await warnAtLimit({ organizationId, subject, limits, spent, at })
  }
  const findLimited = async () => (await limitsOf(store, execution)).filter(hasCostLimit)
  return {
    async check(model) {
      const at = system.now()
      const checks = (await findLimited()).map(async (limited) => {
        const { subject, limits } = limited
        const spent = await readSpent(store, { organizationId, subject, limits, at })
        // Who spent it may have died before it could warn; no further run may be accepted.
        await warn(limited, at, spent)
        const usedUp = findUsedUp(limited, spent)
        if (!usedUp) return
        const { limit, max } = usedUp
        const details = { ...ownerOf(subject), limit, max }
        throw new BudgetExceeded({ code: 'BudgetExceeded', message: describeReached(usedUp), ...details })
      })
      await Promise.all(checks)
      if (!trial || maxTrialCostUsd === undefined) return
      const isUsedUp = maxTrialCostUsd === 0 || (await isTrialUsedUp(store, trial, maxTrialCostUsd))
      if (isUsedUp) throw new BudgetExceeded(trialUsedUp(maxTrialCostUsd))
      if (!model.costOf) throw new BudgetExceeded(withoutPrice(model.name, maxTrialCostUsd))
    },

    async misses(usage) {
      if (toSpending(usage).costUsd !== null) return false
      return (await findLimited().catch(() => [])).length > 0
    },

    async add({ costUsd = 0 }) {
      if (costUsd === 0) return
      const at = system.now()
      const spend = async (limited: Limited) => {
        const { subject } = limited
        await pRetry(() => store.addSpent({ organizationId, subject, at, costUsd }), RETRIES)
        await warn(limited, at)
      }
      try {
        if (trial) await pRetry(() => addTrialSpent(store, trial, costUsd), RETRIES)
        await Promise.all((await pRetry(findLimited, RETRIES)).map(spend))
      } catch (error) {
        const cause = describeCause(error)
        logger.error('spending not counted', { executionId, organizationId, costUsd, cause })
      }
    },
  }
}
