import { describe, expect, it } from 'vitest'
import { toExecutionRecord } from '../../../../lib/contract/records/execution.ts'
import type { Execution } from '../../../../lib/core/execution.ts'
import { MAX_ATTEMPTS } from '../../../../lib/core/limits.ts'
import { anExecution } from '../../../support/engine/executions.ts'
import { CHILD_TOTAL, childInput, FAILED_CALL } from '../load/model-runs.ts'
import type { Observation } from '../load/run-client.ts'
import { planRuns } from '../load/workload.ts'
import { type Evidence, verifyRuns } from './verify-runs.ts'

const [run] = planRuns({ seed: 1, asyncRuns: 1, syncRuns: 0, log: '' })
if (!run) throw new Error('There is no run.')
const { marker } = run

const completed = (overrides: Partial<Execution> = {}): Execution => ({
  ...anExecution({ input: run.input }),
  status: 'SUCCESS',
  output: run.output,
  attempts: 1,
  ...overrides,
})

/** Evidence of one run and the executions that it led to. The client got the first. */
function evidenceOf(executions: Execution[], overrides: Partial<Evidence> = {}): Evidence {
  const [first] = executions
  const final = first && first.status !== 'IN_PROGRESS' ? toExecutionRecord(first) : null
  const observation: Observation = {
    run: run as Observation['run'],
    executionId: first?.id ?? null,
    output: null,
    statuses: first ? [first.status] : [],
    final,
    isDeleted: false,
  }
  return {
    observations: [observation],
    records: executions.map(toExecutionRecord),
    stored: new Map(executions.map((execution) => [execution.id, execution])),
    modelRequests: new Map(),
    tokens: new Map(),
    toolCalls: [],
    kills: 0,
    outages: 0,
    ...overrides,
  }
}

describe('verifyRuns', () => {
  it('reports nothing for a run that completed once', () => {
    expect(verifyRuns(evidenceOf([completed()]))).toEqual([])
  })

  const execution = completed()
  const call = { tool: 'values', marker, step: 1, call: 1, key: 'a' }
  const cases: [problem: string, evidence: Evidence, reported: string][] = [
    ['was never accepted', evidenceOf([]), 'was never accepted'],
    ['was lost', evidenceOf([execution], { stored: new Map(), records: [] }), 'is lost'],
    ['hangs', evidenceOf([completed({ status: 'IN_PROGRESS', output: null })]), 'hangs'],
    ['ran twice', evidenceOf([execution, completed()]), 'has 2 executions instead of 1'],
    [
      'returned a wrong output',
      evidenceOf([completed({ output: { marker, total: -1 } })]),
      `returned {"marker":"${marker}","total":-1}`,
    ],
    [
      'failed',
      evidenceOf([completed({ status: 'ERROR', output: null, error: { code: 'AgentFailed', message: '' } })]),
      'ended in {"code":"AgentFailed"',
    ],
    [
      'repeated a stored model response',
      evidenceOf([execution], { modelRequests: new Map([[`${marker} 1`, 2]]) }),
      'repeated 1 model responses in 1 attempts',
    ],
    [
      'changed the idempotency key of a tool call',
      evidenceOf([execution], { toolCalls: [call, { ...call, key: 'b' }] }),
      'step 1 call 1 of values had the keys a, b',
    ],
  ]
  it.each(cases)('reports a run that %s', (_, evidence, reported) => {
    expect(verifyRuns(evidence)).toContainEqual(expect.stringContaining(reported))
  })

  it.each([
    ['reports nothing for', MAX_ATTEMPTS, []],
    ['reports', 1, [expect.stringContaining('ended in AttemptsExhausted after 1 attempts')]],
  ])('%s a failed call of an agent that had %i attempts', (_, attempts, problems) => {
    const total = Number(run.output?.total) - CHILD_TOTAL + FAILED_CALL
    const child = completed({
      input: childInput(marker, 1, 1),
      status: 'ERROR',
      output: null,
      error: { code: 'AttemptsExhausted', message: '' },
      attemptsSinceProgress: attempts,
    })
    expect(verifyRuns(evidenceOf([completed({ output: { ...run.output, total } }), child]))).toEqual(problems)
  })
})
