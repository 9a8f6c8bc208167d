import { eventHeaders } from '../lib/api/parameters/event-headers.ts'
import { ExecutionNotFound, InvalidHeader } from '../lib/core/errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { eventReader } from '../lib/engine/events/read-events.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { getMaxStreamMs, isStreaming, toEventStreamResponse } from '../lib/http/event-stream.ts'
import { resolveExecutionId } from '../lib/http/execution-id.ts'

const { executions, rates, steps } = openStores()
const readEvents = eventReader({ executions, steps })

async function streamEvents(request: Request<'stream-events'>) {
  const { organizationId, headers } = request
  const id = await resolveExecutionId(executions, request)
  const after = headers['Last-Event-ID'] ?? 0
  const previous = { number: Math.max(after - 1, 0), pendingCalls: [] }
  const { status, hasMore } = await steps.probe({ organizationId, id, end: previous })
  if (!status) throw new ExecutionNotFound()
  if (after > 0 && !hasMore) throw new InvalidHeader([unknownStep(after)])
  const reader = { organizationId, id, status, after, maxMs: getMaxStreamMs(), untilNews: !isStreaming() }
  return toEventStreamResponse((signal) => readEvents({ ...reader, signal }))
}

const unknownStep = (number: number) => ({
  path: 'Last-Event-ID',
  message: `Last-Event-ID is ${number}, but the execution has no such step. Leave it out to read all steps.`,
})

export const handler = endpoint('stream-events', streamEvents, { rates, headers: eventHeaders })
