import { pageParameters } from '../lib/api/parameters.ts'
import { toStepRecord } from '../lib/api/to-execution-record.ts'
import { ExecutionNotFound } from '../lib/core/errors.ts'
import { MAX_PAGE_BYTES } from '../lib/core/limits.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { resolveExecutionId } from '../lib/http/execution-id.ts'
import { BY_NUMBER, parsePage, toPageResponse } from '../lib/http/page.ts'

const { executions, rates, steps } = openStores()

async function listExecutionSteps(request: Request<'list-steps'>) {
  const { organizationId, query } = request
  const page = parsePage(query, BY_NUMBER)
  const id = await resolveExecutionId(executions, request)
  if (!(await executions.get({ organizationId, id }))) throw new ExecutionNotFound()
  return toPageResponse(
    await steps.list({ executionId: id, maxBytes: MAX_PAGE_BYTES, ...page }),
    toStepRecord,
    request,
  )
}

export const handler = endpoint('list-steps', listExecutionSteps, { rates, query: pageParameters })
