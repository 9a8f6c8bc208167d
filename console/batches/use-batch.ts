import { useEffect, useState } from 'preact/hooks'
import type { BatchRecord } from '../../lib/contract/records/batch-record.ts'
import { requestEvents, requestJson } from '../api/request.ts'
import { asApiError, useResource } from '../api/use-resource.ts'
import { followBatch } from './follow-batch.ts'

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
