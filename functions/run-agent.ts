import { runHeaders, runParameters } from '../lib/api/parameters.ts'
import { type Access, idempotencyKeyOf } from '../lib/core/access.ts'
import { isFinal } from '../lib/core/execution.ts'
import { openMeasuredStores } from '../lib/dynamodb/open-measured-stores.ts'
import { openEvents } from '../lib/engine/events/open-events.ts'
import { openSubmitEngine } from '../lib/engine/submit/open-submit-engine.ts'
import { buildRunRequest, type RunRequest, resolveVersionToRun } from '../lib/engine/submit/run-request.ts'
import { type Started, startSync, submitAsync, submitSync } from '../lib/engine/submit/submit.ts'
import { emitCompleted } from '../lib/engine/wait-for-completion.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import type { HttpResponse } from '../lib/http/event.ts'
import { acceptsEvents, getMaxStreamMs, toEventStreamResponse } from '../lib/http/event-stream.ts'
import {
  asAnswer,
  toAcceptedResponse,
  toExecutionHeaders,
  toOutputResponse,
} from '../lib/http/execution-response.ts'
import { holdRequest } from '../lib/http/open-requests.ts'
import { suggestAgent } from '../lib/http/suggest-agent.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const stores = openMeasuredStores()
const events = openEvents(stores)
const intake = openSubmitEngine({ ...stores, queue: openRunQueue(), system })

async function runAgent(request: Request<'run-agent'>) {
  const { access, agentId, query, headers, body, basePath } = request
  const key = idempotencyKeyOf(access, headers['Idempotency-Key'])
  const { version, refusal } = await resolveVersionToRun({
    agents: stores.agents,
    access,
    idOrSlug: agentId,
    versionId: query.version,
    idempotencyKey: key,
  })
  const run = { ...(await buildRunRequest(version, body, query, key)), refusal }
  if (acceptsEvents(request.accept)) return streamRun(request, run)
  return query.execMode === 'async'
    ? toAcceptedResponse(asAnswer(await submitAsync(intake, run), access), basePath)
    : toOutputResponse(await submitSync(intake, run), basePath)
}

/** Responds with the events of the run. They come from the journal, because another worker may continue the run. */
async function streamRun(
  { access, organizationId, query, basePath }: Request<'run-agent'>,
  run: RunRequest,
): Promise<HttpResponse> {
  const { execution, ended, release } = await start(query.execMode, access, run)
  const { id } = execution
  let { status } = execution
  const completed = ended.then((latest) => {
    status = latest.status
    emitCompleted(id)
  })
  // Awaited below, but only after the events.
  completed.catch(() => undefined)
  async function* read(signal: AbortSignal) {
    const params = { organizationId, id, status, after: 0, maxMs: getMaxStreamMs(), signal }
    for await (const batch of events.read(params))
      yield batch.map((event) =>
        event.kind === 'done' ? { ...event, execution: asAnswer(event.execution, access) } : event,
      )
    // Lambda suspends the function when the response ends.
    await completed
  }
  return toEventStreamResponse(read, { headers: toExecutionHeaders(execution, basePath), onClose: release })
}

type Streamed = Omit<Started, 'isNew'> & { release: () => void }

/** The stream of a run that this request executes counts as the run, any other one as an event stream (docs/decisions/0052). */
async function start(mode: 'sync' | 'async', access: Access, run: RunRequest): Promise<Streamed> {
  if (mode === 'sync') {
    const started = await startSync(intake, run)
    const isElsewhere = !started.isNew && !isFinal(started.execution)
    return { ...started, release: isElsewhere ? holdRequest('stream', access) : () => undefined }
  }
  // Before the run is accepted: a client repeats a request that was refused.
  const release = holdRequest('stream', access)
  const execution = await submitAsync(intake, run).catch((error: unknown) => {
    release()
    throw error
  })
  return { execution, ended: Promise.resolve(execution), release }
}

export const handler = endpoint('run-agent', runAgent, {
  rates: stores.rates,
  suggestion: suggestAgent(stores.agents),
  query: runParameters,
  headers: runHeaders,
})
