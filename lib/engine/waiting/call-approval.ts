import { isJsonObject, type JsonObject } from '../../core/json/json.ts'
import type { ToolCall, ToolDeclaration } from '../../core/model.ts'
import type { System } from '../../core/ports/system.ts'
import type { ModelStep, RecordedModelStep, StepCall } from '../../core/step.ts'
import type { ApprovalRule, CallApproval, Decision } from '../../core/wait.ts'
import { compileValidator, isUnchecked } from '../../schema/validate/validate.ts'
import { addDefaults } from '../../tools/add-defaults.ts'
import { toValidator } from '../../tools/call-tool.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { isoNow } from '../engine.ts'
import { approvalIdOf, storedDecision, timedOut, toResult } from './approvals.ts'
import { CallWaits } from './call-waits.ts'

/**
 * The calls of a response, each with the approval that it needs. It is stored with the step, so that every worker and
 * every approver sees the same, whatever becomes of the tool.
 */
export function withApprovals(
  calls: ToolCall[],
  { number, finishedAt }: Pick<ModelStep, 'number' | 'finishedAt'>,
  declarations: ToolDeclaration[],
): StepCall[] {
  return calls.map((call) => {
    const tool = declarations.find(({ name }) => name === call.name)
    if (!tool?.approval || !needsApproval(call, tool.inputSchema, tool.approval)) return call
    const { timeoutSeconds, notByCaller, show } = tool.approval
    const until = new Date(Date.parse(finishedAt) + timeoutSeconds * 1_000).toISOString()
    const id = approvalIdOf({ number }, call.id)
    const approval: CallApproval = {
      id,
      until,
      ...(notByCaller && { notByCaller }),
      ...(show && { show }),
      inputSchema: tool.inputSchema,
    }
    return { ...call, approval }
  })
}

/** False for a call that fails at once. What cannot be checked needs an approval. */
function needsApproval(call: ToolCall, inputSchema: JsonObject, { when }: ApprovalRule): boolean {
  if (call.error !== null) return false
  const input = addDefaults(call.input, inputSchema)
  if (!isJsonObject(input) || toValidator(inputSchema)(input).length > 0) return false
  if (!when) return true
  try {
    const violations = compileValidator(when)(input)
    return violations.length === 0 || isUnchecked(violations)
  } catch {
    return true
  }
}

/**
 * The decision on a call, null if it needs none. What is stored counts, then the time.
 * @throws CallWaits if nobody has decided, AttemptStopped, Unavailable
 */
export async function decisionOn(
  { approval, name }: StepCall,
  recorded: RecordedModelStep,
  { journal, system }: { journal: Pick<Journal, 'appendResult'>; system: System },
): Promise<Decision | null> {
  if (!approval) return null
  const { id, until } = approval
  const { number, finishedAt: since } = recorded.step
  if (!recorded.results.has(id)) {
    if (Date.parse(until) > system.now())
      throw new CallWaits([{ kind: 'approval', name, since, until, id, step: number }])
    await journal.appendResult(recorded, toResult(id, since, timedOut(isoNow(system))))
  }
  return storedDecision(recorded, id)
}
