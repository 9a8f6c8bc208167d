import { system } from '../../../lib/system.ts'
import type { ScoredService } from '../../support/scores/scored-service.ts'

/** Rates an execution as a reviewer or, without `isReview`, as a user. */
export async function rate(service: ScoredService, id: string, rating: 1 | -1, isReview: boolean) {
  const { organizationId, outbox } = service
  const updatedAt = new Date(outbox.now()).toISOString()
  const feedback = { rating, correctedOutput: null, note: null, updatedAt }
  const writer = system.newId()
  return outbox.stores.executions.giveFeedback({ organizationId, id, feedback, isReview, writer })
}
