import { suggestSlug } from '../lib/agents/visible-agents.ts'
import { batchHeaders, lineExecutionPageParameters } from '../lib/contract/parameters/executions.ts'
import { batchPageParameters, resultPageParameters } from '../lib/contract/parameters/lists.ts'
import { batchParameters, idempotencyHeaders, retryParameters } from '../lib/contract/parameters/runs.ts'
import { toListedExecution } from '../lib/contract/records/execution.ts'
import { toSeenRecord } from '../lib/contract/records/seen.ts'
import type { HeldRequest } from '../lib/core/ports/access.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { acceptBatch, prepareBatch } from '../lib/engine/batches/accept.ts'
import { cancelBatch, deleteBatch, retryFailed } from '../lib/engine/batches/change.ts'
import {
  countLines,
  findBatch,
  getBatch,
  listBatches,
  listLineExecutions,
} from '../lib/engine/batches/read.ts'
import { readResultPage, readResults } from '../lib/engine/batches/results.ts'
import { openWatch, stateOf } from '../lib/engine/batches/watch.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import {
  pollHeaders,
  toAcceptedBatchResponse,
  toBatchEventsResponse,
  toCountedRecord,
  toResultPageResponse,
  toResultsResponse,
} from '../lib/http/batch-responses.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { type HttpResponse, isStreaming } from '../lib/http/event.ts'
import { acceptsEvents, getMaxStreamMs } from '../lib/http/event-stream.ts'
import { readLines } from '../lib/http/lines-body.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { limitOpenRequests } from '../lib/limits/open-requests.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const { rates, ...opened } = openStores()
const audit = auditRequests(opened.audit)
const stores = { ...opened, queue: openRunQueue(), system }
const openRequests = limitOpenRequests('manage-batches', rates)
const watch = openWatch(stores)

async function start({ access, agentId, query, headers, basePath, event }: Request<'start-batch'>) {
  const { execMode: _, validateOnly, ...overrides } = query
  const idempotencyKey = validateOnly ? undefined : headers['Idempotency-Key']
  const call = { access, idOrSlug: agentId, overrides, idempotencyKey, received: readLines(event) }
  const request = await prepareBatch(stores, call)
  if (validateOnly) return { status: 200, body: { lines: request.lines.length, valid: true } }
  const batch = await acceptBatch(stores, request)
  return toAcceptedBatchResponse(await countLines(stores, batch), basePath, { access, isOwn: true })
}

const list = async (request: Request<'list-batches'>) =>
  toPageResponse(await listBatches(stores, request), toCountedRecord, request)

async function get(request: Request<'get-batch'>) {
  if (acceptsEvents(request.accept)) return whileHeld(request, (held) => follow(request, held))
  const counted = await getBatch(stores, request)
  return { status: 200, headers: pollHeaders(counted.batch), body: toCountedRecord(counted) }
}

async function follow(request: Request<'get-batch'>, held: HeldRequest) {
  const { id, organizationId } = await findBatch(stores, request)
  const reader = {
    id,
    organizationId,
    known: request.headers['Last-Event-ID'],
    maxMs: getMaxStreamMs(),
    untilNews: !isStreaming(),
  }
  return toBatchEventsResponse((signal) => watch({ ...reader, signal }), { held, idOf: stateOf })
}

/** Until the response has ended, the request counts as open. */
async function whileHeld({ access }: Request, respond: (held: HeldRequest) => Promise<HttpResponse>) {
  const held = await openRequests.hold('stream', access)
  return respond(held).catch((error: unknown) => {
    held.release()
    throw error
  })
}

async function results(request: Request<'list-batch-results'>) {
  const { query } = request
  const isPage = query.limit !== undefined || query.cursor !== undefined || !isStreaming()
  if (!isPage)
    return whileHeld(request, async (held) =>
      toResultsResponse(readResults(stores, await findBatch(stores, request)), held),
    )
  const batch = await findBatch(stores, request)
  return toResultPageResponse(await readResultPage(stores, batch, query), request)
}

const executions = async (request: Request<'list-batch-executions'>) =>
  toPageResponse(await listLineExecutions(stores, request), toListedExecution, request)

async function cancel(request: Request<'cancel-batch'>) {
  const cancelled = toCountedRecord(await cancelBatch(stores, request))
  return { status: 202, body: toSeenRecord(cancelled, request.access) }
}

async function retry({ access, batchId, query, headers, basePath }: Request<'retry-batch'>) {
  const idempotencyKey = headers['Idempotency-Key']
  const batch = await retryFailed(stores, { access, batchId, ...query, idempotencyKey })
  return toAcceptedBatchResponse(await countLines(stores, batch), basePath, { access })
}

async function remove(request: Request<'delete-batch'>) {
  await deleteBatch(stores, request)
  return { status: 204 }
}

export const handler = family({
  'start-batch': endpoint('start-batch', start, {
    rates,
    suggest: suggestSlug(stores.agents),
    query: batchParameters,
    headers: idempotencyHeaders,
  }),
  'list-batches': endpoint('list-batches', list, { rates, query: batchPageParameters }),
  'get-batch': endpoint('get-batch', get, { rates, headers: batchHeaders }),
  'list-batch-results': endpoint('list-batch-results', results, { rates, query: resultPageParameters }),
  'list-batch-executions': endpoint('list-batch-executions', executions, {
    rates,
    query: lineExecutionPageParameters,
  }),
  'cancel-batch': endpoint('cancel-batch', cancel, { rates, audit }),
  'retry-batch': endpoint('retry-batch', retry, {
    rates,
    query: retryParameters,
    headers: idempotencyHeaders,
  }),
  'delete-batch': endpoint('delete-batch', remove, { rates, audit }),
})
