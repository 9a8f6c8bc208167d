import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../../lib/core/execution.ts'
import { anExecution } from '../../../support/engine/executions.ts'
import { childInput, tokensOf, usageOf } from '../load/model-runs.ts'
import type { Observation } from '../load/run-client.ts'
import { planRuns } from '../load/workload.ts'
import { type Spending, spendingProblems } from './verify-spending.ts'

const [planned] = planRuns({ seed: 1, asyncRuns: 1, syncRuns: 0, log: '' })
if (!planned) throw new Error('There is no run.')
const { marker } = planned
const child = childInput(marker, 1, 1)

type Overrides = Partial<Execution> & { maxTokens?: number }

/** A run of one step that was stored at the first attempt. */
const stored = ({ maxTokens, ...overrides }: Overrides = {}): Execution => {
  const execution = anExecution({ input: { marker } })
  const options = { ...execution.options, ...(maxTokens !== undefined && { maxTokens }) }
  return { ...execution, status: 'SUCCESS', steps: 1, usage: usageOf(1), attempts: 1, options, ...overrides }
}

/** `requests`: how often the responses of each marker were requested, by step. */
function evidence(
  executions: Execution[],
  requests: Record<string, number[]>,
  run: Partial<Observation['run']> = {},
): Spending {
  const entries = Object.entries(requests)
  return {
    observations: [{ run: { ...planned, ...run } } as Observation],
    stored: new Map(executions.map((execution) => [execution.id, execution])),
    modelRequests: new Map(
      entries.flatMap(([name, counts]) => counts.map((count, i) => [`${name} ${i + 1}`, count])),
    ),
    tokens: new Map(
      entries.map(([name, counts]) => [
        name,
        counts.reduce((sum, count, i) => sum + count * tokensOf(usageOf(i + 1)), 0),
      ]),
    ),
  }
}

describe('spendingProblems', () => {
  it('reports nothing for a run within its budget, or beyond it by one response', () => {
    expect(spendingProblems(evidence([stored()], { [marker]: [1] }))).toEqual([])
    const maxTokens = 1
    expect(spendingProblems(evidence([stored({ maxTokens })], { [marker]: [1] }, { maxTokens }))).toEqual([])
  })

  const cases: [problem: string, evidence: Spending, reported: string][] = [
    [
      'spent more than its budget and a response per attempt',
      evidence([stored({ maxTokens: 20, attempts: 2 })], { [marker]: [3] }, { maxTokens: 20 }),
      'spent 6015 tokens of 20 in 2 attempts',
    ],
    [
      'spent more than its budget with the agents that it called',
      evidence(
        [stored({ maxTokens: 20 }), stored({ input: child })],
        { [marker]: [1], [child.marker]: [3] },
        { maxTokens: 20 },
      ),
      'spent 8020 tokens of 20 in 2 attempts',
    ],
    [
      'did not get its budget',
      evidence([stored()], { [marker]: [1] }, { maxTokens: 20 }),
      'has the budget null instead of 20',
    ],
    [
      'ended before it had spent its budget',
      evidence(
        [stored({ maxTokens: 9_000, status: 'ERROR', error: { code: 'BudgetExceeded', message: '' } })],
        { [marker]: [1] },
        { maxTokens: 9_000 },
      ),
      'had spent 2005 tokens',
    ],
    [
      'repeated a response within an attempt',
      evidence([stored({ attempts: 2 })], { [marker]: [3] }),
      'repeated 2 model responses in 2 attempts',
    ],
    [
      'lost more responses than a run has attempts, without progress',
      evidence([stored({ attempts: 9, steps: 0 })], { [marker]: [6] }, { fault: 'steps throttled' }),
      'lost 6 paid responses in 9 attempts',
    ],
    [
      'recorded less than it spent',
      evidence([stored({ usage: { inputTokens: 1, outputTokens: 1 } })], { [marker]: [1] }),
      'has recorded 2 tokens, but its responses had 2005',
    ],
  ]
  it.each(cases)('reports a run that %s', (_, given, reported) => {
    expect(spendingProblems(given)).toContainEqual(expect.stringContaining(reported))
  })
})
