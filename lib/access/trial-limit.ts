import type { ExecutionError } from '../core/execution.ts'
import { timeOfId } from '../core/ids.ts'
import type { LimitStore, SpendingKey } from '../core/ports.ts'

type Trial = { organizationId: string; id: string }

/** Of what a trial spends: all of it counts in the month of its beginning, however long it lasts. */
const keyOf = ({ organizationId, id }: Trial): SpendingKey & { at: number } => ({
  organizationId,
  subject: { kind: 'trial', id },
  at: timeOfId(id),
})

/** Counts what a response of one of its runs has cost. @throws Unavailable */
export const addTrialSpent = (store: Pick<LimitStore, 'addSpent'>, trial: Trial, costUsd: number) =>
  store.addSpent({ ...keyOf(trial), costUsd })

/** Whether the responses of all its runs so far have used up what it may cost. @throws Unavailable */
export const isTrialUsedUp = async (store: Pick<LimitStore, 'getSpent'>, trial: Trial, maxCostUsd: number) =>
  (await store.getSpent(keyOf(trial))).month >= maxCostUsd

export const trialUsedUp = (maxTrialCostUsd: number): ExecutionError => ({
  code: 'BudgetExceeded',
  message: `The trial has used up what it may cost: ${maxTrialCostUsd} US dollars (maxTrialCostUsd).`,
  maxTrialCostUsd,
})
