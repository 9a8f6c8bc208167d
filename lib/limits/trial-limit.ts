import type { ExecutionError } from '../core/execution-errors.ts'
import { timeOfId } from '../core/ids.ts'
import type { OwnedId } from '../core/ports/system.ts'
import type { LimitStore, SpendingKey } from '../core/ports/usage.ts'

/** Of what a trial spends: all of it counts in the month of its beginning, however long it lasts. */
const keyOf = ({ organizationId, id }: OwnedId): SpendingKey & { at: number } => ({
  organizationId,
  subject: { kind: 'trial', id },
  at: timeOfId(id),
})

/** Counts what a response of one of its runs has cost. @throws Unavailable */
export const addTrialSpent = (store: Pick<LimitStore, 'addSpent'>, trial: OwnedId, costUsd: number) =>
  store.addSpent({ ...keyOf(trial), costUsd })

/** Whether the responses of all its runs so far have used up what it may cost. @throws Unavailable */
export const isTrialUsedUp = async (
  store: Pick<LimitStore, 'getSpent'>,
  trial: OwnedId,
  maxCostUsd: number,
) => (await store.getSpent(keyOf(trial))).month >= maxCostUsd

/** Of a run whose next model request would cost more than its whole trial may, with what the run has spent before. */
export const trialTooSmall = (maxTrialCostUsd: number): ExecutionError => ({
  code: 'BudgetExceeded',
  message: `What the trial may cost is not enough for the next model request: ${maxTrialCostUsd} US dollars (maxTrialCostUsd).`,
  maxTrialCostUsd,
})

export const trialUsedUp = (maxTrialCostUsd: number): ExecutionError => ({
  code: 'BudgetExceeded',
  message:
    maxTrialCostUsd === 0
      ? 'A model would be called, because a request differs from the recording or for a score. The trial has no limit for what that may cost: give it maxTrialCostUsd.'
      : `The trial has used up what it may cost: ${maxTrialCostUsd} US dollars (maxTrialCostUsd).`,
  maxTrialCostUsd,
})

/** A request that a recording does not answer. */
export const withoutPrice = (model: string, maxTrialCostUsd: number): ExecutionError => ({
  code: 'BudgetExceeded',
  message: `The model ${model} would be called, which has no price, so the limit of the trial cannot be kept (maxTrialCostUsd). Set its price in MODEL_PRICES.`,
  maxTrialCostUsd,
})
