import { isDeepStrictEqual } from 'node:util'
import type { ExecutionRecord } from '../../../../lib/contract/records/execution.ts'
import { toExecutionRecord } from '../../../../lib/contract/records/execution.ts'
import type { Execution } from '../../../../lib/core/execution.ts'
import { MAX_ATTEMPTS } from '../../../../lib/core/limits.ts'
import type { ToolCall } from '../load/model-and-tools.ts'
import { CHILD_TOTAL, FAILED_CALL, isChild, rootOf } from '../load/model-runs.ts'
import { EXHAUSTED, type PlannedRun } from '../load/planned-run.ts'
import type { Observation } from '../load/run-client.ts'
import { repeatedResponses, type Spending, spendingProblems } from './verify-spending.ts'

/** What clients, the model and the tools saw, and what is stored in the end. */
export type Evidence = Spending & {
  /** Every execution of the organization, as the API lists it. */
  records: ExecutionRecord[]
  toolCalls: ToolCall[]
  /** Processes killed. */
  kills: number
  /** Outages of the database. */
  outages: number
}

/**
 * With at least this many kills, no more model responses may be repeated than there were kills. With fewer, a single
 * kill decides: it can stop 16 runs that all wait for the model.
 */
const MIN_KILLS = 20

/** Responses that an outage may repeat: those of all runs that wait for the model, and of agents that they call. */
const REPEATED_PER_OUTAGE = 16

/** Every problem found: runs that were lost, hang, ran twice or ended wrong. */
export function verifyRuns(evidence: Evidence): string[] {
  const { observations, records, stored, toolCalls } = evidence
  const byMarker = Map.groupBy(records, ({ input }) => String(input.marker))
  const observed = new Set(observations.map(({ executionId }) => executionId))
  const exhausted = new Set(
    records.flatMap(({ input, error }) => (isExhausted(error) ? [String(input.marker)] : [])),
  )
  const exhaustedCalls = Map.groupBy([...exhausted].filter(isChild), rootOf)
  return [
    ...observations.flatMap((observation) => {
      const { run, executionId } = observation
      return runProblems(observation, {
        executions: byMarker.get(run.marker)?.length ?? 0,
        execution: executionId === null ? undefined : stored.get(executionId),
        exhaustedCalls: exhaustedCalls.get(run.marker)?.length ?? 0,
      })
    }),
    ...[...stored.values()].flatMap(exhaustionProblems),
    ...records
      .filter(({ id, status }) => status === 'IN_PROGRESS' && !observed.has(id))
      .map(({ id, source }) => `${id} of the source ${source} hangs.`),
    ...repetitionProblems(evidence),
    ...spendingProblems(evidence),
    ...idempotencyKeyProblems(toolCalls, byMarker),
  ]
}

/** Of the runs that the database did not single out. */
function repetitionProblems({ observations, modelRequests, kills, outages }: Evidence): string[] {
  const faulty = new Set(observations.flatMap(({ run }) => (run.fault ? [run.marker] : [])))
  const requests = [...modelRequests].filter(([name]) => !faulty.has(rootOf(name.split(' ')[0] ?? '')))
  const repeated = repeatedResponses(requests.map(([, count]) => count))
  if (repeated <= kills + outages * REPEATED_PER_OUTAGE || kills < MIN_KILLS) return []
  return [
    `${repeated} model responses were requested again, but only ${kills} processes were killed, in ${outages} outages.`,
  ]
}

const isExhausted = (error: ExecutionRecord['error']) => EXHAUSTED.includes(error?.code ?? '')

function exhaustionProblems({ input, error, attemptsSinceProgress, lostSteps }: Execution): string[] {
  if (!isExhausted(error) || Math.max(attemptsSinceProgress, lostSteps.length) >= MAX_ATTEMPTS) return []
  return [
    `${input.marker} ended in ${error?.code} after ${attemptsSinceProgress} attempts and ${lostSteps.length} lost steps.`,
  ]
}

/** Whether it is the planned output, in which calls of agents whose attempts ran out may have failed. */
function mayReturn(
  output: ExecutionRecord['output'],
  { output: planned }: PlannedRun,
  exhaustedCalls: number,
) {
  const totals = Array.from(
    { length: exhaustedCalls + 1 },
    (_, failed) => Number(planned?.total) - failed * (CHILD_TOTAL - FAILED_CALL),
  )
  return totals.some((total) => isDeepStrictEqual(output, planned && { ...planned, total }))
}

type Stored = { executions: number; execution: Execution | undefined; exhaustedCalls: number }

function runProblems(
  { run, executionId, output, statuses, final, isDeleted }: Observation,
  { executions, execution, exhaustedCalls }: Stored,
): string[] {
  const { marker } = run
  const problems: string[] = []
  const check = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem)
  }
  check(executionId !== null, `${marker} was never accepted.`)
  const expected = isDeleted ? 0 : 1
  check(executions === expected, `${marker} has ${executions} executions instead of ${expected}.`)
  check(
    statuses.filter((status) => status !== 'IN_PROGRESS').length <= 1,
    `${marker} had the statuses ${statuses}.`,
  )
  if (executionId === null) return problems
  if (!execution && !isDeleted) return [...problems, `${marker} was accepted as ${executionId} and is lost.`]
  check(!execution || !isDeleted, `${marker} was deleted as ${executionId} and is still stored.`)

  const record = execution ? toExecutionRecord(execution) : final
  if (!record) return problems
  const { status, error } = record
  check(status !== 'IN_PROGRESS', `${marker} hangs: ${executionId} is still in progress.`)
  if (final) check(isDeepStrictEqual(record, final), `${marker} changed after it was final.`)
  const returned = shorten(JSON.stringify(record.output))
  if (status === 'SUCCESS')
    check(mayReturn(record.output, run, exhaustedCalls), `${marker} returned ${returned}.`)
  if (output)
    check(isDeepStrictEqual(output, record.output), `${marker} returned another output to its caller.`)
  if (status === 'ERROR')
    check(
      run.errors.includes(error?.code ?? ''),
      `${marker} ended in ${shorten(JSON.stringify(error))} after ${execution?.attempts} attempts.`,
    )
  return problems
}

const shorten = (text: string): string => text.slice(0, 300)

/** Each tool call of an execution has one idempotency key, however often it is made, and no other call has that key. */
function idempotencyKeyProblems(calls: ToolCall[], byMarker: Map<string, ExecutionRecord[]>): string[] {
  const nameOf = ({ tool, marker, step, call }: ToolCall) => `${marker} step ${step} call ${call} of ${tool}`
  const severalKeys = [...Map.groupBy(calls, nameOf)].flatMap(([name, same]) => {
    const keys = new Set(same.map(({ key }) => key))
    // None if it was deleted.
    const executions = byMarker.get(same[0]?.marker ?? '')?.length ?? 1
    return keys.size > executions ? [`${name} had the keys ${[...keys].join(', ')}.`] : []
  })
  const sharedKeys = [...Map.groupBy(calls, ({ key }) => key)].flatMap(([key, same]) => {
    const names = new Set(same.map(nameOf))
    return names.size > 1 ? [`The key ${key} was used for ${[...names].join(' and ')}.`] : []
  })
  return [...severalKeys, ...sharedKeys]
}
