import type { ApprovalRecord } from '../../../lib/contract/records/approval.ts'
import type { BatchRecord } from '../../../lib/contract/records/batch.ts'
import type { ScheduleRecord } from '../../../lib/contract/records/schedule.ts'
import { AGENT_ID, idOf, VERSION_ID } from './records.ts'

const SINCE = '2026-11-20T09:00:00.000Z'

/** @param number of its run: a higher one is older */
export const anApproval = (number: number, overrides: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
  id: String(number).padStart(32, 'a'),
  executionId: idOf(1_000_000 - number),
  ...{ documentId: AGENT_ID, versionId: VERSION_ID, tenantId: null },
  ...{ name: 'refund', title: `Refund ${number}?`, input: { usd: 200 } },
  ...{ inputSchema: null, mayDecide: true, step: 1 },
  since: SINCE,
  until: new Date(Date.now() + 7_200_000).toISOString(),
  ...overrides,
})

export const aBatch = (number: number, overrides: Partial<BatchRecord> = {}): BatchRecord => ({
  id: idOf(2_000_000 - number),
  ...{ documentId: AGENT_ID, versionId: VERSION_ID, tenantId: null, tokenId: null, status: 'ENDED' },
  ...{ lines: 10, counts: { IN_PROGRESS: 0, SUCCESS: 8, ERROR: 2 }, cancelled: 0 },
  ...{ waiting: 0, waitingFor: [] },
  ...{ costUsd: 1.2, maxBatchCostUsd: null, maxConcurrency: 10, enforceInputSchema: null },
  ...{ useCache: null, useDynamicLearning: null, model: null, maxAgentSteps: null, maxTokens: null },
  ...{ maxCostUsd: null, retryOf: null, error: null },
  createdAt: SINCE,
  endedAt: '2026-11-20T09:01:00.000Z',
  ...overrides,
})

export const aSchedule = (overrides: Partial<ScheduleRecord> = {}): ScheduleRecord => ({
  ...{ name: 'nightly', documentId: AGENT_ID, cron: '30 2 * * *', timezone: 'America/New_York' },
  ...{ input: { text: 'a' }, tenantId: null, options: {}, version: null, enabled: true },
  ...{ overlap: 'skip', catchUpSeconds: 3_600, declared: false, tokenId: null },
  ...{ createdAt: SINCE, updatedAt: SINCE, nextRunAt: '2026-11-27T07:30:00.000Z' },
  nextRuns: ['2026-11-27T07:30:00.000Z', '2026-11-28T07:30:00.000Z'],
  firings: [],
  ...overrides,
})
