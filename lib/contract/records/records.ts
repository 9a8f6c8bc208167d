import * as z from 'zod'
import { SCOPES } from '../../core/access.ts'
import { MAX_BATCH_LINES } from '../../core/batch.ts'
import { MEDIA_TYPES } from '../../core/media.ts'
import { publishBody, rolloutBody } from '../bodies/agents.ts'
import { limitsBody } from '../bodies/limits.ts'
import { decisionBody, feedbackBody } from '../bodies/replies.ts'
import { scheduleBody } from '../bodies/schedules.ts'
import { tokenBody } from '../bodies/tokens.ts'
import { rerunBody, trialBody } from '../bodies/trials.ts'
import { webhookBody, webhookChanges } from '../bodies/webhooks.ts'
import { agentRecord, versionDetails, versionRecord } from './agent.ts'
import { approvalRecord, decisionRecord } from './approval.ts'
import { auditRecord } from './audit.ts'
import { batchCheckRecord, batchRecord, batchResultRecord, changedBatchRecord } from './batch.ts'
import { comparisonRecord } from './comparison.ts'
import { changedExecutionRecord, executionRecord, executionSummaryRecord } from './execution.ts'
import { limitsDetails, limitsRecord, ownLimits } from './limits.ts'
import { rolloutRecord } from './rollout.ts'
import { scheduleRecord } from './schedule.ts'
import { agreementRecord, scoreRowRecord } from './score.ts'
import { stepRecord } from './step.ts'
import { createdTokenRecord, tokenRecord } from './token.ts'
import { changedTrialRecord, trialRecord } from './trial.ts'
import { trialItemRecord } from './trial-item.ts'
import { usageRowRecord } from './usage.ts'
import {
  createdWebhookRecord,
  deliveryRecord,
  rotatedSecretRecord,
  testResultRecord,
  webhookRecord,
} from './webhook.ts'

/** RFC 9457 problem details, the body of every error. */
export const problemRecord = z
  .looseObject({
    type: z.string().describe('A URI that identifies the error code.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What is wrong with this request, and how to correct it.'),
    instance: z.string().describe('The request ID. Quote it when you ask for support.'),
    code: z.string(),
    errors: z
      .array(
        z.object({
          path: z.string(),
          message: z.string(),
          line: z.int().optional().describe('In a text that the body contains, from 1.'),
          field: z.string().optional().describe('In a document, as a dotted path.'),
        }),
      )
      .optional()
      .describe('The individual violations.'),
  })
  .meta({ id: 'Problem' })

export type ProblemRecord = z.infer<typeof problemRecord>

export const meRecord = z
  .object({
    organizationId: z.uuid(),
    organizationName: z.string().nullable(),
    environmentName: z.string().nullable().describe('The setting `environmentName`. Null if it is unset.'),
    httpPublishing: z.boolean().describe('Whether agents can be published over HTTP.'),
    tokenId: z.uuid(),
    subject: z
      .string()
      .nullable()
      .describe(
        'Who sends the request, as the identity provider knows it. Null for an API token; otherwise tokenId is derived from it.',
      ),
    scopes: z
      .array(z.enum(SCOPES))
      .describe(
        'read: GET routes. run: start and cancel executions, and give feedback. approve: decide on approvals. review: give feedback that runs learn from. manage: everything else.',
      ),
    agents: z
      .array(z.string())
      .nullable()
      .describe('IDs or slugs of the agents that the token may use. Null for all of them.'),
    tenantId: z.string().nullable().describe('The tenant to which the token is bound. Null if it is not.'),
    rate: z.int().nullable().describe('The requests per second that the token may send. Null for no limit.'),
    limits: ownLimits
      .nullable()
      .describe('The limits of the tenant to which the token is bound. Null without any.'),
  })
  .meta({ id: 'Me' })

export type MeRecord = z.infer<typeof meRecord>

export const signalRecord = z
  .object({ id: z.string(), name: z.string(), data: z.unknown(), receivedAt: z.iso.datetime() })
  .meta({ id: 'Signal' })

