import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { ServiceError } from '../../../lib/core/errors.ts'
import type { HttpResponse } from '../../../lib/http/event.ts'
import { toProblemResult } from '../../../lib/http/problem-details.ts'
import { anItem, aTrial } from '../../support/a-trial.ts'
import {
  AGENT_ID,
  aBatch,
  aComparisonRecord,
  aDelivery,
  aLimitsRecord,
  aMe,
  anAgentRecord,
  anAgreement,
  anApproval,
  anAuditEntry,
  anExecutionRecord,
  aSchedule,
  aScore,
  aScoreRow,
  aStepRecord,
  aToken,
  aUsageRow,
  aVersionRecord,
  aVersionWithDocument,
  aWebhook,
  someScoreSums,
} from './records.ts'
import type { Answers } from './start-stub.ts'

const trial = aTrial({ SAME: 1 })
const someLimits = { ...aLimitsRecord('acme'), spentUsd: { day: 1, month: 2 }, openExecutions: 3 }

/** One of everything, for every page. */
export const plainAnswers: Answers = {
  'check-health': () => ({ status: 200, body: { status: 'ok' } }),
  'get-me': () => ({ status: 200, body: aMe() }),
  'list-agents': () => ({ status: 200, body: [anAgentRecord()] }),
  'get-agent': () => ({ status: 200, body: anAgentRecord() }),
  'list-versions': () => ({ status: 200, body: [aVersionRecord()] }),
  'get-version': () => ok(aVersionWithDocument({ scorers: [{ agent: 'faithful', min: 0.7 }] })),
  'get-scores': () => ok([aScoreRow()]),
  'get-agreement': () => ok([anAgreement()]),
  'list-executions': () => ok([anExecutionRecord(0, { scores: [aScore()] })]),
  'list-agent-executions': () => ({ status: 200, body: [anExecutionRecord(0)] }),
  'get-execution': () => ok(anExecutionRecord(0, { scores: [aScore()] })),
  'compare-executions': () => ({ status: 200, body: aComparisonRecord() }),
  'list-steps': () => ({ status: 200, body: [aStepRecord(1)] }),
  'get-usage': () => ({
    status: 200,
    body: [aUsageRow({ start: new Date().toISOString(), agentId: AGENT_ID, tenantId: 'acme' })],
  }),
  'list-approvals': () => ({ status: 200, body: [anApproval(1)] }),
  'list-batches': () => ({ status: 200, body: [aBatch(1)] }),
  'get-batch': () => ({ status: 200, body: aBatch(1) }),
  'list-batch-executions': () => ({ status: 200, body: [] }),
  'list-schedules': () => ({ status: 200, body: [aSchedule()] }),
  'get-schedule': () => ({ status: 200, body: aSchedule() }),
  'list-limits': () => ({ status: 200, body: [] }),
  'get-tenant-limits': () => ({ status: 200, body: someLimits }),
  'list-tokens': () => ({ status: 200, body: [aToken(1)] }),
  'list-audit-entries': () => ({ status: 200, body: [anAuditEntry(1)] }),
  'list-webhooks': () => ({ status: 200, body: [aWebhook()] }),
  'get-webhook': () => ({ status: 200, body: aWebhook() }),
  'list-deliveries': () => ({ status: 200, body: [aDelivery(1)] }),
  'list-trials': () => ({ status: 200, body: [aTrial({ SAME: 1 })] }),
  'get-trial': () => ok({ ...trial, sums: { ...trial.sums, scores: [someScoreSums()] } }),
  'list-trial-items': () =>
    ok([anItem('SAME', [], { scores: [{ agent: 'faithful', original: 0.8, trial: 0.7 }] })]),
}

const INSTANCE = 'request-1'

export function ok(body: unknown): HttpResponse {
  return { status: 200, body }
}

/** What the service responds to an error. */
export function failure(error: ServiceError): HttpResponse {
  const { statusCode, headers, body } = toProblemResult(error, INSTANCE)
  return { status: statusCode, headers: headers as Record<string, string>, body: JSON.parse(body) }
}

/** The page of a list that is asked for, with a link to the next one. */
export function pageOf(
  items: unknown[],
  { path, queryStringParameters }: APIGatewayProxyEvent,
): HttpResponse {
  const { limit = '50', cursor = '0' } = queryStringParameters ?? {}
  const end = Number(cursor) + Number(limit)
  const next = new URLSearchParams({ ...queryStringParameters, limit, cursor: String(end) } as Record<
    string,
    string
  >)
  return {
    ...ok(items.slice(Number(cursor), end)),
    ...(end < items.length && { headers: { Link: `<${path}?${next}>; rel="next"` } }),
  }
}
