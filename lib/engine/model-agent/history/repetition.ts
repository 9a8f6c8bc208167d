import type { ToolCall, ToolResult } from '../../../core/model.ts'
import { textOf, withText } from './delimit-result.ts'

/** Identical calls in a row after which the model is told, and repetitions of a longer cycle. */
const MAX_REPETITIONS = { call: 5, cycle: 3 }
/** Calls of the longest cycle that is noticed: A, B, A, B has two. */
const MAX_CYCLE = 4

/**
 * Tells a model that it repeats calls, as small ones do. The calls are executed all the same: it may be polling.
 * @returns the result of the next call as the model sees it
 */
export function repetitionNotes() {
  /** Of the last calls, the latest first. */
  const keys: string[] = []
  /** For each length of a cycle, how many of the last calls were the same as the one so many calls before. */
  const repeated = Array<number>(MAX_CYCLE).fill(0)
  return (call: ToolCall, result: ToolResult): ToolResult => {
    const key = `${call.name} ${JSON.stringify(call.input)}`
    for (const [index, count] of repeated.entries()) repeated[index] = key === keys[index] ? count + 1 : 0
    keys.unshift(key)
    keys.splice(MAX_CYCLE)
    const note = describe(call, repeated)
    if (!note) return result
    const advice = 'Use its result, call another tool or return the final result.'
    return withText(result, `${textOf(result)}\n\n${note} ${advice}`)
  }
}

function describe({ name }: ToolCall, [identical = 0, ...cycles]: number[]): string | null {
  if (identical + 1 >= MAX_REPETITIONS.call)
    return `This was call ${identical + 1} in a row of ${name} with the same input.`
  const index = cycles.findIndex((count, at) => count / (at + 2) + 1 >= MAX_REPETITIONS.cycle)
  if (index < 0) return null
  const length = index + 2
  return `This call of ${name} is one of ${length} that were made ${Math.floor((cycles[index] ?? 0) / length) + 1} times in turn.`
}