const jsonObject = z.record(z.string(), z.unknown())

/** No record has it by name: the schema of an agent decides which fields are files. */
export const fileInput = z
  .object({
    mediaType: z.enum(MEDIA_TYPES),
    data: z.string().meta({
      contentEncoding: 'base64',
      description: 'At most 4,500,000 bytes, and 3,750,000 of an image.',
    }),
  })
  .meta({ id: 'FileInput', description: 'An image or a PDF: the value of an input field with `type: file`.' })

const batchBody = z
  .array(
    z.strictObject({
      customId: z
        .string()
        .min(1)
        .max(100)
        .describe('Names the line in the results. Unique within the batch.'),
      input: jsonObject.describe('The fields of the input schema of the agent.'),
    }),
  )
  .min(1)
  .max(MAX_BATCH_LINES)
  .describe('Or the same objects as lines of JSON, with `Content-Type: application/x-ndjson`.')

const input = jsonObject.describe(
  'The fields of the input schema of the agent. A field with `type: file` is a `FileInput`; a data URL is adapted.',
)

/** Request and response bodies by the names that `routes.ts` uses. Functions do not load this file. */
const records = {
  Agent: agentRecord,
  Agreement: agreementRecord,
  Approval: approvalRecord,
  AuditEntry: auditRecord,
  Batch: batchRecord,
  BatchBody: batchBody,
  BatchCheck: batchCheckRecord,
  BatchResult: batchResultRecord,
  ChangedBatch: changedBatchRecord,
  ChangedExecution: changedExecutionRecord,
  ChangedTrial: changedTrialRecord,
  CreatedToken: createdTokenRecord,
  CreatedWebhook: createdWebhookRecord,
  Decision: decisionRecord,
  DecisionBody: decisionBody,
  Delivery: deliveryRecord,
  Execution: executionRecord,
  ExecutionComparison: comparisonRecord,
  FeedbackBody: feedbackBody,
  Health: z.object({ success: z.boolean() }),
  Input: input,
  Limits: limitsRecord,
  LimitsBody: limitsBody,
  LimitsDetails: limitsDetails,
  ListedExecution: z.union([executionRecord, executionSummaryRecord]),
  McpMessage: jsonObject,
  Me: meRecord,
  OpenApiDocument: jsonObject,
  Output: jsonObject,
  PublishBody: publishBody,
  RerunBody: rerunBody,
  ResourceMetadata: z
    .object({
      resource: z.url(),
      resource_name: z.string(),
      authorization_servers: z.array(z.url()),
      bearer_methods_supported: z.array(z.string()),
      scopes_supported: z.array(z.string()).optional(),
    })
    .meta({ id: 'ResourceMetadata' }),
  Rollout: rolloutRecord,
  RolloutBody: rolloutBody,
  RotatedSecret: rotatedSecretRecord,
  Schedule: scheduleRecord,
  ScheduleBody: scheduleBody,
  ScoreRow: scoreRowRecord,
  SentSignal: z.object({ executionId: z.uuid(), id: z.string() }).meta({ id: 'SentSignal' }),
  Signal: signalRecord,
  SignalData: z.unknown().describe('Any JSON. At most 256,000 bytes.'),
  Step: stepRecord,
  TestResult: testResultRecord,
  Token: tokenRecord,
  TokenBody: tokenBody,
  Trial: trialRecord,
  TrialBody: trialBody,
  TrialItem: trialItemRecord,
  UsageRow: usageRowRecord,
  Version: versionRecord,
  VersionDetails: versionDetails,
  Webhook: webhookRecord,
  WebhookBody: webhookBody,
  WebhookChanges: webhookChanges,
}

export type RecordName = keyof typeof records

/** A record, or an array of them. */
export type ResponseBody = RecordName | readonly [RecordName]

export const getSchema = (body: ResponseBody): z.core.$ZodType =>
  typeof body === 'string' ? records[body] : z.array(records[body[0]])
