import { rerunBody } from '../lib/contract/bodies/trials.ts'
import { runHeaders } from '../lib/contract/parameters/runs.ts'
import { toComparisonRecord } from '../lib/contract/records/comparison.ts'
import { InputSchemaMismatch } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { compareExecutions } from '../lib/engine/replay/compare-executions.ts'
import { openSubmitEngine } from '../lib/engine/submit/accept.ts'
import { rerunExecution } from '../lib/engine/trials/rerun.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { toAcceptedResponse } from '../lib/http/responses.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const { rates, ...stores } = openStores()
const engine = openSubmitEngine({ ...stores, queue: openRunQueue(), system })
const rules = { kind: 'field of a rerun', Mismatch: InputSchemaMismatch }

async function rerun({ access, executionId, headers, body, basePath }: Request<'rerun-execution'>) {
  const options = checkMembers(rerunBody, body, rules)
  const { 'Idempotency-Key': idempotencyKey, traceparent } = headers
  const execution = await rerunExecution(engine, {
    ...{ access, executionId, options, idempotencyKey, traceparent },
  })
  return toAcceptedResponse(execution, basePath, { access })
}

const compare = async (request: Request<'compare-executions'>) => ({
  status: 200,
  body: toComparisonRecord(await compareExecutions(stores, request)),
})

export const handler = family({
  'rerun-execution': endpoint('rerun-execution', rerun, { rates, headers: runHeaders }),
  'compare-executions': endpoint('compare-executions', compare, { rates }),
})
