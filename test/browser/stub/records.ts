import type { AgentRecord, VersionDetails, VersionRecord } from '../../../lib/contract/records/agent.ts'
import type { ApprovalRecord } from '../../../lib/contract/records/approval.ts'
import type { AuditRecord } from '../../../lib/contract/records/audit.ts'
import type { BatchRecord } from '../../../lib/contract/records/batch.ts'
import type { ComparisonRecord } from '../../../lib/contract/records/comparison.ts'
import type { ExecutionRecord, ExecutionSummaryRecord } from '../../../lib/contract/records/execution.ts'
import type { ScheduleRecord } from '../../../lib/contract/records/schedule.ts'
import type { AgreementRecord, ScoreRowRecord } from '../../../lib/contract/records/score.ts'
import type { StepRecord } from '../../../lib/contract/records/step.ts'
import type { TokenRecord } from '../../../lib/contract/records/token.ts'
import type { UsageRowRecord } from '../../../lib/contract/records/usage.ts'
import type { DeliveryRecord, WebhookRecord } from '../../../lib/contract/records/webhook.ts'
import type { UsageLimits } from '../../../lib/core/usage-limits.ts'

const STARTED_AT = Date.parse('2026-11-20T09:00:00.000Z')

/** A UUID with the number at its end. */
export const idOf = (number: number): string => `01a20000-0000-7000-8000-${String(number).padStart(12, '0')}`

const timeOf = (ms: number) => new Date(STARTED_AT + ms).toISOString()

const ORGANIZATION_ID = idOf(1)
export const AGENT_ID = idOf(2)
export const VERSION_ID = idOf(3)

export const aMe = () => ({
  organizationId: ORGANIZATION_ID,
  tokenId: idOf(4),
  subject: null,
  scopes: ['run', 'read', 'manage', 'review'],
  agents: null,
  ...{ tenantId: null, rate: null, httpPublishing: true },
})

const aUsage = () => ({
  inputTokens: 1_200,
  outputTokens: 85,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: null,
})

export const anAgentRecord = (overrides: Partial<AgentRecord> = {}): AgentRecord => ({
  id: AGENT_ID,
  orgId: ORGANIZATION_ID,
  slug: 'triage-ticket',
  title: 'Triage ticket',
  description: 'Determines the priority of a ticket.',
  createdBy: idOf(5),
  createdAt: timeOf(0),
  updatedAt: timeOf(0),
  currentVersionId: VERSION_ID,
  draftVersionId: null,
  draftVersionStatus: null,
  inputSchema: { text: { type: 'string', description: 'The text.' } },
  outputSchema: { text: { type: 'string', description: 'The text.' } },
  archivedAt: null,
  rollout: null,
  ...overrides,
})

export const aVersionWithDocument = (overrides: Partial<VersionDetails> = {}): VersionDetails => ({
  ...aVersionRecord(),
  ...{ instructions: 'Sort the ticket.', tools: [], env: [], code: false, modelSettings: {} },
  frontMatter: { title: 'Triage ticket', input: {}, output: {}, execution: {} },
  ...overrides,
})

type ScoreRecord = NonNullable<ExecutionRecord['scores']>[number]

/** What a scorer has said about a run. */
export const aScore = (overrides: Partial<ScoreRecord> = {}): ScoreRecord => ({
  ...{ agent: 'faithful', executionId: idOf(9), versionId: VERSION_ID },
  ...{ score: 0.25, reason: 'The input names no price.', error: null },
  ...overrides,
})

export const anAgreement = (overrides: Partial<AgreementRecord> = {}): AgreementRecord => ({
  ...{ scorer: 'faithful', runs: 20, kappa: 0.6 },
  ...{ highLiked: 9, highDisliked: 1, lowLiked: 3, lowDisliked: 7 },
  ...overrides,
})

export const aScoreRow = (overrides: Partial<ScoreRowRecord> = {}): ScoreRowRecord => ({
  ...{ start: timeOf(0), agentId: AGENT_ID, versionId: VERSION_ID, scorer: 'faithful' },
  ...{ runs: 20, mean: 0.8, deviation: 0.1, low: 2, failed: 1 },
  ...overrides,
})

