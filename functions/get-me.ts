import { toOwnLimits } from '../lib/contract/records/limits.ts'
import { SCOPES } from '../lib/core/access.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { readOwnLimits } from '../lib/limits/manage-limits.ts'
import { system } from '../lib/system.ts'

const { rates, limits } = openStores()

async function getMe({ access }: Request<'get-me'>) {
  const { organizationId, tokenId, subject = null, scopes, agents, tenantId, rate } = access
  const own = await readOwnLimits({ limits, system }, access)
  const body = {
    ...{ organizationId, tokenId, subject, scopes: scopes ?? SCOPES, agents, tenantId, rate },
    limits: own && toOwnLimits(own.limits, own.use),
  }
  return { status: 200, body }
}

export const handler = endpoint('get-me', getMe, { rates })
