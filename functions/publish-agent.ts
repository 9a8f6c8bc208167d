import { toPublished } from '../lib/access/audit-log.ts'
import { mayUseAgent } from '../lib/access/permissions.ts'
import { assertHostsAllowed } from '../lib/agents/lifecycle/assert-hosts-allowed.ts'
import { assertScorers } from '../lib/agents/lifecycle/assert-scorers.ts'
import { assertLoads, checkPublishedAgent } from '../lib/agents/lifecycle/check-published-agent.ts'
import { assertSigned, publishAgent } from '../lib/agents/lifecycle/publish-agent.ts'
import { publishBody } from '../lib/contract/bodies/agents.ts'
import { toVersionRecord } from '../lib/contract/records/agent.ts'
import { actorOf } from '../lib/core/audit-request.ts'
import { Forbidden, InvalidAgent } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { findCostWarnings } from '../lib/engine/submit/limited-models.ts'
import { readSetting } from '../lib/environment.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { findSchemaWarnings } from '../lib/schema/openapi.ts'
import { system } from '../lib/system.ts'

const { agents, limits, rates, webhooks, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)

async function publish({ access, organizationId, body, basePath, note, event }: Request<'publish-agent'>) {
  // An operator can write the table anyway.
  const isOperator = event.operator !== undefined
  if (!isOperator && readSetting('httpPublishing') === 'off')
    throw new Forbidden(
      'Publishing over HTTP is off. Operators turn it on with the setting httpPublishing=true of the stack; for npm start, by leaving out HTTP_PUBLISHING=off.',
    )
  // What the texts contain is checked later.
  const members = checkMembers(publishBody, body, { kind: 'field of this request', Mismatch: InvalidAgent })
  const { document, slug = null, code = null, draft = false, message, editedFrom } = members
  const agent = await checkPublishedAgent({ document, slug, code })
  // The agent may not exist: an answer must not tell.
  if (!mayUseAgent(access, agent.document.slug))
    throw new Forbidden('The token is limited to other agents than the one of the document.')
  if (!isOperator) await assertHostsAllowed(agents, organizationId, agent)
  await assertScorers(agents, organizationId, agent)
  await assertLoads(agent)
  await assertSigned(webhooks, organizationId, agent)
  const author = { createdBy: access.tokenId, createdByName: actorOf(access).name }
  const params = { organizationId, ...author, agent, draft, message: message ?? undefined, editedFrom }
  const { version, isNew } = await publishAgent({ store: agents, system, ...params })
  note(toPublished({ version, isNew }))
  const published = await agents.get({ organizationId, id: version.agentId })
  const record = toVersionRecord(version, published ?? { retired: {}, rollout: null, abortedRollouts: {} })
  const location = `${basePath}/v1/agents/${version.agentId}/versions/${version.id}`
  const costs = await findCostWarnings({ agents, limits }, { organizationId, version })
  const warnings = [...findSchemaWarnings(version), ...costs]
  const answer = { ...record, ...(warnings.length > 0 && { warnings }) }
  return { status: isNew ? 201 : 200, headers: { Location: location }, body: answer }
}

export const handler = endpoint('publish-agent', publish, { rates, audit })
