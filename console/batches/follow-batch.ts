import type { BatchRecord } from '../../lib/contract/records/batch-record.ts'
import { type EventSourceOptions, followEvents } from '../api/follow-events.ts'
import { parseJsonText } from '../api/request.ts'

type Options = EventSourceOptions & { onBatch: (batch: BatchRecord) => void }

/** Reads the events of a batch until it has ended. @throws as `followEvents` does */
export const followBatch = ({ onBatch, ...source }: Options): Promise<BatchRecord> =>
  followEvents(source, ({ event, data }) => {
    if (event !== 'counts' && event !== 'ended') return 'nothing'
    const batch = parseJsonText<BatchRecord>(data)
    onBatch(batch)
    return event === 'ended' ? { end: batch } : 'news'
  })
