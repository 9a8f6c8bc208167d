import { resolveVersion } from '../lib/agents/resolve-version.ts'
import { runHeaders, runParameters } from '../lib/api/parameters/run-parameters.ts'
import { idempotencyKeyOf } from '../lib/core/access.ts'
import * as limits from '../lib/core/limits.ts'
import { openMeasuredStores } from '../lib/dynamodb/open-measured-stores.ts'
import { readTimes } from '../lib/engine/engine.ts'
import { admission } from '../lib/engine/submit/admission.ts'
import { buildRunRequest } from '../lib/engine/submit/run-request.ts'
import { submitAsync, submitSync } from '../lib/engine/submit/submit.ts'
import {
  MAX_OPEN_EXECUTIONS,
  readDurationMs,
  readInteger,
  SYNC_DEADLINE_SECONDS,
} from '../lib/environment.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toAcceptedResponse, toOutputResponse } from '../lib/http/execution-response.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const stores = openMeasuredStores()
const intake = {
  ...stores,
  queue: openRunQueue(),
  system,
  admit: admission(
    { executions: stores.executions, system },
    readInteger(MAX_OPEN_EXECUTIONS, limits.MAX_OPEN_EXECUTIONS),
  ),
  times: readTimes(),
  syncDeadlineMs: readDurationMs(SYNC_DEADLINE_SECONDS, limits.SYNC_DEADLINE_MS.streamed),
}

async function runAgent(request: Request<'run-agent'>) {
  const { access, organizationId, agentId, query, headers, body, basePath } = request
  const version = await resolveVersion({
    store: stores.agents,
    organizationId,
    idOrSlug: agentId,
    versionId: query.version,
  })
  const run = buildRunRequest(version, body, query, idempotencyKeyOf(access, headers['Idempotency-Key']))
  return query.execMode === 'async'
    ? toAcceptedResponse(await submitAsync(intake, run), basePath)
    : toOutputResponse(await submitSync(intake, run), basePath)
}

export const handler = endpoint('run-agent', runAgent, {
  rates: stores.rates,
  query: runParameters,
  headers: runHeaders,
})
