import type { AgentRecord, VersionDetails, VersionRecord } from '../../../lib/contract/records/agent.ts'
import type { ComparisonRecord } from '../../../lib/contract/records/comparison.ts'
import type { ExecutionRecord, ExecutionSummaryRecord } from '../../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../../lib/contract/records/step.ts'

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
  tenantId: null,
  rate: null,
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
  ...overrides,
})

export const aVersionRecord = (overrides: Partial<VersionRecord> = {}): VersionRecord => ({
  ...{ id: VERSION_ID, documentId: AGENT_ID, status: 'PUBLISHED', title: 'Triage ticket', description: null },
  ...{
    message: null,
    createdBy: idOf(5),
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
