import { isDeepStrictEqual } from 'node:util'
import { Unavailable } from '../../core/errors.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import { isLow } from '../../core/run-score.ts'
import type { RunScore, Score } from '../../core/score.ts'
import { executionKey } from '../table/keys.ts'
import type { StoredPayload } from '../table/payload.ts'
import type { Item, Table } from '../table/table.ts'
import { isAtRevision } from './cleanup.ts'
import { type ExecutionItem, readRecord, statusKey } from './execution-item.ts'

/** Scorers and people who write to a run at the same time: each loses to another one at most so often. */
const MAX_TRIES = 50

/** What scorers say about executions. */
export function scoreStore(table: Table): Pick<ExecutionStore, 'setScore'> {
  return {
    async setScore({ organizationId, id, score }) {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const before = (await readRecord(table, id)) as (Item & ExecutionItem) | null
        if (before?.organizationId !== organizationId) return
        const scores = (before.scores ?? []).map((each) =>
          isNews(each, score) ? { ...each, result: score } : each,
        )
        if (isDeepStrictEqual(scores, before.scores)) return
        const { revision = 0 } = before
        const { set, remove } = scoreKeys({ ...before, scores }, before.review)
        const change = { set: { ...set, scores, revision: revision + 1 }, remove }
        if (await table.update(executionKey(id), { ...change, condition: isAtRevision(revision) })) return
      }
      throw new Unavailable(new Error(`The scores of ${id} changed ${MAX_TRIES} times.`))
    },
  }
}

/** A scorer that could not be started does not replace the result of one that a process before has started. */
const isNews = (known: RunScore, { agent, executionId }: Score): boolean =>
  known.agent === agent && (known.result === undefined || executionId !== null)

/** By which lists find a run with scores: those that wait for a review, and those that scorers agree on with people. */
export function scoreKeys(
  item: Pick<ExecutionItem, 'id' | 'organizationId' | 'scores' | 'feedback' | 'feedbackIsNoReview'>,
  review: StoredPayload | undefined,
): { set: Item; remove: string[] } {
  const { scores = [], feedback, feedbackIsNoReview } = item
  if (!scores.some(({ result }) => result)) return { set: {}, remove: [] }
  const isReviewed = review !== undefined || (feedback !== undefined && !feedbackIsNoReview)
  const hasScore = scores.some(({ result }) => typeof result?.score === 'number')
  const status = isReviewed && hasScore ? 'REVIEWED' : !isReviewed && scores.some(isLow) ? 'LOW-SCORE' : null
  return status === null
    ? { set: {}, remove: ['statusShard'] }
    : { set: { statusShard: statusKey(item, status) }, remove: [] }
}