/** What a scorer says about the sides of a trial. */
export const someScoreSums = (agent = 'faithful') => ({
  ...{ agent, runs: 20, unscored: 1, wins: 4, losses: 6, ties: 10 },
  original: { mean: 0.8, low: 0.75, high: 0.85 },
  trial: { mean: 0.78, low: 0.72, high: 0.84 },
  difference: { mean: -0.02, low: -0.06, high: 0.03 },
})

export const aVersionRecord = (overrides: Partial<VersionRecord> = {}): VersionRecord => ({
  ...{ id: VERSION_ID, documentId: AGENT_ID, status: 'PUBLISHED', title: 'Triage ticket', description: null },
  ...{
    message: null,
    createdBy: idOf(5),
    ...{ number: 3, promotedAt: null, promotedBy: null },
    createdAt: timeOf(0),
    retiredAt: null,
    model: 'openai/gpt-5-mini',
    useDynamicLearning: false,
    learning: { feedback: 'reviewed', unrated: false },
    toolNames: [],
  },
  ...{ contentHash: 'a'.repeat(64), documentHash: 'b'.repeat(64), codeHash: null },
  inputSchema: anAgentRecord().inputSchema,
  outputSchema: anAgentRecord().outputSchema,
  execution: {
    ...{ useCache: false, cacheTtlSeconds: null, maxAgentSteps: 10, timeoutSeconds: null },
    enforceInputSchema: false,
    ...{ maxAgentStepsAllowed: 10, models: null },
    ...{ maxTokens: null, maxCostUsd: null },
    ...{ maxParallelToolCalls: 20, maxChildren: 32 },
  },
  ...overrides,
})

/** @param number a higher one is older */
export const anExecutionRecord = (
  number: number,
  overrides: Partial<ExecutionRecord> = {},
): ExecutionRecord => ({
  ...{
    id: idOf(1_000_000 - number),
    documentId: AGENT_ID,
    versionId: VERSION_ID,
    selectedBy: 'CURRENT',
    tenantId: null,
    status: 'SUCCESS',
    tokenId: null,
    waitingFor: null,
  },
  ...{
    source: 'API',
    input: { text: 'a' },
    output: { text: 'a' },
    error: null,
    inputAdaptations: [],
    cached: false,
  },
  createdAt: timeOf(-number * 1_000),
  startedAt: timeOf(-number * 1_000),
  finishedAt: timeOf(-number * 1_000 + 500),
  ...{
    attempts: 1,
    steps: 1,
    usage: aUsage(),
    costUsd: 0.0004,
    totalUsage: aUsage(),
    totalCostUsd: 0.0004,
    model: 'openai/gpt-5-mini',
    learnedFrom: [],
    feedback: null,
  },
  logs: null,
  ...overrides,
})

/** The same without its payloads. */
export function aRunSummary(number: number, overrides: Partial<ExecutionSummaryRecord> = {}) {
  const { input, output, inputAdaptations, feedback, logs, ...summary } = anExecutionRecord(number)
  return { ...summary, ...overrides }
}

/** Two runs without a difference. */
export const aComparisonRecord = (overrides: Partial<ComparisonRecord> = {}): ComparisonRecord => ({
  left: aRunSummary(0),
  right: aRunSummary(1),
  request: { differences: [] },
  differences: [],
  steps: [{ number: 1, otherNumber: 1, isSame: true, differences: [] }],
  hasMoreSteps: false,
  ...overrides,
})

export const aStepRecord = (number: number, overrides: Partial<StepRecord> = {}): StepRecord => ({
  ...{
    number,
    text: 'I look it up.',
    toolCalls: [],
    stopReason: 'tool-calls',
    attempt: 1,
    usage: aUsage(),
    costUsd: 0.0002,
  },
  startedAt: timeOf(number * 1_000),
  finishedAt: timeOf(number * 1_000 + 400),
  durationMs: 400,
  ...overrides,
})

