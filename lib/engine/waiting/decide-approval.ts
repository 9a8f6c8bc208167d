import { isDeepStrictEqual } from 'node:util'
import { type ExecutionReference, resolveExecutionId } from '../../access/executions.ts'
import { targetOf } from '../../core/audit-request.ts'
import { type ExecutionSummary, isFinal } from '../../core/execution.ts'
import { shortId } from '../../core/ids.ts'
import { containsExactNumber, type JsonObject } from '../../core/json/json.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import { MAX_EDITED_INPUT_BYTES } from '../../core/limits.ts'
import type { TokenStore } from '../../core/ports/access.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { RunQueue } from '../../core/ports/queues.ts'
import type { System } from '../../core/ports/system.ts'
import { Forbidden, InputSchemaMismatch } from '../../core/request-errors.ts'
import {
  ApprovalDecided,
  ApprovalNotFound,
  ExecutionEnded,
  ExecutionNotFound,
} from '../../core/resource-errors.ts'
import type { RecordedStep, StepStore } from '../../core/step.ts'
import type { Decision } from '../../core/wait.ts'
import { addDefaults } from '../../tools/add-defaults.ts'
import { isoNow } from '../engine.ts'
import {
  type Approval,
  approvalsOf,
  readStep,
  readSteps,
  storedDecision,
  timedOut,
  toResult,
} from './approvals.ts'
import { openDecider } from './open-decider.ts'
import { sendWake } from './wake.ts'

export type DecisionStores = {
  executions: Pick<ExecutionStore, 'getSummary' | 'getSuspended' | 'isVisible' | 'postpone'>
  steps: Pick<StepStore, 'appendResult' | 'list'>
  tokens: Pick<TokenStore, 'get'>
  queue: RunQueue
  system: System
  times?: LeaseTimes
}

export type Deciding = ExecutionReference & {
  approvalId: string
  decision: 'approve' | 'reject'
  /** Replaces the arguments of the call, or the data of the wait. Null: unchanged. */
  input: JsonObject | null
  note: string | null
}

/** What the audit log says of a decision. */
export function describeDecision({ access, executionId, approvalId, decision, input }: Deciding) {
  const { organizationId } = access
  const action = 'approval.decide' as const
  const target = targetOf(action, organizationId, { executionId, approvalId })
  return { organizationId, action, target, changes: { decision, isEdited: input !== null } }
}

/**
 * Decides on an approval, once: the first decision or timeout that is stored counts. The same decision again returns
 * the stored one, with its note. The run resumes if it is suspended.
 * @throws ExecutionNotFound, ApprovalNotFound, Forbidden, ApprovalDecided, ExecutionEnded, InputSchemaMismatch,
 * Unavailable: then the decision may be stored, and has to be sent again
 */
export async function decideApproval(
  stores: DecisionStores,
  { approvalId, decision, input, note, ...reference }: Deciding,
): Promise<Decision & { id: string; executionId: string }> {
  const { executions, system } = stores
  const { access } = reference
  if (input && decision === 'reject')
    throw new InputSchemaMismatch([{ path: '/input', message: '/input is only allowed with approve.' }])
  const id = await resolveExecutionId(executions, reference)
  const execution = await executions.getSummary({ organizationId: access.organizationId, id })
  if (!execution) throw new ExecutionNotFound()
  const { approval, recorded } = await findApproval(stores.steps, execution, approvalId)
  if (!(await openDecider(stores.tokens, access)(approval, execution)))
    throw new Forbidden(
      'The token that started the execution cannot decide on this approval, nor can a token that it or the same person has created.',
    )
  const { tokenId, tokenName } = access
  // Anyone can choose the name of a token.
  const by = tokenName ? `${tokenName} (${shortId(tokenId)})` : tokenId
  const given: Decision = { decision, note, by, decidedAt: isoNow(system), input }
  const stored = storedDecision(recorded, approvalId) ?? (await store(stores, execution, approval, given))
  if (stored.decision !== decision || !isDeepStrictEqual(stored.input, input))
    throw new ApprovalDecided(stored.decision)
  // A worker that suspends it writes first and reads the decisions then: one of the two sees the other.
  const current = execution.suspension ? execution : await executions.getSummary(execution)
  if (current && !isFinal(current)) await sendWake(stores, current)
  return { id: approvalId, executionId: id, ...stored }
}

/** @throws ApprovalNotFound */
async function findApproval(
  steps: DecisionStores['steps'],
  { id: executionId, suspension }: ExecutionSummary,
  id: string,
): Promise<{ approval: Approval; recorded: RecordedStep }> {
  const find = (recorded: RecordedStep | null) => {
    const approval = recorded && approvalsOf(recorded).find((each) => each.id === id)
    return approval ? { approval, recorded } : null
  }
  const number = suspension?.waits.find((wait) => wait.id === id)?.step
  const waiting = number === undefined ? null : find(await readStep(steps, executionId, number))
  if (waiting) return waiting
  // It is decided, or the run is executing the other calls of its step.
  for await (const recorded of readSteps(steps, executionId)) {
    const found = find(recorded)
    if (found) return found
  }
  throw new ApprovalNotFound()
}

/** Stores the decision, or the timeout if it is too late for one. Returns what is stored. */
async function store(
  { steps, system }: DecisionStores,
  execution: ExecutionSummary,
  approval: Approval,
  given: Decision,
): Promise<Decision> {
  if (isFinal(execution)) throw new ExecutionEnded(execution.id)
  const isLate = Date.parse(approval.until) <= system.now()
  if (!isLate && given.input) await checkInput(given.input, approval.inputSchema)
  const decision = isLate ? timedOut(given.decidedAt) : given
  const { id, since, step: number } = approval
  const result = toResult(id, since, decision)
  const kept = await steps.appendResult({
    ...{ executionId: execution.id, number, result },
    ...(!isLate && { decidedIn: execution.organizationId }),
  })
  return storedDecision({ results: new Map([[id, kept]]) }, id) ?? decision
}

/** @throws InputSchemaMismatch */
async function checkInput(input: JsonObject, inputSchema: JsonObject | null): Promise<void> {
  const invalid = (message: string) =>
    new InputSchemaMismatch([{ path: '/input', message: `/input ${message}.` }])
  if (containsExactNumber(input)) throw invalid('has a number with more digits than a double holds')
  if (Buffer.byteLength(JSON.stringify(input)) > MAX_EDITED_INPUT_BYTES)
    throw invalid(`must have at most ${MAX_EDITED_INPUT_BYTES} bytes of JSON`)
  if (!inputSchema) return
  // Loaded on demand: most decisions change nothing.
  const [{ toValidator }, { loadPatterns }] = await Promise.all([
    import('../../tools/call-tool.ts'),
    import('../../schema/patterns/load-pattern-engine.ts'),
  ])
  await loadPatterns(inputSchema)
  const violations = toValidator(inputSchema)(addDefaults(input, inputSchema))
  if (violations.length > 0)
    throw new InputSchemaMismatch(
      violations.map(({ path, message }) => ({
        path: `/input${path}`,
        message: message.replace(/^\//, '/input/'),
      })),
    )
}
