import { type Batch, type LineInput, MAX_CONCURRENCY } from '../../../lib/core/batch.ts'
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

export const linesOf = (count: number, text = 'Why?'): LineInput[] =>
  Array.from({ length: count }, (_, line) => ({ customId: `line-${line}`, input: { question: text, line } }))
