import { useEffect, useState } from 'preact/hooks'
import type { BatchRecord } from '../../lib/contract/records/batch-record.ts'
import { type EventSourceOptions, followEvents } from '../api/follow-events.ts'
import { parseJsonText, requestEvents, requestJson } from '../api/request.ts'
import { asApiError, useResource } from '../api/use-resource.ts'

/** A batch, which is followed while it is open and the page is visible. */
export function useBatch(batchId: string) {
  const path = `/v1/batches/${encodeURIComponent(batchId)}`
  const resource = useResource(batchId, (signal) => requestJson<BatchRecord>(path, { signal }))
  const [isReconnecting, setIsReconnecting] = useState(false)
  const [isDeleted, setIsDeleted] = useState(false)
  const isOpen = resource.data !== null && resource.data.status !== 'ENDED'
  useEffect(() => {
    if (!isOpen) return
    const controller = new AbortController()
    const { signal } = controller
    followBatch({
      open: async (lastEvent, closed) => {
        const headers = lastEvent === '' ? {} : { 'Last-Event-ID': lastEvent }
        return (await requestEvents(path, { headers, signal: closed })).events
      },
      peek: () => requestJson<BatchRecord>(path, { signal }),
      signal,
      onBatch: resource.setData,
      onReconnecting: setIsReconnecting,
    }).catch((error: unknown) => {
      if (!signal.aborted && asApiError(error).status === 404) setIsDeleted(true)
    })
    return () => controller.abort()
  }, [isOpen, path])
  return { ...resource, isReconnecting, isDeleted }
}

type Options = EventSourceOptions & { onBatch: (batch: BatchRecord) => void }

/** Reads the events of a batch until it has ended. @throws as `followEvents` does */
export const followBatch = ({ onBatch, ...source }: Options): Promise<BatchRecord> =>
  followEvents(source, ({ event, data }) => {
    if (event !== 'counts' && event !== 'ended') return 'nothing'
    const batch = parseJsonText<BatchRecord>(data)
    onBatch(batch)
    return event === 'ended' ? { end: batch } : 'news'
  })
