import type { ExecutionError } from '../../lib/core/execution.ts'
import type { Json, JsonObject } from '../../lib/core/json.ts'
import { parseJsonPointer } from '../../lib/schema/json-pointer.ts'
import { findViolations } from './assertion.ts'
import type { Expectation } from './case-file.ts'
import { type Difference, findDifferences, valueAt } from './differences.ts'

/** How a run of a case ended. */
export type CaseRun = {
  output: JsonObject | null
  error: ExecutionError | null
  /** Model responses, or steps of a code agent; not those of agents that it called. */
  steps: number
  /** In US dollars, with the agents that it called; null if a model has no price. */
  costUsd: number | null
}

/** What a run did differently from what the case expects; empty if the case passes. */
export function findFailures(expectation: Expectation, run: CaseRun): Difference[] {
  const ending = findEndingFailures(expectation, run)
  return [
    ...(ending ?? findOutputFailures(expectation, run.output ?? {})),
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
  return [{ pointer: '', message: `${wanted}the run failed with ${code}: ${message}` }]
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
