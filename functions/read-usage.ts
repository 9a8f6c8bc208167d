import { usageParameters } from '../lib/contract/parameters.ts'
import { toIntervalTime, toUsageCsv, toUsageRecord } from '../lib/contract/records/usage.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { readUsage } from '../lib/engine/usage/read-usage.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { chooseMediaType } from '../lib/http/negotiation.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { system } from '../lib/system.ts'

const { rates, ...opened } = openStores()
const stores = { ...opened, system }

async function get({ access, accept, path, query }: Request<'get-usage'>) {
  const { page, groupBy, range } = await readUsage(stores, { access, query })
  const times = { from: toIntervalTime(range.from), to: toIntervalTime(range.to) }
  const { body, headers, ...response } = toPageResponse(page, toUsageRecord, {
    path,
    query: { ...query, ...times },
  })
  const type = chooseMediaType(accept, ['application/json', 'text/csv'])
  if (type === 'application/json') return { ...response, headers: { ...headers, Vary: 'Accept' }, body }
  return {
    ...response,
    headers: { ...headers, Vary: 'Accept', 'Content-Type': 'text/csv; charset=utf-8; header=present' },
    stream: toUsageCsv(page.items.map(toUsageRecord), groupBy),
  }
}

export const handler = endpoint('get-usage', get, { rates, query: usageParameters })
