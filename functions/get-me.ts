import { toOwnLimits } from '../lib/contract/records/limits.ts'
import { SCOPES } from '../lib/core/access.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { readSetting } from '../lib/environment.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { readOwnLimits } from '../lib/limits/manage-limits.ts'
import { system } from '../lib/system.ts'

const { rates, limits, organizations } = openStores()
const environmentName = readSetting('environmentName') ?? null
const httpPublishing = readSetting('httpPublishing') !== 'off'

async function getMe({ access }: Request<'get-me'>) {
  const { organizationId, tokenId, subject = null, scopes, agents, tenantId, rate } = access
  const [own, organization] = await Promise.all([
    readOwnLimits({ limits, system }, access),
    organizations.get({ id: organizationId }),
  ])
  const body = {
    ...{ organizationId, organizationName: organization?.name ?? null, environmentName, httpPublishing },
    ...{ tokenId, subject, scopes: scopes ?? SCOPES, agents, tenantId, rate },
    limits: own && toOwnLimits(own.limits, own.use),
  }
  return { status: 200, body }
}

export const handler = endpoint('get-me', getMe, { rates })
