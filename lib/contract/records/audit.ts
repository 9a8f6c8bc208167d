import * as z from 'zod'
import {
  ACTOR_KINDS,
  AUDIT_ACTIONS,
  AUDIT_INTERFACES,
  AUDIT_RESULTS,
  type AuditEntry,
  TARGET_KINDS,
} from '../../core/audit.ts'
import { schema } from './fields.ts'

/** An entry of the audit log. */
export const auditRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      id: z.uuid(),
      at: z.iso.datetime().describe('When the change started.'),
      actor: z.object({
        kind: z
          .enum(ACTOR_KINDS)
          .describe(
            'token: an API token. subject: a person or a program that the identity provider knows. cli: a command that works on the table.',
          ),
        id: z
          .string()
          .describe(
            'Of the token; of a subject, a UUIDv5 of issuer and subject; of a command, the ARN of the AWS caller, or the user and the host.',
          ),
        name: z.string().optional(),
        subject: z.string().optional().describe('As the identity provider calls it.'),
      }),
      source: z.object({
        interface: z.enum(AUDIT_INTERFACES),
        ip: z
          .string()
          .optional()
          .describe('The address that the request came from, without regard to headers.'),
        userAgent: z.string().optional().describe('At most 200 characters, as the client claims.'),
        host: z.string().optional().describe('The machine that the command ran on.'),
      }),
      action: z.enum(AUDIT_ACTIONS),
      target: z.object({
        kind: z.enum(TARGET_KINDS),
        id: z.string().nullable().describe('Null if nothing was created.'),
        agentId: z
          .string()
          .optional()
          .describe('The agent of a version, of a schedule, or of a trial that was started.'),
        executionId: z.string().optional().describe('Of an approval.'),
      }),
      // Not a union of scalars, lists and objects: generators for Java write no valid code for it.
      changes: z
        .record(z.string(), z.unknown())
        .describe(
          'What was requested, without secrets, inputs and notes: texts, numbers, booleans, null, and lists of these; objects with `from` and `to` where the change knows both. Of URLs, only the origin.',
        ),
      result: z
        .enum(AUDIT_RESULTS)
        .describe(
          'STARTED: the change is in progress, or its result could not be stored: it may have been made. FAILED with `InternalError` or `Unavailable`: a part of it may have been made.',
        ),
      error: z.string().optional().describe('The code of the error. Present if the result is FAILED.'),
    })
    .meta({ id: 'AuditEntry' }),
)

export type AuditRecord = z.infer<typeof auditRecord>

export const toAuditRecord = ({ organizationId: _, ...entry }: AuditEntry): AuditRecord => entry
