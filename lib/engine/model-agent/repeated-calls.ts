import type { ToolCall, ToolResult } from '../../core/model.ts'

/** Identical calls in a row after which the model is told. */
const MAX_IDENTICAL_CALLS = 5

/** Tells a model that repeats a call, as small ones do without end. The call is executed all the same: it may be polling. */
export class RepeatedCalls {
  private last = ''
  private count = 0

  /** The result of the next call as the model sees it. */
  annotate({ name, input }: ToolCall, result: ToolResult): ToolResult {
    const key = `${name} ${JSON.stringify(input)}`
    this.count = key === this.last ? this.count + 1 : 1
    this.last = key
    if (this.count < MAX_IDENTICAL_CALLS) return result
    const note = `\n\nThis was call ${this.count} in a row of ${name} with the same input. Use its result, call another tool or return the final result.`
    if (!result.ok) return { ok: false, error: result.error + note }
    const { value } = result
    return { ok: true, value: (typeof value === 'string' ? value : JSON.stringify(value)) + note }
  }
}
