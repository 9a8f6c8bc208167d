import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import { type EventSourceOptions, followEvents } from '../api/follow-events.ts'
import { parseJsonText } from '../api/request.ts'
import { formatCost } from '../components/format.ts'

export type LineStatus = keyof BatchRecord['counts']

export const LINE_STATUSES: Record<LineStatus, string> = {
  IN_PROGRESS: 'In progress',
  SUCCESS: 'Succeeded',
  ERROR: 'Failed',
}

export const BATCH_STATUSES: Record<BatchRecord['status'], string> = {
  IN_PROGRESS: 'In progress',
  CANCELLING: 'Being cancelled',
  ENDED: 'Ended',
}

/** The part of the lines that has ended, from 0 to 1. */
export const progressOf = ({ lines, counts }: Pick<BatchRecord, 'lines' | 'counts'>): number =>
  lines === 0 ? 1 : (counts.SUCCESS + counts.ERROR) / lines

/** `$1.20 of $5.00` */
export const formatBatchCost = ({ costUsd, maxBatchCostUsd }: BatchRecord): string =>
  maxBatchCostUsd === null ? formatCost(costUsd) : `${formatCost(costUsd)} of ${formatCost(maxBatchCostUsd)}`

/** Null: any. Unknown values, which an edited URL may contain, filter nothing. */
export const parseLineStatus = (text: string | null): LineStatus | null =>
  text !== null && Object.hasOwn(LINE_STATUSES, text) ? (text as LineStatus) : null

/** How lines are sent: a JSON list begins with a bracket, anything else is lines of JSON. */
export const mediaTypeOf = (text: string): string =>
  /^\s*\[/.test(text) ? 'application/json' : 'application/x-ndjson'

/** Options of a batch as they are typed. Empty: not given, or as in the version. */
export const NO_BATCH_OPTIONS = {
  tenantId: '',
  maxConcurrency: '',
  maxBatchCostUsd: '',
  enforceInputSchema: '' as '' | 'true' | 'false',
}

/** As the query of the request; empty texts are left out of it. */
export const toBatchQuery = ({ enforceInputSchema, ...texts }: typeof NO_BATCH_OPTIONS) => ({
  ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.trim()])),
  ...(enforceInputSchema !== '' && { enforceInputSchema: enforceInputSchema === 'true' }),
})

/** `results-01a20000.ndjson` */
export const resultsFileOf = ({ id }: Pick<BatchRecord, 'id'>): string => `results-${id.slice(0, 8)}.ndjson`

type Options = EventSourceOptions & { onBatch: (batch: BatchRecord) => void }

/** Reads the events of a batch until it has ended. @throws as `followEvents` does */
export const followBatch = ({ onBatch, ...source }: Options): Promise<BatchRecord> =>
  followEvents(source, ({ event, data }) => {
    if (event !== 'counts' && event !== 'ended') return 'nothing'
    const batch = parseJsonText<BatchRecord>(data)
    onBatch(batch)
    return event === 'ended' ? { end: batch } : 'news'
  })
