import * as z from 'zod'
import { audited } from '../access/audit-log.ts'
import { decisionBody, MAX_NOTE_CHARACTERS } from '../contract/bodies/replies.ts'
import { signalHeaders } from '../contract/parameters/runs.ts'
import { decisionRecord } from '../contract/records/approval.ts'
import { actorOf } from '../core/audit-request.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { InputSchemaMismatch } from '../core/request-errors.ts'
import { type Deciding, decideApproval, describeDecision } from '../engine/waiting/decide-approval.ts'
import { sendSignal } from '../engine/waiting/send-signal.ts'
import { checkMembers } from '../http/json-body.ts'
import { EXECUTION_ID, serviceTool } from './service-tool.ts'
import { type McpEngine, type ToolCall, toResult, toToolError } from './tool-call.ts'

export const DECIDE_APPROVAL = serviceTool({
  name: 'decide_approval',
  title: 'Decide on an approval',
  description:
    'Approves or rejects what a run waits for, once and for good. A person decides: ask before you call it. waitingFor of the execution has the ID of the approval.',
  input: z.strictObject({
    executionId: EXECUTION_ID,
    approvalId: z.string().describe('The ID of the approval.'),
    decision: z.enum(['approve', 'reject']),
    note: z.string().max(MAX_NOTE_CHARACTERS).optional().describe('A comment, which the agent gets.'),
    input: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Replaces the arguments that are approved. Only with approve.'),
  }),
  output: decisionRecord,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  scope: 'approve',
  async run(engine, call, { executionId, approvalId, ...body }) {
    // With the rules of the HTTP body, of which JSON Schema can express only some.
    const { note = null } = checkMembers(decisionBody, body as JsonObject, {
      kind: 'field of a decision',
      Mismatch: InputSchemaMismatch,
    })
    const input = (body.input ?? null) as JsonObject | null
    const { decision } = body
    const given = { access: call.access, executionId, approvalId, decision, input, note }
    return toResult(await decideRecorded(engine, call, given))
  },
})

/** Decides on an approval, which the audit log records. */
export function decideRecorded(engine: McpEngine, { source }: Pick<ToolCall, 'source'>, given: Deciding) {
  return audited(engine, { ...describeDecision(given), actor: actorOf(given.access), source }, () =>
    decideApproval(engine, given),
  )
}

export const SEND_SIGNAL = serviceTool({
  name: 'send_signal',
  title: 'Send a signal',
  description:
    'Sends data to a run that waits for a signal of this name, or will. waitingFor of the execution has the names.',
  input: z.strictObject({
    executionId: EXECUTION_ID,
    name: z.string().describe('The name of the signal.'),
    data: z.unknown().describe('Any JSON, up to 256 kB.'),
    idempotencyKey: z.string().optional().describe('Calls with the same key, name and data send one signal.'),
  }),
  output: z.object({ executionId: z.string(), id: z.string().describe('The ID of the signal.') }),
  annotations: { readOnlyHint: false, openWorldHint: false },
  scope: 'run',
  async run(engine, { access }, { executionId, name, data, idempotencyKey }) {
    const { error } = signalHeaders.shape['Idempotency-Key'].safeParse(idempotencyKey)
    if (error) return toToolError(`idempotencyKey ${error.issues[0]?.message}.`)
    return toResult(
      await sendSignal(engine, { access, executionId, name, data: (data ?? null) as Json, idempotencyKey }),
    )
  },
})
