import { resolveExecutionId } from '../lib/access/executions.ts'
import { eventHeaders, eventParameters } from '../lib/contract/parameters/executions.ts'
import type { HeldRequest } from '../lib/core/ports/access.ts'
import { InvalidHeader } from '../lib/core/request-errors.ts'
import { ExecutionNotFound } from '../lib/core/resource-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { openEvents } from '../lib/engine/events/open-events.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { isStreaming } from '../lib/http/event.ts'
import { getMaxStreamMs, toEventStreamResponse } from '../lib/http/event-stream.ts'
import { limitOpenRequests } from '../lib/limits/open-requests.ts'

const { executions, rates, steps } = openStores()
const events = openEvents({ executions, steps })
const openRequests = limitOpenRequests('stream-events', rates)

async function streamEvents(request: Request<'stream-events'>) {
  const held = await openRequests.hold('stream', request.access)
  return respond(request, held).catch((error: unknown) => {
    held.release()
    throw error
  })
}

async function respond(request: Request<'stream-events'>, held: HeldRequest) {
  const { organizationId, headers, query } = request
  const id = await resolveExecutionId(executions, request)
  const after = headers['Last-Event-ID'] ?? 0
  const { status, hasStep } = await events.find({ organizationId, id, after })
  if (!status) throw new ExecutionNotFound()
  if (!hasStep) throw new InvalidHeader([unknownStep(after)])
  const { maxValueBytes, deltas = false } = query
  const progress = { untilNews: !isStreaming(), deltas: deltas && isStreaming() }
  const reader = { organizationId, id, status, after, maxMs: getMaxStreamMs(), ...progress }
  return toEventStreamResponse((signal) => events.read({ ...reader, signal }), {
    access: request.access,
    held,
    maxValueBytes,
  })
}

const unknownStep = (number: number) => ({
  path: 'Last-Event-ID',
  message: `Last-Event-ID is ${number}, but the execution has no such step. Leave it out to read all steps.`,
})

export const handler = endpoint('stream-events', streamEvents, {
  rates,
  query: eventParameters,
  headers: eventHeaders,
})
