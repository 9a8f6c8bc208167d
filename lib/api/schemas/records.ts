import * as z from 'zod'
import type { Body } from '../routes.ts'
import { agentRecord, versionRecord } from './agent-record.ts'
import { executionRecord } from './execution-record.ts'
import { feedbackBody } from './feedback.ts'
import { stepRecord } from './step-record.ts'

const jsonObject = z.record(z.string(), z.unknown())

/** The bodies of requests and answers, by the names that `routes.ts` has for them. For OpenAPI and tests: no function loads it. */
const records = {
  Agent: agentRecord,
  Execution: executionRecord,
  FeedbackBody: feedbackBody,
  Health: z.object({ success: z.boolean() }),
  Input: jsonObject,
  Output: jsonObject,
  Step: stepRecord,
  Version: versionRecord,
}

export type RecordName = keyof typeof records

export const schemaOf = (body: Body): z.core.$ZodType =>
  typeof body === 'string' ? records[body] : z.array(records[body[0]])
