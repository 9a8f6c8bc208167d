import { type TrialBody, trialBody } from '../lib/contract/bodies/trials.ts'
import { trialItemPageParameters, trialPageParameters } from '../lib/contract/parameters/lists.ts'
import { idempotencyHeaders } from '../lib/contract/parameters/runs.ts'
import { toSeenRecord } from '../lib/contract/records/seen.ts'
import { toTrialRecord } from '../lib/contract/records/trial.ts'
import { toTrialItemRecord } from '../lib/contract/records/trial-item.ts'
import type { BatchStore } from '../lib/core/ports/batches.ts'
import { InputSchemaMismatch } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { cancelBatch, deleteBatch } from '../lib/engine/batches/change.ts'
import { countLines, getBatch, listBatches } from '../lib/engine/batches/read.ts'
import { listItems } from '../lib/engine/trials/list-items.ts'
import { startTrial, type TrialRequest } from '../lib/engine/trials/start-trial.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { pollHeaders } from '../lib/http/batch-responses.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const { rates, ...opened } = openStores()
const audit = auditRequests(opened.audit)
const stores = { ...opened, queue: openRunQueue(), system }
const rules = { kind: 'field of a trial', Mismatch: InputSchemaMismatch }

const toReference = ({ access, trialId }: Pick<Request, 'access' | 'trialId'>) => ({
  access,
  batchId: trialId,
  isTrial: true,
})

const toTrialRequest = (body: TrialBody): TrialRequest => ({
  from: body.from ?? null,
  to: body.to ?? null,
  tenantId: body.tenantId ?? null,
  feedback: body.feedback ?? null,
  limit: body.limit ?? null,
  executions: body.executions?.map((id) => id.toLowerCase()) ?? null,
  tools: { default: 'recorded', ...body.tools },
  models: body.models ?? 'live',
  steps: body.steps ?? 'recorded',
  ignore: body.ignore ?? [],
  maxTrialCostUsd: body.maxTrialCostUsd ?? null,
  maxConcurrency: body.maxConcurrency,
})

async function start(called: Request<'start-trial'>) {
  const { access, agentId, versionId, basePath, note, begin } = called
  note({ versionId })
  const request = toTrialRequest(checkMembers(trialBody, called.body, rules))
  const idempotencyKey = called.headers['Idempotency-Key']
  const batches: BatchStore = {
    ...stores.batches,
    async create(params) {
      const { id } = params.batch
      await begin(id, { target: { id } })
      return stores.batches.create(params)
    },
  }
  const call = { access, idOrSlug: agentId, versionId, request, idempotencyKey }
  const batch = await startTrial({ ...stores, batches }, call)
  const counted = await countLines(stores, batch)
  const location = { Location: `${basePath}/v1/trials/${batch.id}` }
  return {
    status: 202,
    headers: { ...location, ...pollHeaders(batch) },
    body: toSeenRecord(toTrialRecord(counted), access),
  }
}

const list = async (request: Request<'list-trials'>) =>
  toPageResponse(await listBatches(stores, { ...request, isTrial: true }), toTrialRecord, request)

async function get(request: Request<'get-trial'>) {
  const counted = await getBatch(stores, toReference(request))
  return { status: 200, headers: pollHeaders(counted.batch), body: toTrialRecord(counted) }
}

async function items({ query, ...request }: Request<'list-trial-items'>) {
  const page = await listItems(stores, { ...toReference(request), query })
  return toPageResponse(page, toTrialItemRecord, { ...request, query })
}

async function cancel(request: Request<'cancel-trial'>) {
  const counted = await cancelBatch(stores, toReference(request))
  return { status: 202, body: toSeenRecord(toTrialRecord(counted), request.access) }
}

async function remove(request: Request<'delete-trial'>) {
  await deleteBatch(stores, toReference(request))
  return { status: 204 }
}

export const handler = family({
  'start-trial': endpoint('start-trial', start, { rates, audit, headers: idempotencyHeaders }),
  'list-trials': endpoint('list-trials', list, { rates, query: trialPageParameters }),
  'get-trial': endpoint('get-trial', get, { rates }),
  'list-trial-items': endpoint('list-trial-items', items, { rates, query: trialItemPageParameters }),
  'cancel-trial': endpoint('cancel-trial', cancel, { rates, audit }),
  'delete-trial': endpoint('delete-trial', remove, { rates, audit }),
})
