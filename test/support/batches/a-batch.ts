import { type Batch, type LineInput, MAX_CONCURRENCY } from '../../../lib/core/batch.ts'
import { type TrialSums, VERDICTS, type Verdict } from '../../../lib/core/trial.ts'
import { system } from '../../../lib/system.ts'

type NewBatch = { batch: Omit<Batch, 'blocks'>; lines: LineInput[] }

/** Otherwise the sweeper of the shared service has the lines of all tests executed. */
const NOT_DUE_MS = 365 * 86_400_000

/** A batch that nobody has stored yet. `lines`: their number, or they themselves. */
export function aBatch({
  lines,
  ...overrides
}: Partial<Omit<Batch, 'lines' | 'blocks'>> & { lines?: number | LineInput[] } = {}): NewBatch {
  const all = Array.isArray(lines) ? lines : linesOf(lines ?? 3)
  const now = Date.now()
  return {
    lines: all,
    batch: {
      id: system.newId(),
      organizationId: system.newId(),
      agentId: system.newId(),
      versionId: system.newId(),
      selectedBy: 'CURRENT',
      isDraft: false,
      tenantId: null,
      tokenId: null,
      options: {},
      webhookUrl: null,
      trial: null,
      sums: null,
      retryOf: null,
      idempotencyId: null,
      lines: all.length,
      lanes: Math.min(MAX_CONCURRENCY.default, all.length),
      maxCostUsd: null,
      status: 'IN_PROGRESS',
      stopped: null,
      createdAt: new Date(now).toISOString(),
      endedAt: null,
      totals: null,
      openUntil: now + NOT_DUE_MS,
      ...overrides,
    },
  }
}

export const linesOf = (count: number, question = 'Why?'): LineInput[] =>
  Array.from({ length: count }, (_, line) => ({ customId: `line-${line}`, input: { question, line } }))

/** Sums of a trial with so many runs of each verdict, and their costs. */
export function trialSums({
  originalTotal = 0,
  trialTotal = 0,
  ...counts
}: Partial<Record<Verdict, number>> & { originalTotal?: number; trialTotal?: number }): TrialSums {
  const verdicts = { ...(Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Counts), ...counts }
  const none = { original: { median: 0, p95: 0 }, trial: { median: 0, p95: 0 } }
  const runs = Object.values(verdicts).reduce((sum, count) => sum + count, 0)
  return {
    runs,
    compared: runs - verdicts.DIVERGED - verdicts.ERROR,
    verdicts,
    schemaViolations: 0,
    costUsd: { ...none, originalTotal, trialTotal },
    runTimeMs: none,
    steps: none,
  }
}

type Counts = TrialSums['verdicts']

/** A trial that has ended with these sums. */
export const anEndedTrial = (
  of: Pick<Batch, 'organizationId' | 'agentId' | 'versionId'>,
  sums: Parameters<typeof trialSums>[0],
  overrides: Partial<Omit<Batch, 'lines' | 'blocks'>> = {},
): NewBatch =>
  aBatch({
    ...of,
    lines: 1,
    trial: {
      ...{ tools: { default: 'recorded' }, models: 'live', steps: 'recorded', ignore: [] },
      ...{ from: null, to: null, tenantId: null, feedback: null },
    },
    sums: trialSums(sums),
    status: 'ENDED',
    openUntil: null,
    endedAt: new Date().toISOString(),
    ...overrides,
  })
