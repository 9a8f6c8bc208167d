import { describe, expect, it } from 'vitest'
import type { Execution, Outcome } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { Verdict } from '../../../lib/core/trial.ts'
import { judge } from '../../../lib/engine/replay/judge.ts'
import { NO_PROGRESS } from '../../support/engine/executions.ts'

type End = JsonObject | string

const isError = (end: End): end is string => typeof end === 'string'

const originalOf = (end: End, corrected?: JsonObject): Pick<Execution, 'output' | 'error' | 'feedback'> => ({
  output: isError(end) ? null : end,
  error: isError(end) ? { code: end, message: end } : null,
  feedback: corrected
    ? { rating: -1, correctedOutput: corrected, note: null, updatedAt: '2026-01-01T00:00:00.000Z' }
    : null,
})

const outcomeOf = (end: End): Outcome =>
  isError(end)
    ? { status: 'ERROR', error: { code: end, message: 'Another one.' } }
    : { status: 'SUCCESS', output: end, ...NO_PROGRESS }

const [wrong, right, other] = [{ sum: 1 }, { sum: 2 }, { sum: 3 }]
const changed = (original: number, trial: number) => [{ path: '/sum', original, trial }]

describe('judge', () => {
  it.each<[string, { original: End; corrected?: JsonObject; trial: End }, Verdict, object[]]>([
    ['an equal output', { original: right, trial: { sum: 2.000_000_1 } }, 'SAME', []],
    ['another output', { original: right, trial: other }, 'CHANGED', changed(2, 3)],
    ['the corrected output', { original: wrong, corrected: right, trial: right }, 'CORRECTED', changed(1, 2)],
    ['none of both', { original: wrong, corrected: right, trial: other }, 'CHANGED', changed(1, 3)],
    [
      'not the confirmed output',
      { original: right, corrected: right, trial: other },
      'REGRESSED',
      changed(2, 3),
    ],
    ['the confirmed output', { original: right, corrected: right, trial: right }, 'SAME', []],
    ['the same mistake', { original: wrong, corrected: right, trial: wrong }, 'SAME', []],
    [
      'an output of a failed run',
      { original: 'TimedOut', trial: right },
      'CHANGED',
      [{ path: '', trial: right }],
    ],
    [
      'the corrected output of a failed run',
      { original: 'TimedOut', corrected: right, trial: right },
      'CORRECTED',
      [{ path: '', trial: right }],
    ],
    ['an error', { original: right, trial: 'TimedOut' }, 'ERROR', []],
    [
      'an error instead of a confirmed output',
      { original: right, corrected: right, trial: 'X' },
      'ERROR',
      [],
    ],
    ['the same error', { original: 'TimedOut', trial: 'TimedOut' }, 'SAME', []],
    ['another error', { original: 'TimedOut', trial: 'AgentFailed' }, 'ERROR', []],
    ['a divergence', { original: right, trial: 'Diverged' }, 'DIVERGED', []],
    ['a divergence as in the original', { original: 'Diverged', trial: 'Diverged' }, 'DIVERGED', []],
  ])('%s: %j is %s', (_, { original, corrected, trial }, verdict, differences) => {
    const judgement = judge(originalOf(original, corrected), outcomeOf(trial), { ignore: [] })
    expect(judgement).toEqual({ verdict, differences })
  })

  it('compares nothing that is ignored, also with the correction', () => {
    const judged = (corrected: JsonObject, ignore: string[]) =>
      judge(originalOf({ at: 1, sum: 1 }, corrected), outcomeOf({ at: 2, sum: 1 }), { ignore })
    expect(judged({ at: 3, sum: 2 }, ['/at'])).toEqual({ verdict: 'SAME', differences: [] })
    expect(judged({ at: 3, sum: 1 }, ['/at'])).toEqual({ verdict: 'SAME', differences: [] })
    expect(judged({ at: 2, sum: 1 }, []).verdict).toBe('CORRECTED')
    expect(judged({ at: 2, sum: 1 }, ['']).verdict).toBe('SAME')
    expect(judge(originalOf('TimedOut'), outcomeOf(right), { ignore: [''] }).verdict).toBe('CHANGED')
  })

  it('takes no cost limit of the trial, its tenant or its agent for the end of the original', () => {
    const budget = (details: JsonObject = {}) => ({ code: 'BudgetExceeded', message: 'x', ...details })
    const original = { ...originalOf('BudgetExceeded'), error: budget({ limit: 'maxCostUsd.day', max: 1 }) }
    const verdictOf = (error: Execution['error']) =>
      judge(original, { status: 'ERROR', error: error as never }, { ignore: [] }).verdict
    expect(verdictOf(budget({ limit: 'maxCostUsd.day', max: 1 }))).toBe('ERROR')
    expect(verdictOf(budget({ maxTrialCostUsd: 1 }))).toBe('ERROR')
    expect(verdictOf(budget({ spent: {} }))).toBe('SAME')
    expect(verdictOf(original.error)).toBe('SAME')
  })

  it('says that there are more differences than it keeps', () => {
    const list = (value: number) => ({ items: Array(100).fill(value) })
    expect(judge(originalOf(list(1)), outcomeOf(list(2)), { ignore: [] })).toMatchObject({
      verdict: 'CHANGED',
      isCut: true,
    })
  })
})
