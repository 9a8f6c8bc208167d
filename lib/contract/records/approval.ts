import * as z from 'zod'
import { maskMacs } from '../../core/callback-mac.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { CallResult } from '../../core/step.ts'
import type { CallApproval, Decision } from '../../core/wait.ts'
import { jsonObject, nullableText, schema } from './fields.ts'

export const decisionFields = /* @__PURE__ */ schema(() => ({
  decision: z.enum(['approve', 'reject', 'timeout']),
  by: nullableText.describe(
    'The name and the short ID of the token that decided: `Ann (01a2003a…9251)`. Null after a timeout.',
  ),
  note: nullableText,
  decidedAt: z.iso.datetime(),
  input: jsonObject.nullable().describe('What the approver replaced the input by. Null if it is unchanged.'),
}))

export const callApprovalRecord = /* @__PURE__ */ schema(() =>
  z.object({
    id: z.string(),
    until: z.iso.datetime(),
    ...z.object(decisionFields).partial().shape,
  }),
)

export const decisionRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      id: z.string().describe('The ID of the approval.'),
      executionId: z.uuid(),
      ...decisionFields,
      decision: z.enum(['approve', 'reject']),
    })
    .meta({ id: 'Decision' }),
)

export const approvalRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      id: z.string(),
      executionId: z.uuid(),
      documentId: z.uuid().describe('The agent that asks.'),
      versionId: z.uuid(),
      tenantId: nullableText,
      name: z.string().describe('The name of the tool, or of the wait in a code agent.'),
      title: z.string(),
      input: z
        .unknown()
        .optional()
        .describe(
          'The arguments of the call with their defaults, or the data of the wait. Absent in a summary.',
        ),
      show: z
        .array(z.string())
        .describe('JSON Pointers into `input`: the values that decide, as the document of the tool says.'),
      reason: nullableText
        .optional()
        .describe(
          'What the model said before its call. Null for the wait of a code agent, and if it said nothing. Absent in a summary.',
        ),
      inputSchema: jsonObject
        .nullable()
        .optional()
        .describe(
          'The JSON Schema that an edited input must match. Null for the wait of a code agent, whose data can be any object. Absent in a summary.',
        ),
      mayDecide: z
        .boolean()
        .describe(
          'Whether this token may decide. False without the scope `approve`. If the tool says `notByCaller`, also false for the token that started the execution, and for every token that it or the same person has created.',
        ),
      since: z.iso.datetime(),
      until: z.iso.datetime(),
      step: z.int().describe('The number of the step.'),
      decided: z.object(decisionFields).optional().describe('The decision. Absent while it is open.'),
    })
    .meta({ id: 'Approval' }),
)

export type DecisionRecord = z.infer<typeof decisionRecord>

export type ApprovalRecord = z.infer<typeof approvalRecord>

type Listed = Pick<
  ApprovalRecord,
  'id' | 'name' | 'title' | 'input' | 'show' | 'since' | 'until' | 'step'
> & {
  inputSchema: JsonObject | null
  reason: string | null
  decided?: Decision
  execution: Pick<ExecutionSummary, 'id' | 'agentId' | 'versionId' | 'tenantId'>
}

type Reader = {
  mayDecide: boolean
  isSummary: boolean
}

export const toApprovalRecord = (
  { execution, ...approval }: Listed,
  { mayDecide, isSummary }: Reader,
): ApprovalRecord => ({
  id: approval.id,
  executionId: execution.id,
  documentId: execution.agentId,
  versionId: execution.versionId,
  tenantId: execution.tenantId,
  name: approval.name,
  title: maskMacs(approval.title),
  show: approval.show,
  ...(!isSummary && {
    input: maskMacs(approval.input),
    inputSchema: approval.inputSchema,
    reason: maskMacs(approval.reason),
  }),
  mayDecide,
  since: approval.since,
  until: approval.until,
  step: approval.step,
  ...(approval.decided && { decided: approval.decided }),
})

export function toCallApproval({ id, until }: CallApproval, decided: CallResult | undefined) {
  return { id, until, ...(decided?.result.ok && (decided.result.value as Decision)) }
}
