import { toBatchRecord } from '../contract/records/batch.ts'
import { toSeenRecord } from '../contract/records/seen.ts'
import type { Access } from '../core/access.ts'
import type { Batch, CountedBatch, LineResult } from '../core/batch.ts'
import type { HeldRequest } from '../core/ports/access.ts'
import type { Page } from '../core/ports/system.ts'
import { system } from '../system.ts'
import type { HttpResponse } from './event.ts'
import { EVENT_STREAM, formatRetry, formatServerEvent, KEEP_ALIVE } from './event-stream.ts'
import { retryAfterSeconds, toPageResponse } from './responses.ts'
import { toTextStreamResponse } from './text-stream.ts'

const LINES_TYPE = 'application/x-ndjson'

/** Characters that are sent together, unless a result has more. */
const CHUNK = 65_536

/** When to read an open batch again. */
export function pollHeaders({ status, createdAt }: Batch): Record<string, string> {
  if (status === 'ENDED') return {}
  return { 'Retry-After': String(retryAfterSeconds((system.now() - Date.parse(createdAt)) / 1000)) }
}

/** The response to a new batch, or to the repetition of a request. */
export const toAcceptedBatchResponse = (
  counted: CountedBatch,
  basePath: string,
  { access, isOwn }: { access: Access; isOwn?: boolean },
): HttpResponse => ({
  status: 202,
  headers: { Location: `${basePath}/v1/batches/${counted.batch.id}`, ...pollHeaders(counted.batch) },
  body: toSeenRecord(toCountedRecord(counted), access, isOwn),
})

export const toCountedRecord = ({ batch, ...counted }: CountedBatch) => toBatchRecord(batch, counted)

/** All results, as lines of JSON. The response breaks off if it may not be open any more: nobody takes it for whole. */
export function toResultsResponse(
  results: AsyncIterable<LineResult>,
  held: HeldRequest,
): Promise<HttpResponse> {
  async function* read(signal: AbortSignal) {
    let text = ''
    for await (const result of results) {
      signal.throwIfAborted()
      text += toLine(result)
      if (text.length < CHUNK) continue
      yield text
      text = ''
    }
    if (text !== '') yield text
  }
  return toTextStreamResponse(read, { headers: { 'Content-Type': LINES_TYPE }, held })
}

/** A page of them. The `Link` header points to the next one. */
export function toResultPageResponse(
  page: Page<LineResult>,
  request: { path: string; query: object },
): HttpResponse {
  const { headers } = toPageResponse(page, () => undefined, request)
  return {
    status: 200,
    headers: { ...headers, 'Content-Type': LINES_TYPE },
    stream: page.items.map(toLine).join(''),
  }
}

const toLine = (result: LineResult) => `${JSON.stringify(result)}\n`

/**
 * Server-sent events: the batch whenever its lines have changed.
 * @param watch null stands for silence
 * @param idOf the id of an event, with which a client that reconnects continues
 */
export function toBatchEventsResponse(
  watch: (signal: AbortSignal) => AsyncIterable<CountedBatch | null>,
  { held, idOf }: { held: HeldRequest; idOf: (counted: CountedBatch) => string },
): Promise<HttpResponse> {
  async function* read(signal: AbortSignal) {
    let hasEnded = false
    for await (const counted of watch(signal)) {
      hasEnded = counted?.batch.status === 'ENDED'
      const name = hasEnded ? 'ended' : 'counts'
      yield counted
        ? `id: ${idOf(counted)}\n${formatServerEvent(name, JSON.stringify(toCountedRecord(counted)))}`
        : KEEP_ALIVE
    }
    if (!hasEnded) yield formatRetry(held.full)
  }
  return toTextStreamResponse(read, { headers: { 'Content-Type': EVENT_STREAM }, held })
}
