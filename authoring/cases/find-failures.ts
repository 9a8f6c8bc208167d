import type { Violation } from '../../lib/core/errors.ts'
import type { ExecutionError } from '../../lib/core/execution-errors.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { parseJsonPointer } from '../../lib/core/json/pointer.ts'
import { FINAL_ANSWER } from '../../lib/core/model.ts'
import type { Score } from '../../lib/core/score.ts'
import type { StepStore } from '../../lib/core/step.ts'
import type { Decision } from '../../lib/core/wait.ts'
import { approvalIdOf, storedDecision } from '../../lib/engine/waiting/approvals.ts'
import type { Expectation } from './case-file.ts'
import { type Difference, findDifferences, findViolations, isMet, valueAt } from './differences.ts'

/** A tool call whose result was an error, which only the model has seen. */
export type FailedCall = { tool: string; error: string }

/** How a run of a case ended. */
export type CaseRun = {
  output: JsonObject | null
  error: ExecutionError | null
  failedCalls: FailedCall[]
  /** Model responses, or steps of a code agent; not those of agents that it called. */
  steps: number
  /** In US dollars, with the agents that it called; null if a model has no price. */
  costUsd: number | null
  /** By the slug of the scorer; absent without an output, or if the case expects no scores. */
  scores?: Record<string, CaseScore>
}

/** The score of an output, from 0 to 1; null without one, then `error` says why. */
export type CaseScore = Pick<CaseRun, 'costUsd'> & Pick<Score, 'score' | 'reason'> & { error: string | null }

/** What a run did differently from what the case expects; empty if the case passes. */
export function findFailures(expectation: Expectation, run: CaseRun): Difference[] {
  const ending = findEndingFailures(expectation, run)
  return [
    ...(ending ?? findOutputFailures(expectation, run.output ?? {})),
    ...findToolFailures(expectation, run),
    ...findScoreFailures(expectation, run),
    ...findLimitFailures(expectation, run),
  ]
}

/** Null if the run succeeded as it should. */
function findEndingFailures({ error }: Expectation, run: CaseRun): Difference[] | null {
  if (!run.error) {
    if (error === undefined) return null
    const message = `expected the error ${error}, but the run succeeded`
    return [{ pointer: '', message, expected: error, actual: run.output ?? null }]
  }
  const { code, message } = run.error
  if (error === code) return []
  const wanted = error === undefined ? '' : `expected the error ${error}, but `
  return [
    { pointer: '', message: `${wanted}the run failed with ${code}: ${message}` },
    ...violationsOf(run.error).map((violation) => ({ pointer: violation.path, message: violation.message })),
  ]
}

/** Where the output, or the input that the agent failed on, does not match its schema. */
export function violationsOf({ errors, inputErrors }: ExecutionError): Violation[] {
  return [errors, inputErrors].flatMap((list) => (Array.isArray(list) ? (list as Violation[]) : []))
}

/** Each error of a tool once: a model may repeat its call. */
function findToolFailures({ tools = {} }: Expectation, { failedCalls }: CaseRun): Difference[] {
  const unexpected = failedCalls.filter(({ tool }) => !Object.hasOwn(tools, tool))
  const messages = unexpected.map(
    ({ tool, error }) => `the tool ${tool} failed: ${error} (expect.tools: { ${tool}: may-fail } allows it)`,
  )
  const missing = Object.entries(tools)
    .filter(([name, ending]) => ending === 'fails' && !failedCalls.some(({ tool }) => tool === name))
    .map(([name]) => `expected the tool ${name} to fail, but none of its calls did`)
  return [...new Set([...messages, ...missing])].map((message) => ({ pointer: '', message }))
}

function findOutputFailures({ equals, matches, pointers }: Expectation, output: JsonObject): Difference[] {
  return [
    ...(equals ? findDifferences(equals, output, { isPartial: false }) : []),
    ...(matches ? findDifferences(matches, output, { isPartial: true }) : []),
    ...Object.entries<Json>(pointers ?? {}).flatMap(([pointer, assertion]) =>
      findViolations(pointer, valueAt(output, parseJsonPointer(pointer)), assertion),
    ),
  ]
}

function findScoreFailures(expectation: Expectation, { scores = {} }: CaseRun): Difference[] {
  return Object.entries(scores).flatMap(([scorer, { score, reason, error }]) => {
    if (score === null) return { pointer: '', message: `the scorer ${scorer} failed: ${error}` }
    const condition = expectation.scores?.[scorer] ?? ''
    if (isMet(condition, score)) return []
    const why = reason === null ? '' : `: ${reason}`
    return { pointer: '', message: `the score of ${scorer} is ${score}, expected ${condition}${why}` }
  })
}

function findLimitFailures({ maxSteps, maxCostUsd }: Expectation, { steps, costUsd }: CaseRun): Difference[] {
  const messages: string[] = []
  if (maxSteps !== undefined && steps > maxSteps)
    messages.push(`took ${steps} steps; maxSteps is ${maxSteps}`)
  if (maxCostUsd !== undefined && costUsd === null)
    messages.push('has an unknown cost, because its model has no price; maxCostUsd needs one (MODEL_PRICES)')
  if (maxCostUsd !== undefined && costUsd !== null && costUsd > maxCostUsd)
    messages.push(`cost ${costUsd} US dollars; maxCostUsd is ${maxCostUsd}`)
  return messages.map((message) => ({ pointer: '', message: `the run ${message}` }))
}

/** Whether nobody approved a call: it was not executed, so that its tool has not failed. */
const isRefused = (decided: Decision | null): boolean => decided !== null && decided.decision !== 'approve'

/** The failed tool calls of a run, with those of agents that it called. */
export async function findFailedCalls(
  steps: Pick<StepStore, 'read'>,
  executionId: string,
): Promise<FailedCall[]> {
  const failed: FailedCall[] = []
  for (const { step, results } of await steps.read({ executionId })) {
    if (step.kind !== 'MODEL') continue
    for (const { id, name } of step.calls) {
      const result = results.get(id)?.result
      if (!result || name === FINAL_ANSWER) continue
      if (!result.ok && isRefused(storedDecision({ results }, approvalIdOf(step, id)))) continue
      if (!result.ok) failed.push({ tool: name, error: result.error })
      else if (result.executionId) failed.push(...(await findFailedCalls(steps, result.executionId)))
    }
  }
  return failed
}
