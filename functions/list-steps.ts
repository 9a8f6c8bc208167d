import { pageParameters } from '../lib/api/parameters.ts'
import { toStepRecord } from '../lib/api/to-execution-record.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { listSteps } from '../lib/engine/executions/list-executions.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'

const { executions, rates, steps } = openStores()

const list = async (request: Request<'list-steps'>) =>
  toPageResponse(await listSteps({ executions, steps }, request, request.query), toStepRecord, request)

export const handler = endpoint('list-steps', list, { rates, query: pageParameters })
