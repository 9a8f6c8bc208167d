import { describe, expect, it } from 'vitest'
import type { BatchRecord } from '../../../../lib/api/schemas/batch-record.ts'
import type { ExecutionRecord } from '../../../../lib/api/schemas/execution-record.ts'
import { type BatchObservation, planBatches } from '../load/batch-load.ts'
import { verifyBatches } from './verify-batches.ts'

const [, batch] = planBatches({ seed: 1, lines: 3, log: '' })
if (!batch) throw new Error('There is no batch.')

const records = batch.lines.map(({ customId }) => ({ batchId: 'a', customId }) as ExecutionRecord)
const results = batch.lines.map(({ customId, output }) => ({
  customId,
  status: 'SUCCESS',
  output,
  error: null,
}))
const final = { counts: { IN_PROGRESS: 0, SUCCESS: 3, ERROR: 0 } } as BatchRecord
const complete: BatchObservation = { batch, id: 'a', final, results, isDeleted: false }

const verify = (changes: Partial<BatchObservation>, stored = records) =>
  verifyBatches([{ ...complete, ...changes }], stored)

describe('verifyBatches', () => {
  it('reports nothing if each line has one execution and its result, and if a deleted batch has none', () => {
    expect(verify({})).toEqual([])
    expect(verify({ isDeleted: true }, [])).toEqual([])
  })

  const cases: [problem: string, found: () => string[], reported: string][] = [
    ['a batch that has not ended', () => verify({ final: null }), 'has not ended'],
    ['results in another order', () => verify({ results: results.toReversed() }), 'has the result'],
    ['a result that is missing', () => verify({ results: results.slice(1) }), 'has 2 results'],
    [
      'wrong counts',
      () => verify({ final: { ...final, counts: { IN_PROGRESS: 1, SUCCESS: 2, ERROR: 0 } } }),
      'counts',
    ],
    ['a line that was lost', () => verify({}, records.slice(1)), 'has 0 executions instead of 1'],
    [
      'a line that was executed twice',
      () => verify({}, [...records, ...records.slice(2)]),
      'has 2 executions',
    ],
    ['what is left of a deleted batch', () => verify({ isDeleted: true }), 'has 1 executions instead of 0'],
  ]
  it.each(cases)('reports %s', (_, found, reported) => {
    expect(found().join('\n')).toContain(reported)
  })
})
