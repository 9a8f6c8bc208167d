import type { CallResult, RecordedStep } from '../../core/step.ts'
import type { Decision } from '../../core/wait.ts'

export const timedOut = (decidedAt: string): Decision => ({
  decision: 'timeout',
  note: null,
  by: null,
  decidedAt,
  input: null,
})

/** A decision as it is recorded, under the id of its approval. `since`: when the approval began. */
export const toResult = (id: string, since: string, decision: Decision): CallResult => ({
  callId: id,
  result: { ok: true, value: decision },
  startedAt: since,
  finishedAt: decision.decidedAt,
})

/** The decision that is recorded under the id of an approval; null if none is. */
export function storedDecision({ results }: Pick<RecordedStep, 'results'>, id: string): Decision | null {
  const result = results.get(id)?.result
  return result?.ok ? (result.value as Decision) : null
}

/** What the model has to know about a decision; null if nothing. */
export function describeDecision({ decision, note, input }: Decision): string | null {
  if (decision === 'timeout') return 'The call was not executed: nobody approved it in time.'
  const added = note === null ? [] : [`Note of the approver: ${note}`]
  if (decision === 'reject')
    return ['The call was not executed: an approver rejected it.', ...added].join(' ')
  if (input === null) return note === null ? null : ['An approver approved the call.', ...added].join(' ')
  const changed = `An approver changed the input of the call. It was executed with ${JSON.stringify(input)} instead.`
  return [changed, ...added].join(' ')
}
