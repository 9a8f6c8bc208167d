import { isDeepStrictEqual } from 'node:util'
import { toExecutionRecord } from '../../lib/api/mappers/to-execution-record.ts'
import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import type { Execution } from '../../lib/core/execution.ts'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import type { ToolCall } from './load/model-and-tools.ts'
import type { Observation } from './load/run-client.ts'

/** What clients, the model and the tools saw, and what is stored in the end. */
export type Evidence = {
  observations: Observation[]
  /** Every execution of the organization, as the API lists it. */
  records: ExecutionRecord[]
  /** The stored executions, by ID. */
  stored: Map<string, Execution>
  /** How often each model response was requested, by `marker step`. */
  modelRequests: Map<string, number>
  toolCalls: ToolCall[]
  /** Processes killed. */
  kills: number
}

/** A run may end in this error only if a kill stopped each of its attempts before it made progress. */
const ATTEMPTS_EXHAUSTED = 'AttemptsExhausted'

/**
 * With at least this many kills, no more model responses may be repeated than there were kills. With fewer, a single
 * kill decides: it can stop 16 runs that all wait for the model.
 */
const MIN_KILLS = 20

/** Model responses that were requested again. */
export const repeatedResponses = (modelRequests: Iterable<number>) =>
  [...modelRequests].reduce((sum, requests) => sum + requests - 1, 0)

/** Every problem found: runs that were lost, hang, ran twice or ended wrong. */
export function verifyRuns(evidence: Evidence): string[] {
  const { observations, records, stored, modelRequests, toolCalls, kills } = evidence
  const byMarker = Map.groupBy(records, ({ input }) => String(input.marker))
  const repeated = repeatedResponses(modelRequests.values())
  return [
    ...observations.flatMap((observation) => {
      const { run, executionId } = observation
      const executions = byMarker.get(run.marker)?.length ?? 0
      const ofRun = [...modelRequests].filter(([name]) => name.startsWith(`${run.marker} `))
      return runProblems(observation, {
        executions,
        execution: executionId === null ? undefined : stored.get(executionId),
        repeated: repeatedResponses(ofRun.map(([, requests]) => requests)),
      })
    }),
    ...(repeated > kills && kills >= MIN_KILLS
      ? [`${repeated} model responses were requested again, but only ${kills} processes were killed.`]
      : []),
    ...idempotencyKeyProblems(toolCalls, byMarker),
  ]
}

type Stored = { executions: number; execution: Execution | undefined; repeated: number }

function runProblems(
  { run, executionId, output, statuses, final, isDeleted }: Observation,
  { executions, execution, repeated }: Stored,
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
    check(isDeepStrictEqual(record.output, run.output), `${marker} returned ${returned}.`)
  if (output)
    check(isDeepStrictEqual(output, record.output), `${marker} returned another output to its caller.`)
  if (status === 'ERROR')
    check(
      run.errors.includes(error?.code ?? ''),
      `${marker} ended in ${shorten(JSON.stringify(error))} after ${execution?.attempts} attempts.`,
    )
  if (!execution) return problems
  check(
    repeated <= Math.max(0, execution.attempts - 1),
    `${marker} repeated ${repeated} model responses in ${execution.attempts} attempts.`,
  )
  check(
    error?.code !== ATTEMPTS_EXHAUSTED || execution.attemptsSinceProgress >= MAX_ATTEMPTS,
    `${marker} ended in ${ATTEMPTS_EXHAUSTED} after ${execution.attemptsSinceProgress} attempts.`,
  )
  return problems
}

const shorten = (text: string): string => text.slice(0, 300)

/** Each tool call of an execution has one idempotency key, however often it is made, and no other call has that key. */
function idempotencyKeyProblems(calls: ToolCall[], byMarker: Map<string, ExecutionRecord[]>): string[] {
  const nameOf = ({ marker, step, call }: ToolCall) => `${marker} step ${step} call ${call}`
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
