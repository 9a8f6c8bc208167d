import { rolloutBody } from '../lib/contract/bodies/agents.ts'
import { toRolloutRecord } from '../lib/contract/records/rollout.ts'
import { InputSchemaMismatch } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endRollout, getRollout, putRollout } from '../lib/engine/rollouts/change-rollout.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { system } from '../lib/system.ts'

const { agents: store, batches, rates, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)
const rules = { kind: 'rollout field', Mismatch: InputSchemaMismatch }

const referenceOf = ({ organizationId, agentId: idOrSlug }: Pick<Request, 'organizationId' | 'agentId'>) => ({
  store,
  organizationId,
  idOrSlug,
})

async function put(request: Request<'put-rollout'>) {
  const given = checkMembers(rolloutBody, request.body, rules)
  const trial = given.trial ? { id: given.trial, batches } : undefined
  const started = await putRollout({ ...referenceOf(request), system, given, trial })
  return { status: 200, body: toRolloutRecord(started) }
}

const get = async (request: Request<'get-rollout'>) => ({
  status: 200,
  body: toRolloutRecord(await getRollout(referenceOf(request))),
})

async function end(request: Request<'delete-rollout'>) {
  await endRollout(referenceOf(request))
  return { status: 204 }
}

export const handler = family({
  'put-rollout': endpoint('put-rollout', put, { rates, audit }),
  'get-rollout': endpoint('get-rollout', get, { rates }),
  'delete-rollout': endpoint('delete-rollout', end, { rates, audit }),
})
