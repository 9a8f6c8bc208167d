import { SCOPES } from '../lib/core/access.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'

const { rates } = openStores()

async function getMe({ access }: Request<'get-me'>) {
  const { organizationId, tokenId, scopes, agents, tenantId, rate } = access
  return { status: 200, body: { organizationId, tokenId, scopes: scopes ?? SCOPES, agents, tenantId, rate } }
}

export const handler = endpoint('get-me', getMe, { rates })
