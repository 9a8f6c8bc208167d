import { describe, expect, it } from 'vitest'
import { toExecutionRecord } from '../../../../lib/api/to-execution-record.ts'
import type { Execution } from '../../../../lib/core/execution.ts'
import { anExecution } from '../../../support/engine/executions.ts'
import { monitorWrites } from '../database/write-monitor.ts'
import type { EventLog } from '../load/event-reader.ts'
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
    events: null,
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
      'changed after it was final',
      evidenceOf([execution], { stored: new Map([[execution.id, { ...execution, steps: 9 }]]) }),
      'changed after it was final',
    ],
    [
      'failed',
      evidenceOf([completed({ status: 'ERROR', output: null, error: { code: 'AgentFailed', message: '' } })]),
      'ended in {"code":"AgentFailed"',
    ],
    [
      'ended before its attempts were used up',
      evidenceOf([
        completed({
          status: 'ERROR',
          output: null,
          error: { code: 'StepNotStored', message: '' },
          attemptsSinceProgress: 4,
        }),
      ]),
      'ended in StepNotStored after 4 attempts and 0 lost steps',
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
    [
      'used an idempotency key twice',
      evidenceOf([execution], { toolCalls: [call, { ...call, step: 2 }] }),
      'The key a was used for',
    ],
  ]
  it.each(cases)('reports a run that %s', (_, evidence, reported) => {
    expect(verifyRuns(evidence)).toContainEqual(expect.stringContaining(reported))
  })

  it('reports a run in progress of a client that hung up', () => {
    const hanging = toExecutionRecord(anExecution({ input: { text: '' } }))
    const evidence = evidenceOf([execution])
    evidence.records.push(hanging)
    expect(verifyRuns(evidence)).toEqual([expect.stringContaining(`${hanging.id} of the source API hangs`)])
  })

  const events = { steps: [1, 2], calls: new Set(['a', 'b']), isDone: true, problems: [] }
  const reading: [reported: string, log: EventLog][] = [
    ['did not end', { ...events, isDone: false }],
    ['had the steps 1,2,2 instead of 1 to 2', { ...events, steps: [1, 2, 2] }],
    ['had 1 results instead of 2', { ...events, calls: new Set(['a']) }],
    ['failed: HTTP 404', { ...events, problems: ['HTTP 404'] }],
  ]
  it.each(reading)('reports events that %s', (reported, log) => {
    const of = (read: EventLog) => {
      const evidence = evidenceOf([completed({ steps: 2 })])
      const [observation] = evidence.observations as [Observation]
      observation.run = { ...observation.run, input: { marker, steps: 2, parallel: 1 } }
      observation.events = read
      return verifyRuns(evidence)
    }
    expect(of(events)).toEqual([])
    expect(of(log)).toContainEqual(expect.stringContaining(reported))
  })
})

describe('monitorWrites', () => {
  const forwarded = (operation: string, request: object, response: object = {}, status = 200) => {
    const toBuffer = (value: object) => Buffer.from(JSON.stringify(value))
    return { operation, status, request: toBuffer(request), response: toBuffer(response) }
  }
  const Key = { pk: { S: 'EXEC#1' }, sk: { S: 'STEP#00001' } }
  const Item = { ...Key, content: { S: 'text' } }
  const finished = (finishedAt: string) =>
    forwarded(
      'UpdateItem',
      { Key: { pk: { S: 'EXEC#1' }, sk: { S: 'RECORD' } } },
      { Attributes: { status: { S: 'SUCCESS' }, finishedAt: { S: finishedAt } } },
    )

  it('reports nothing for a rejected second write of a checkpoint', () => {
    const { onExchange, problems } = monitorWrites()
    onExchange(forwarded('PutItem', { Item }))
    onExchange(forwarded('PutItem', { Item }, {}, 400))
    expect(problems).toEqual([])
  })

  it.each([
    forwarded('PutItem', { Item }),
    forwarded('UpdateItem', { Key }),
    forwarded('DeleteItem', { Key }),
    forwarded('BatchWriteItem', { RequestItems: { t: [{ PutRequest: { Item } }] } }),
    forwarded('BatchWriteItem', { RequestItems: { t: [{ DeleteRequest: { Key } }] } }),
    forwarded('TransactWriteItems', { TransactItems: [{ Put: { Item } }] }),
    forwarded('TransactWriteItems', { TransactItems: [{ Update: { Key } }] }),
    forwarded('TransactWriteItems', { TransactItems: [{ Delete: { Key } }] }),
  ])('reports a checkpoint that $operation changes', (exchange) => {
    const { onExchange, problems } = monitorWrites()
    onExchange(forwarded('PutItem', { Item }))
    onExchange(exchange)
    expect(problems).toEqual([expect.stringContaining('EXEC#1 STEP#00001 was')])
  })

  it('reports an execution that becomes final twice, but not a repeated write', () => {
    const { onExchange, problems } = monitorWrites()
    onExchange(finished('2026-01-01T00:00:00.000Z'))
    onExchange(finished('2026-01-01T00:00:00.000Z'))
    expect(problems).toEqual([])
    onExchange(finished('2026-01-01T00:00:01.000Z'))
    expect(problems).toEqual([expect.stringContaining('EXEC#1 RECORD became final twice')])
  })
})
