import { suggestSlug } from '../lib/agents/visible-agents.ts'
import { runHeaders, runParameters } from '../lib/contract/parameters/runs.ts'
import { InvalidQueryParameter } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { openEvents } from '../lib/engine/events/open-events.ts'
import { streamRun } from '../lib/engine/events/stream-run.ts'
import { withMetricsAndOutbox } from '../lib/engine/notifications/metrics-and-outbox.ts'
import { openSubmitEngine, submitAsync } from '../lib/engine/submit/accept.ts'
import { prepareRun } from '../lib/engine/submit/run-request.ts'
import { submitSync } from '../lib/engine/submit/submit.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { isStreaming } from '../lib/http/event.ts'
import { acceptsEvents, getMaxStreamMs, toEventStreamResponse } from '../lib/http/event-stream.ts'
import { toAcceptedResponse, toExecutionHeaders, toOutputResponse } from '../lib/http/responses.ts'
import { limitOpenRequests } from '../lib/limits/open-requests.ts'
import { openDeliveryQueue } from '../lib/sqs/delivery-queue.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const stores = withMetricsAndOutbox(openStores(), { queue: openDeliveryQueue(), system })
const { agents, webhooks, rates } = stores
const events = openEvents(stores)
const openRequests = limitOpenRequests('run-agent', rates)
const engine = openSubmitEngine({ ...stores, queue: openRunQueue(), system })

const WITHOUT_EVENTS = {
  path: 'deltas',
  message: 'deltas must be left out, or the request must have the header "Accept: text/event-stream".',
}

async function runAgent({ access, agentId, query, headers, body, accept, basePath }: Request<'run-agent'>) {
  if (query.deltas && !acceptsEvents(accept)) throw new InvalidQueryParameter([WITHOUT_EVENTS])
  const { 'Idempotency-Key': idempotencyKey, traceparent } = headers
  const call = { access, idOrSlug: agentId, body, overrides: query, idempotencyKey, traceparent }
  const run = await prepareRun({ agents, system, webhooks, ...call })
  const mode = query.execMode
  if (acceptsEvents(accept)) {
    const parts = { engine, events, openRequests }
    const deltas = query.deltas === true && isStreaming()
    const maxMs = getMaxStreamMs()
    const { execution, read, held } = await streamRun(parts, { access, mode, run, maxMs, deltas })
    return toEventStreamResponse(read, { access, headers: toExecutionHeaders(execution, basePath), held })
  }
  if (mode === 'async')
    return toAcceptedResponse(await submitAsync(engine, run), basePath, { access, isOwn: true })
  // Before the run is recorded: a client repeats a request that was refused.
  const { full, release } = await openRequests.hold('run', access)
  const { execution, acceptedAt } = await submitSync(engine, run, full).finally(release)
  return toOutputResponse(execution, basePath, { access, acceptedAt, isFull: full.aborted })
}

export const handler = endpoint('run-agent', runAgent, {
  rates,
  suggest: suggestSlug(agents),
  query: runParameters,
  headers: runHeaders,
})