/** @param number a higher one is older */
export const anAuditEntry = (number: number, overrides: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{ id: idOf(2_000_000 - number), at: '2026-11-20T09:00:00.000Z' },
  actor: { kind: 'token', id: idOf(4), name: 'ci' },
  source: { interface: 'HTTP', ip: '203.0.113.9', userAgent: 'curl/8.14.1' },
  ...{ action: 'limits.put', target: { kind: 'tenant', id: 'acme' } },
  ...{ changes: { maxOpenExecutions: 3 }, result: 'SUCCEEDED' },
  ...overrides,
})

export const aToken = (number: number, overrides: Partial<TokenRecord> = {}): TokenRecord => ({
  id: idOf(700 + number),
  name: `token ${number}`,
  prefix: 'aes_kMBi',
  scopes: ['run', 'read'],
  ...{ agents: null, tenantId: null, rate: null },
  createdAt: '2026-11-20T09:00:00.000Z',
  createdBy: idOf(4),
  ...{ expiresAt: null, revokedAt: null, lastUsedAt: null },
  ...overrides,
})

/** A row that is grouped by nothing. */
export const aUsageRow = (overrides: Partial<UsageRowRecord> = {}): UsageRowRecord => ({
  start: '2026-11-25T20:00:00Z',
  ...{ runs: 1, cacheHits: 0, errors: {}, inputTokens: 1_200, outputTokens: 85 },
  ...{ cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, webSearches: 0 },
  ...{ costUsd: 0.0004, childCostUsd: 0, unpricedRuns: 0, runTimeMs: 500 },
  ...overrides,
})

/** The limits of a tenant, as a list has them. */
export const aLimitsRecord = (tenantId: string, overrides: Partial<UsageLimits> = {}) => ({
  tenantId,
  ...{ maxOpenExecutions: 10, maxRunsPerMinute: 60, maxCostUsd: { day: 5, month: 100 }, warnAt: 0.8 },
  ...{ queueWhenFull: true, updatedAt: '2026-11-25T09:00:00.000Z' },
  costCountedFrom: '2026-11-01T00:00:00.000Z',
  ...overrides,
})

const WEBHOOK_ID = idOf(500)

export const aWebhook = (overrides: Partial<WebhookRecord> = {}): WebhookRecord => ({
  id: WEBHOOK_ID,
  url: 'https://shop.example/events?key=hidden',
  types: ['execution.succeeded', 'execution.failed', 'execution.cancelled', 'execution.waiting'],
  ...{ agents: null, tenants: null, sources: null, allowedHosts: [] },
  ...{ enabled: true, disabledReason: null, failingSince: null },
  createdAt: '2026-11-20T09:00:00.000Z',
  ...overrides,
})

/** @param number a higher one is older */
export const aDelivery = (number: number, overrides: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  id: `evt_${idOf(1_000_000 - number)}_2`,
  webhookId: WEBHOOK_ID,
  executionId: idOf(1_000_000 - number),
  batchId: null,
  type: 'execution.succeeded',
  occurredAt: '2026-11-20T09:00:00.000Z',
  status: 'DELIVERED',
  attempts: 1,
  createdAt: '2026-11-20T09:00:01.000Z',
  attemptedAt: '2026-11-20T09:00:01.000Z',
  nextAttemptAt: null,
  responseStatus: 204,
  error: null,
  ...overrides,
})

const SINCE = '2026-11-20T09:00:00.000Z'

/** @param number of its run: a higher one is older */
export const anApproval = (number: number, overrides: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
  id: String(number).padStart(32, 'a'),
  executionId: idOf(1_000_000 - number),
  ...{ documentId: AGENT_ID, versionId: VERSION_ID, tenantId: null },
  ...{ name: 'refund', title: `Refund ${number}?`, input: { usd: 200 } },
  ...{ inputSchema: null, mayDecide: true, step: 1, show: [], reason: null },
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
