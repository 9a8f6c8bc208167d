import { omitLargeStepValues } from '../lib/contract/omit-values.ts'
import { stepPageParameters } from '../lib/contract/parameters/executions.ts'
import { toStepRecord } from '../lib/contract/records/step.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { listSteps } from '../lib/engine/executions/list-executions.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'

const { executions, rates, steps } = openStores()

const list = async (request: Request<'list-steps'>) =>
  toPageResponse(
    await listSteps({ executions, steps }, request, request.query),
    (step) => omitLargeStepValues(toStepRecord(step), request.query.maxValueBytes),
    request,
  )

export const handler = endpoint('list-steps', list, { rates, query: stepPageParameters })
