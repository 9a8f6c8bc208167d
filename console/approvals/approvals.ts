import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { isJsonObject } from '../../lib/core/json/json.ts'
import { parseJsonPointer } from '../../lib/core/json/pointer.ts'
import { findTexts, shorten } from '../components/format.ts'
import { preview, toNode } from '../components/json-tree.ts'

/** Identifies an approval. Its ID alone does not: that of a wait is the same in every run of a code agent. */
export const keyOf = ({ executionId, id }: Pick<ApprovalRecord, 'executionId' | 'id'>): string =>
  `${executionId}.${id}`

/** What the document of the tool says that decides, by name: `orderId`, `customer › name`. */
export function shownValues({ show, input }: Pick<ApprovalRecord, 'show' | 'input'>): Record<string, string> {
  const values = show.map((pointer) => {
    const names = parseJsonPointer(pointer)
    const value = names.reduce<unknown>(memberOf, input)
    const node = toNode(value)
    const text = value === undefined ? '–' : 'size' in node ? preview(value) : shorten(node.text, 500)
    return [names.join(' › '), text]
  })
  return Object.fromEntries(values)
}

const memberOf = (value: unknown, name: string): unknown =>
  (Array.isArray(value) || isJsonObject(value)) && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** What an approval is about: the first of the values that decide, such as the order; without any, the whole input. */
export function subjectOf(approval: ApprovalRecord): string {
  const { documentId, name, input } = approval
  const [first] = Object.entries(shownValues(approval))
  return JSON.stringify([documentId, name, first ?? input])
}

export const findSame = (approval: ApprovalRecord, others: ApprovalRecord[]): ApprovalRecord[] =>
  others.filter((each) => keyOf(each) !== keyOf(approval) && subjectOf(each) === subjectOf(approval))

/** Null for what is no key. */
export function parseKey(key: string): Pick<ApprovalRecord, 'executionId' | 'id'> | null {
  const [executionId = '', id = '', ...more] = key.split('.')
  return executionId === '' || id === '' || more.length > 0 ? null : { executionId, id }
}

export const searchApprovals = (approvals: ApprovalRecord[], search: string): ApprovalRecord[] =>
  findTexts(approvals, ({ title, name }) => `${title}\n${name}`, search)

/** The key of what is next after a decision: what follows it in the list, else what precedes it. */
export function nextKey(keys: string[], decided: string): string | null {
  const index = keys.indexOf(decided)
  return keys[index + 1] ?? keys[index - 1] ?? null
}

/** A list with what a newer one, which is complete, no longer has left out. `hasNew`: the newer one has more. */
export function mergeOpen<T extends Pick<ApprovalRecord, 'executionId' | 'id'>>(
  listed: T[],
  newest: Pick<ApprovalRecord, 'executionId' | 'id'>[],
): { remaining: T[]; hasNew: boolean } {
  const [known, open] = [new Set(listed.map(keyOf)), new Set(newest.map(keyOf))]
  const remaining = listed.filter((each) => open.has(keyOf(each)))
  return {
    remaining: remaining.length === listed.length ? listed : remaining,
    hasNew: newest.some((each) => !known.has(keyOf(each))),
  }
}

/** What became of an approval. `by` is null after a timeout, `input` if it was not edited. */
export type Outcome = {
  decision: 'approve' | 'reject' | 'timeout'
  by: string | null
  decidedAt: string
  note: string | null
  input: unknown
}

/** `title`, `asked`: what was asked. `outcome`: null if the steps contain no decision. */
export type PastApproval = { title: string; asked: unknown; outcome: Outcome | null }

/** An approval in the steps of its run; null if they do not contain it. */
export function findPastApproval(steps: StepRecord[], id: string): PastApproval | null {
  for (const { wait, result, toolCalls } of steps) {
    if (wait?.kind === 'approval' && wait.id === id)
      return { title: String(wait.title ?? ''), asked: wait.data, outcome: toOutcome(result) }
    const call = toolCalls?.find(({ approval }) => approval?.id === id)
    if (call)
      return {
        title: `May the agent call ${call.name}?`,
        asked: call.input,
        outcome: toOutcome(call.approval),
      }
  }
  return null
}

function toOutcome(value: unknown): Outcome | null {
  const { decision, by, decidedAt, note, input } = (value ?? {}) as Partial<Outcome>
  if (decision === undefined) return null
  return { decision, by: by ?? null, decidedAt: decidedAt ?? '', note: note ?? null, input: input ?? null }
}

/** `Approved by Ann`, `Nobody decided in time` */
export function describeOutcome({ decision, by, input }: Outcome): string {
  if (decision === 'timeout') return 'Nobody decided in time'
  const what = decision === 'reject' ? 'Rejected' : input === null ? 'Approved' : 'Approved with changes'
  return by === null ? what : `${what} by ${by}`
}

/** The time that is left, in milliseconds; 0 when it is over. */
export const timeLeft = (until: string, now: number): number => Math.max(Date.parse(until) - now, 0)
