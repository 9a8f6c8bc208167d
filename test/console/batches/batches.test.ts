import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../console/api/api-error.ts'
import { mergeNewest } from '../../../console/api/use-list.ts'
import {
  followBatch,
  formatBatchCost,
  mediaTypeOf,
  NO_BATCH_OPTIONS,
  parseLineStatus,
  progressOf,
  toBatchQuery,
} from '../../../console/batches/batches.ts'
import { aBatch } from '../../browser/stub/records.ts'

it('a batch has the part of it that has ended, and its cost with its limit', () => {
  expect(progressOf(aBatch(1, { counts: { IN_PROGRESS: 5, SUCCESS: 4, ERROR: 1 } }))).toBe(0.5)
  expect(formatBatchCost(aBatch(1))).toBe('$1.20')
  expect(formatBatchCost(aBatch(1, { maxBatchCostUsd: 5 }))).toBe('$1.20 of $5.00')
})

it('mergeNewest adds newer ones in front, and keeps older ones', () => {
  const [one, two, three] = [aBatch(1), aBatch(2), aBatch(3)]
  const changed = { ...two, costUsd: 9 }
  expect(mergeNewest([two, three], [one, changed])).toEqual([one, changed, three])
})

it.each([
  ['ERROR', 'ERROR'],
  ['toString', null],
  [null, null],
])('the status %j of the URL is %j', (text, status) => {
  expect(parseLineStatus(text)).toBe(status)
})

it.each([
  [' \n[', 'application/json'],
  ['{"customId": "a"}', 'application/x-ndjson'],
])('%j is sent as %s', (text, type) => {
  expect(mediaTypeOf(text)).toBe(type)
})

it('toBatchQuery sends what was entered', () => {
  expect(toBatchQuery(NO_BATCH_OPTIONS)).toEqual({ tenantId: '', maxConcurrency: '', maxBatchCostUsd: '' })
  expect(
    toBatchQuery({ ...NO_BATCH_OPTIONS, maxConcurrency: ' 5 ', enforceInputSchema: 'true' }),
  ).toMatchObject({ maxConcurrency: '5', enforceInputSchema: true })
})

describe('followBatch', () => {
  const eventsOf = (...events: [string, object, string][]) =>
    (async function* () {
      for (const [event, batch, id] of events) yield { event, data: JSON.stringify(batch), id }
    })()

  it('continues after the last event that it received, until the batch has ended', async () => {
    const [open, ended] = [aBatch(1, { status: 'IN_PROGRESS' }), aBatch(1)]
    const asked: string[] = []
    const seen: string[] = []
    const streams = [eventsOf(['counts', open, 'a']), eventsOf(['ended', ended, 'b'])]
    await followBatch({
      open: async (last) => {
        asked.push(last)
        return streams.shift() ?? eventsOf()
      },
      signal: new AbortController().signal,
      onBatch: ({ status }) => seen.push(status),
      onReconnecting: () => undefined,
    })
    expect([asked, seen]).toEqual([
      ['', 'a'],
      ['IN_PROGRESS', 'ENDED'],
    ])
  })

  it('gives up what a retry cannot change', async () => {
    const gone = new ApiError('Gone.', { status: 404, code: 'BatchNotFound' })
    const following = followBatch({
      open: () => Promise.reject(gone),
      signal: new AbortController().signal,
      onBatch: () => undefined,
      onReconnecting: () => undefined,
    })
    await expect(following).rejects.toBe(gone)
  })
})
