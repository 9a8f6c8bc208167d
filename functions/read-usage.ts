import { agreementParameters, scoreParameters, usageParameters } from '../lib/contract/parameters/usage.ts'
import { toScoreRowRecord } from '../lib/contract/records/score.ts'
import { toIntervalTime, toUsageCsv, toUsageRecord } from '../lib/contract/records/usage.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { readAgreement, readScores } from '../lib/engine/usage/read-scores.ts'
import { readUsage } from '../lib/engine/usage/read-usage.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { chooseMediaType } from '../lib/http/negotiation.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { system } from '../lib/system.ts'

const { rates, ...opened } = openStores()
const stores = { ...opened, system }

async function getUsage({ access, accept, path, query }: Request<'get-usage'>) {
  const { page, range } = await readUsage(stores, { access, query })
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
    stream: toUsageCsv(page.items.map(toUsageRecord), query.groupBy ?? []),
  }
}

async function getScores({ access, path, query }: Request<'get-scores'>) {
  const { page, range } = await readScores(stores, { access, query })
  const times = { from: toIntervalTime(range.from), to: toIntervalTime(range.to) }
  return toPageResponse(page, toScoreRowRecord, { path, query: { ...query, ...times } })
}

const getAgreement = async ({ access, query }: Request<'get-agreement'>) => ({
  status: 200,
  body: await readAgreement(stores, { access, query }),
})

export const handler = family({
  'get-usage': endpoint('get-usage', getUsage, { rates, query: usageParameters }),
  'get-scores': endpoint('get-scores', getScores, { rates, query: scoreParameters }),
  'get-agreement': endpoint('get-agreement', getAgreement, { rates, query: agreementParameters }),
})
