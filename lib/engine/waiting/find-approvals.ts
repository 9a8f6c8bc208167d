import type { Access } from '../../core/access.ts'
import type { ListPosition } from '../../core/cursor.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { MAX_PAGE_BYTES, PAGE_SIZE } from '../../core/limits.ts'
import type { Page, System } from '../../core/ports.ts'
import type { RecordedStep, StepStore } from '../../core/step.ts'
import { storedDecision } from './decisions.ts'

/** Something that somebody has to decide on. */
export type Approval = {
  id: string
  /** Of the tool, or of the wait in a code agent. */
  name: string
  title: string
  /** The arguments of the call, or the data of the wait. */
  input: Json
  since: string
  until: string
  /** The number of its step. */
  step: number
  /** Whether the token that started the run cannot decide. */
  notByCaller: boolean
  /** What an edited input must match; null if only that it is an object. */
  inputSchema: JsonObject | null
}

type Steps = Pick<StepStore, 'list'>

/** The approvals of a step: of its calls, or of the wait that it is. */
export function approvalsOf({ step }: RecordedStep): Approval[] {
  const { number, startedAt, finishedAt } = step
  if (step.kind === 'WAIT' && step.wait.kind === 'approval') {
    const { id, title, data: input, until } = step.wait
    const given = { id, name: step.name, title, input, since: startedAt, until, step: number }
    return [{ ...given, notByCaller: false, inputSchema: null }]
  }
  if (step.kind !== 'MODEL') return []
  return step.calls.flatMap(({ name, input, approval }) => {
    if (!approval) return []
    const { id, until, notByCaller = false, inputSchema } = approval
    const title = `May the agent call ${name}?`
    return [{ id, name, title, input, since: finishedAt, until, step: number, notByCaller, inputSchema }]
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

/** Whether a token with the scope `approve` may decide on an approval of an execution that it may see. */
export const mayDecide = (
  { notByCaller }: Pick<Approval, 'notByCaller'>,
  { tokenId }: Pick<ExecutionSummary, 'tokenId'>,
  access: Pick<Access, 'tokenId'>,
): boolean => !notByCaller || tokenId !== access.tokenId

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
export async function* readSteps(steps: Steps, executionId: string): AsyncGenerator<RecordedStep> {
  let after: ListPosition | null = null
  do {
    const page: Page<RecordedStep> = await steps.list({ executionId, after, ...PAGE })
    yield* page.items
    after = page.next
  } while (after)
}

const PAGE = { limit: PAGE_SIZE.max, maxBytes: MAX_PAGE_BYTES }
