import * as z from 'zod'
import { agentRecord, versionDetails, versionRecord } from './agent-record.ts'
import { changedExecutionRecord, executionRecord, executionSummaryRecord } from './execution-record.ts'
import { feedbackBody } from './feedback.ts'
import { meRecord } from './me-record.ts'
import { publishBody } from './publish-body.ts'
import { stepRecord } from './step-record.ts'

const jsonObject = z.record(z.string(), z.unknown())

/** Request and response bodies by the names that `routes.ts` uses. For OpenAPI and tests; functions do not load this file. */
const records = {
  Agent: agentRecord,
  ChangedExecution: changedExecutionRecord,
  Execution: executionRecord,
  FeedbackBody: feedbackBody,
  Health: z.object({ success: z.boolean() }),
  Input: jsonObject,
  ListedExecution: z.union([executionRecord, executionSummaryRecord]),
  McpMessage: jsonObject,
  Me: meRecord,
  OpenApiDocument: jsonObject,
  Output: jsonObject,
  PublishBody: publishBody,
  Step: stepRecord,
  Version: versionRecord,
  VersionDetails: versionDetails,
}

export type RecordName = keyof typeof records

/** A record, or an array of them. */
export type ResponseBody = RecordName | readonly [RecordName]

export const getSchema = (body: ResponseBody): z.core.$ZodType =>
  typeof body === 'string' ? records[body] : z.array(records[body[0]])
