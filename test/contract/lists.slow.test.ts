import { beforeAll, describe, expect, it } from 'vitest'
import { parameterSchemas } from '../../lib/contract/parameters/parameters.ts'
import { getOperation, type OperationName } from '../../lib/contract/routes.ts'
import { RESULT_PAGE_SIZE, USAGE_PAGE_SIZE } from '../../lib/core/limits.ts'
import { toScoreSums } from '../../lib/core/score-statistics.ts'
import { startOf, type UsageRow } from '../../lib/core/usage.ts'
import { usageStore } from '../../lib/dynamodb/usage-store.ts'
import { sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { storeDelivery } from '../support/notifications/a-webhook.ts'
import {
  type ApiResponse,
  getExecutionId,
  getNextLink,
  readPages,
  waitForEnd,
} from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { aUsageRow } from '../support/usage/memory-usage.ts'
import { contractOperations, expectProblem } from './world.ts'

const lists = contractOperations.filter((name) => {
  const { query, method } = getOperation(name)
  return method === 'GET' && query !== undefined && 'cursor' in parameterSchemas[query].shape
})

const COUNT = 3
const times = Array.from({ length: COUNT }, (_, index) => index)

/** Fills a list with at least three items. @returns its path and query, which the links of pages repeat */
type Fill = (org: TestOrganization) => Promise<string>

const aBatch = async ({ call }: TestOrganization): Promise<string> => {
  const body = times.map((index) => ({ customId: `${index}`, input: { text: `${index}` } }))
  const { id } = (await call('POST', '/v1/agents/echo/batches', { body })).json
  await waitForEnd(call, `/v1/batches/${id}`)
  return id
}

const startTrial = async ({ call, run }: TestOrganization): Promise<string> => {
  for (const index of times) await run('echo', { text: `${index}` })
  const { currentVersionId } = (await call('GET', '/v1/agents/echo')).json
  const { id } = (await call('POST', `/v1/agents/echo/versions/${currentVersionId}/trials`)).json
  await waitForEnd(call, `/v1/trials/${id}`)
  return id
}

/** Stores rows of usage in the last full minute. */
const putUsage = (organizationId: string, rows: UsageRow[]) => {
  const start = startOf('minute', Date.now()) - 60_000
  const slot = { interval: 'minute' as const, start, isFinal: false, readAt: Date.now() }
  return usageStore(sharedTable()).put({ ...slot, organizationId, rows })
}

const setLimits = async ({ call }: TestOrganization) => {
  for (const index of times) await call('PUT', `/v1/tenants/t${index}/limits`, { body: {} })
}

/** A new list of routes.ts needs a row. */
const FILL: Partial<Record<OperationName, Fill>> = {
  'list-agents': async ({ publish }) => {
    for (const slug of ['counted', 'waits', 'asks']) await publish(slug)
    return '/v1/agents?archived=true'
  },
  'list-versions': async ({ publish }) => {
    for (const index of times) await publish('echo', { title: `Title ${index}` })
    return '/v1/agents/echo/versions'
  },
  'list-agent-executions': async ({ run }) => {
    for (const index of times) await run('echo', { text: `${index}` }, 'tenantId=acme')
    return '/v1/agents/echo/executions?tenantId=acme&status=SUCCESS'
  },
  'list-executions': async ({ run }) => {
    for (const index of times) await run('echo', { text: `${index}` })
    return '/v1/agent_executions?source=API&fields=summary'
  },
  'list-steps': async ({ publish, run }) => {
    await publish('three-steps')
    return `/v1/agent_executions/${getExecutionId(await run('three-steps', { log: '/dev/null' }))}/steps`
  },
  'list-approvals': async ({ publish, run }) => {
    await publish('asks')
    for (const _ of times) await run('asks', {}, 'tenantId=acme')
    return '/v1/approvals?tenantId=acme'
  },
  'list-signals': async ({ publish, run, call }) => {
    await publish('waits')
    const path = `/v1/agent_executions/${getExecutionId(await run('waits', { signal: 'go' }))}/signals`
    for (const body of times) await call('POST', `${path}/other`, { body })
    return path
  },
  'list-deliveries': async ({ id: organizationId, call, run }) => {
    const body = { url: 'https://receiver.example', types: ['batch.ended'] }
    const { id: destinationId } = (await call('POST', '/v1/webhooks', { body })).json
    for (const index of times) {
      const executionId = getExecutionId(await run('echo', { text: `${index}` }))
      await storeDelivery({ organizationId, executionId, destinationId })
    }
    return `/v1/webhooks/${destinationId}/deliveries`
  },
  'list-limits': async (org) => {
    await setLimits(org)
    return '/v1/limits?kind=tenant'
  },
  'list-audit-entries': async (org) => {
    await setLimits(org)
    return '/v1/audit?action=limits.put'
  },
  'list-tokens': async ({ call }) => {
    for (const index of times) await call('POST', '/v1/tokens', { body: { name: `Token ${index}` } })
    return '/v1/tokens'
  },
  'list-schedules': async ({ call }) => {
    const body = { cron: '@daily', input: { text: 'x' } }
    for (const index of times) await call('PUT', `/v1/agents/echo/schedules/s${index}`, { body })
    return '/v1/agents/echo/schedules'
  },
  'list-batches': async (org) => {
    for (const _ of times) await aBatch(org)
    return '/v1/batches?agent=echo'
  },
  'list-batch-results': async (org) => `/v1/batches/${await aBatch(org)}/results`,
  'list-batch-executions': async (org) => `/v1/batches/${await aBatch(org)}/executions?status=SUCCESS`,
  'list-trials': async (org) => {
    for (const _ of times) await startTrial(org)
    return '/v1/trials?agent=echo'
  },
  'list-trial-items': async (org) => `/v1/trials/${await startTrial(org)}/items`,
  'get-usage': async ({ id }) => {
    await putUsage(
      id,
      times.map((index) => aUsageRow({ tenantId: `t${index}` })),
    )
    return '/v1/usage?groupBy=tenant'
  },
  'get-scores': async ({ id }) => {
    const scores = toScoreSums(1, false)
    await putUsage(
      id,
      times.map((index) => aUsageRow({ runs: 0, scorer: `s${index}`, scores })),
    )
    return '/v1/scores'
  },
}

const MAX: Partial<Record<OperationName, number>> = {
  'get-usage': USAGE_PAGE_SIZE.max,
  'get-scores': USAGE_PAGE_SIZE.max,
  'list-batch-results': RESULT_PAGE_SIZE.max,
}

/** The items of a page: those of an array, or lines. */
const itemsOf = ({ json, text, headers }: ApiResponse): unknown[] =>
  headers.get('content-type') === 'application/x-ndjson'
    ? text.split('\n').filter(Boolean)
    : (json as unknown[])

const withParameter = (path: string, parameter: string) =>
  `${path}${path.includes('?') ? '&' : '?'}${parameter}`

it('every list can be filled', () => expect(lists.filter((name) => !FILL[name])).toEqual([]))

describe.concurrent.each(lists)('%s', (name) => {
  let org: TestOrganization
  let path: string
  beforeAll(async () => {
    org = await organizationWith('echo')
    path = (await FILL[name]?.(org)) ?? ''
  })
  const read = (parameter: string) => org.call('GET', withParameter(path, parameter))
  const refuses = async (parameter: string, value: string) => {
    const response = await read(`${parameter}=${value}`)
    expectProblem(response, 'InvalidQueryParameter', name)
    expect(response.json.errors[0].path).toBe(parameter)
  }

  it('returns each item once, page by page, with the same parameters', async () => {
    const all = itemsOf(await read('limit=100'))
    expect(all.length).toBeGreaterThanOrEqual(COUNT)
    const pages = await readPages(org.call, withParameter(path, 'limit=2'))
    const given = [...new URL(path, 'http://x').searchParams]
    for (const page of pages) {
      expect(itemsOf(page).length).toBeLessThanOrEqual(2)
      const next = getNextLink(page)
      const repeated = next && [...new URL(next, 'http://x').searchParams]
      if (repeated) expect(repeated).toEqual(expect.arrayContaining(given))
    }
    expect(pages.flatMap(itemsOf)).toEqual(all)
  })

  it('has no further page after the last item', async () => {
    const all = itemsOf(await read('limit=100'))
    const exact = await read(`limit=${all.length}`)
    expect([itemsOf(exact).length, getNextLink(exact)]).toEqual([all.length, undefined])
  })

  it('accepts limits within its bounds only', async () => {
    const max = MAX[name] ?? 100
    expect((await read(`limit=${max}`)).status).toBe(200)
    for (const limit of ['0', '-1', '1.5', '1e1', 'ten', String(max + 1)]) await refuses('limit', limit)
  })

  it('rejects cursors that it has not given', async () => {
    const next = getNextLink(await read('limit=1')) ?? ''
    const own = new URL(next, 'http://x').searchParams.get('cursor') ?? ''
    const encode = (text: string) => Buffer.from(text).toString('base64url')
    const position = Buffer.from(own, 'base64url').toString().slice(1)
    // The position in the list of limits ends with any text.
    const changed = name === 'list-limits' ? [] : [own.slice(0, -2), `${own}AA`]
    for (const cursor of ['abc', '%00', ...changed, `${own}%3D`, encode(`2${position}`), encode('1x y')])
      await refuses('cursor', cursor)
  })
})

it('a cursor of another organization shows none of its items', async () => {
  const [own, other] = [await organizationWith('echo'), await organizationWith('echo')]
  const path = (await FILL['list-executions']?.(other)) ?? ''
  const link = getNextLink(await other.call('GET', `${path}&limit=1`)) ?? ''
  expect((await own.call('GET', link)).json).toEqual([])
})
