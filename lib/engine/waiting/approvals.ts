import { createHash } from 'node:crypto'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { MAX_PAGE_BYTES } from '../../core/limits.ts'
import type { System } from '../../core/ports/system.ts'
import { readPages } from '../../core/read-pages.ts'
import type { CallResult, RecordedStep, Step, StepStore } from '../../core/step.ts'
import type { Decision, Wait } from '../../core/wait.ts'
import { readSetting } from '../../environment.ts'
import { addDefaults } from '../../tools/add-defaults.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** The id of the approval of a tool call: the same whichever worker asks for it. */
export const approvalIdOf = (step: Pick<Step, 'number'>, callId: string): string =>
  digest(`${step.number}-${callId}`)

/** The same of an approval that a code agent waits for, whose name is unique in its run. */
export const approvalIdOfWait = (name: string): string => digest(name)

/** Something that somebody has to decide on. */
export type Approval = {
  id: string
  /** Of the tool, or of the wait in a code agent. */
  name: string
  title: string
  /** The arguments of the call with their defaults, or the data of the wait. */
  input: Json
  since: string
  until: string
  /** The number of its step. */
  step: number
  /** Whether the token that started the run cannot decide, nor one that derives from it. */
  notByCaller: boolean
  /** What an edited input must match; null if only that it is an object. */
  inputSchema: JsonObject | null
  /** JSON Pointers to what decides. */
  show: string[]
  /** What the model said before its call; null for a wait, and if it said nothing. */
  reason: string | null
}

type Steps = Pick<StepStore, 'list'>

/** The approvals of a step: of its calls, or of the wait that it is. */
export function approvalsOf({ step }: RecordedStep): Approval[] {
  const { number, startedAt, finishedAt } = step
  if (step.kind === 'WAIT' && step.wait.kind === 'approval') {
    const { id, title, data: input, until } = step.wait
    const given = { id, name: step.name, title, input, since: startedAt, until, step: number }
    return [{ ...given, notByCaller: false, inputSchema: null, show: [], reason: null }]
  }
  if (step.kind !== 'MODEL') return []
  return step.calls.flatMap(({ name, input, approval }) => {
    if (!approval) return []
    const { id, until, notByCaller = false, inputSchema, show = [] } = approval
    const title = `May the agent call ${name}?`
    const asked = { input: addDefaults(input, inputSchema), inputSchema, notByCaller, show }
    return [{ id, name, title, since: finishedAt, until, step: number, ...asked, reason: step.text || null }]
  })
}

/** The approvals that an execution waits for, without those that are decided or whose time is over. */
export async function openApprovals(
  { steps, system }: { steps: Steps; system: System },
  { id: executionId, suspension }: Pick<ExecutionSummary, 'id' | 'suspension'>,
): Promise<Approval[]> {
  const waits = suspension?.waits.filter(({ kind }) => kind === 'approval') ?? []
  const ids = new Set(waits.map(({ id }) => id))
  const numbers = new Set(waits.flatMap(({ step }) => step ?? []))
  const recorded = await Promise.all([...numbers].map((number) => readStep(steps, executionId, number)))
  return recorded
    .filter((step) => step !== null)
    .flatMap((step) => approvalsOf(step).filter(({ id }) => ids.has(id) && !storedDecision(step, id)))
    .filter(({ until }) => Date.parse(until) > system.now())
}

/** One step of an execution, with its results; null if it does not exist. */
export async function readStep(
  steps: Steps,
  executionId: string,
  number: number,
): Promise<RecordedStep | null> {
  const after = number > 1 ? { order: String(number - 1) } : null
  const { items } = await steps.list({ executionId, limit: 1, after, maxBytes: MAX_PAGE_BYTES })
  return items[0]?.step.number === number ? items[0] : null
}

/** The steps of an execution, with a page in memory. */
export const readSteps = (steps: Steps, executionId: string): AsyncGenerator<RecordedStep> =>
  readPages((page) => steps.list({ executionId, ...page, maxBytes: MAX_PAGE_BYTES }))

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
  const added = note ? [`Note of the approver: ${note}`] : []
  if (decision === 'reject')
    return ['The call was not executed: an approver rejected it.', ...added].join(' ')
  if (input === null) return note ? ['An approver approved the call.', ...added].join(' ') : null
  const changed = `An approver changed the input of the call. It was executed with ${JSON.stringify(input)} instead.`
  return [changed, ...added].join(' ')
}

/** Approvals that a record waits for get the page of the console where people decide. */
export function withLinks(record: { waitingFor?: Wait[] | null }, { id }: Pick<Execution, 'id'>): object {
  const page = `${readSetting('publicUrl') ?? ''}/console#/approvals`
  const waitingFor = record.waitingFor?.map((wait) =>
    wait.kind === 'approval' ? { ...wait, url: `${page}?item=${id}.${wait.id}` } : wait,
  )
  return waitingFor ? { ...record, waitingFor } : record
}
