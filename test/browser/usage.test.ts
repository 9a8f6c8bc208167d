import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { INTERVAL_MS, type UsageInterval } from '../../lib/core/usage.ts'
import type { UsageLimits } from '../../lib/core/usage-limits.ts'
import type { HttpResponse } from '../../lib/http/event.ts'
import { AGENT_ID, aMe, anAgentRecord, anExecutionRecord } from './stub/records.ts'
import { problem } from './stub/responses.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aLimitsRecord, aUsageRow } from './stub/usage.ts'
import { findViolations } from './support/axe.ts'
import { useBrowser } from './support/browser.ts'
import { settle } from './support/page.ts'

type Parameters = Partial<Record<string, string>>

const { open } = useBrowser()
let stub: Stub
let me: object
let limits: Map<string, UsageLimits>
let usage: Parameters[]
let listed: Parameters[]
let sent: { method: string; tenantId: string; body: unknown }[]
let answerToPut: HttpResponse | null

/** Runs of two tenants in the first and in the last interval of the period; none in between. */
function usageOf({ from = '', interval = 'hour', groupBy, tenantId }: Parameters) {
  const ms = INTERVAL_MS[interval as UsageInterval]
  const times = [Date.parse(from), Math.floor(Date.now() / ms) * ms].map((time) =>
    new Date(time).toISOString(),
  )
  const keys =
    groupBy === 'tenant'
      ? [{ tenantId: 'acme' }, { tenantId: null }]
      : [groupBy === 'agent' ? { agentId: AGENT_ID } : {}]
  return times.flatMap((start) =>
    keys.map((key, index) =>
      aUsageRow({
        start,
        ...key,
        runs: 3 - index,
        errors: { AgentFailed: 1 },
        costUsd: tenantId ? 1 : 2 - index,
      }),
    ),
  )
}

const tenantOf = ({ pathParameters }: APIGatewayProxyEvent) =>
  decodeURIComponent(pathParameters?.tenantId ?? '')

function findLimits(event: APIGatewayProxyEvent): HttpResponse {
  const found = limits.get(tenantOf(event))
  if (!found) return problem(404, { code: 'LimitsNotFound' })
  return { status: 200, body: { ...found, spentUsd: { day: 5.5, month: 31.4 }, openExecutions: 3 } }
}

beforeAll(async () => {
  stub = await startStub({
    'get-me': () => ({ status: 200, body: me }),
    'list-agents': () => ({ status: 200, body: [anAgentRecord()] }),
    'list-executions': ({ queryStringParameters }) => {
      listed.push(queryStringParameters ?? {})
      return { status: 200, body: [anExecutionRecord(0)] }
    },
    'list-agent-executions': () => ({ status: 200, body: [anExecutionRecord(0)] }),
    'get-usage': ({ queryStringParameters }) => {
      usage.push(queryStringParameters ?? {})
      return { status: 200, body: usageOf(queryStringParameters ?? {}) }
    },
    'list-limits': () => ({
      status: 200,
      body: [...limits].map(([tenantId, each]) => aLimitsRecord(tenantId, each)),
    }),
    'get-tenant-limits': findLimits,
    'put-tenant-limits': (event) => {
      const body = JSON.parse(event.body ?? '')
      sent.push({ method: 'PUT', tenantId: tenantOf(event), body })
      if (answerToPut) return answerToPut
      limits.set(tenantOf(event), body)
      return { status: 200, body: aLimitsRecord(tenantOf(event), body) }
    },
    'delete-tenant-limits': (event) => {
      sent.push({ method: 'DELETE', tenantId: tenantOf(event), body: null })
      limits.delete(tenantOf(event))
      return { status: 204, body: null }
    },
  })
})
afterAll(() => stub?.stop())

beforeEach(() => {
  me = aMe()
  limits = new Map([['acme', aLimitsRecord('acme')]])
  usage = []
  listed = []
  sent = []
  answerToPut = null
})

async function openPage(hash: string): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`)
  await settle(page)
  await page.goto('about:blank')
  usage = []
  listed = []
  await page.goto(`${stub.url}/console${hash}`)
  await settle(page)
  return page
}

const figure = (page: Page, name: RegExp) => page.getByRole('figure', { name })
const runsFigure = (page: Page) => figure(page, /^Runs by/)

/** Of each bar of the first chart. */
const HEIGHTS = `[...document.querySelector('figure').querySelectorAll('svg a')].map((bar) =>
  [...bar.querySelectorAll('rect[class]')].reduce((sum, part) => sum + Number(part.getAttribute('height')), 0))`

describe('the overview', () => {
  it.each([
    ['1h', 'minute', 60, 60],
    ['24h', 'hour', 24, 24],
    ['30d', 'day', 30, 30],
    // The last day has only the parts until now.
    ['7d', 'hour', 37, 42],
  ])('of %s has an axis that ends now, with a gap for an outage', async (period, interval, min, max) => {
    const page = await openPage(`#/?period=${period}`)
    const bars = runsFigure(page).locator('svg a')
    const count = await bars.count()
    expect(count).toBeGreaterThanOrEqual(min)
    expect(count).toBeLessThanOrEqual(max)
    const heights: number[] = await page.evaluate(HEIGHTS)
    expect(heights.map((height) => height > 0)).toEqual(
      heights.map((_, index) => index === 0 || index === count - 1),
    )
    await runsFigure(page).getByText('now', { exact: true }).waitFor()
    expect(usage.find(({ groupBy }) => groupBy === undefined)).toMatchObject({ interval })
  })

  it('reads usage, and of the runs only those in progress', async () => {
    const page = await openPage('#/')
    await page.getByRole('link', { name: 'acme' }).waitFor()
    expect(usage.map(({ groupBy = 'none' }) => groupBy).sort()).toEqual(['agent', 'none', 'tenant'])
    expect(listed.map(({ status }) => status)).toEqual(['IN_PROGRESS'])
  })

  it('keeps its period in the URL', async () => {
    const page = await openPage('#/')
    await page.getByRole('button', { name: '7 d' }).click()
    await expect.poll(() => page.url()).toMatch(/#\/\?period=7d$/)
    await page.reload()
    await runsFigure(page).waitFor()
    expect(await page.getByRole('button', { name: '7 d' }).getAttribute('aria-pressed')).toBe('true')
  })

  it('leads from a bar to the runs of its time', async () => {
    const page = await openPage('#/')
    await figure(page, /^Failed runs/)
      .locator('svg a')
      .last()
      .click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    await page.getByText(/^1 run/).waitFor()
    expect(await page.getByLabel('Status').inputValue()).toBe('ERROR')
    const { from = '', to = '', status } = listed.at(-1) ?? {}
    expect(status).toBe('ERROR')
    expect(Date.parse(to) - Date.parse(from)).toBe(3_600_000)
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(from))
  })

  it('has the same links for keyboards, in the table of a chart', async () => {
    const page = await openPage('#/?period=30d')
    const chart = runsFigure(page)
    const targets = async (selector: string) =>
      Promise.all((await chart.locator(selector).all()).map((link) => link.getAttribute('href')))
    expect((await targets('table a')).length).toBe(30)
    expect(await targets('table a')).toEqual(await targets('svg a'))
    await chart.getByText('Show as a table').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  })

  it.each([
    ['AgentFailed', /^#\/runs\?status=ERROR&period=7d$/],
    ['Triage ticket', /^#\/runs\?agent=triage-ticket&period=7d$/],
    ['acme', /^#\/runs\?tenantId=acme&period=7d$/],
    ['Tenants and their limits', /^#\/tenants\?period=7d$/],
  ])('leads from %s to a page with filters', async (name, target) => {
    const page = await openPage('#/?period=7d')
    const link = page.getByRole('region', { name: 'Usage' }).getByRole('link', { name, exact: true })
    await link.waitFor()
    expect(await link.getAttribute('href')).toMatch(target)
  })

  it('has no violations with data', async () => {
    const page = await openPage('#/?period=1h')
    await page.getByRole('link', { name: 'acme' }).waitFor()
    await page.getByText('Show as a table').first().click()
    expect(await findViolations(page)).toEqual([])
  })
})

describe('the page of tenants', () => {
  it('lists usage, limits and what is left, also of tenants without usage', async () => {
    limits.set(
      'idle',
      aLimitsRecord('idle', { maxCostUsd: { day: null, month: 50 }, maxRunsPerMinute: null }),
    )
    const page = await openPage('#/tenants?period=7d')
    const rowOf = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
    const cellsOf = (name: string) => rowOf(name).getByRole('cell').allTextContents()
    await rowOf('idle').getByText('7 of 10').waitFor()
    await rowOf('acme').getByText('7 of 10').waitFor()
    expect(await cellsOf('acme')).toEqual([
      '6',
      '2',
      '$4.00',
      '$0 of $5.00',
      '$68.60 of $100.00',
      '7 of 10',
      '60',
    ])
    expect(await cellsOf('No tenant')).toEqual(['4', '2', '$2.00', '–', '–', '–', '–'])
    expect(await cellsOf('idle')).toEqual(['0', '0', '$0', '–', '$18.60 of $50.00', '7 of 10', '–'])
    expect(usage.every(({ groupBy, interval }) => groupBy === 'tenant' && interval === 'day')).toBe(true)
    expect(await rowOf('acme').getByRole('link', { name: '2' }).getAttribute('href')).toBe(
      '#/runs?tenantId=acme&status=ERROR&period=7d',
    )
    expect(await findViolations(page)).toEqual([])
  })

  it('finds a tenant, and leads to one that has nothing yet', async () => {
    const page = await openPage('#/tenants')
    await page.getByLabel('Search').fill('ACM')
    await expect.poll(() => page.getByRole('rowheader').allTextContents()).toEqual(['acme'])
    await page.getByLabel('Search').fill('new/tenant')
    await page.getByRole('link', { name: 'Set limits of “new/tenant”' }).click()
    await page.getByRole('heading', { level: 1, name: 'new/tenant' }).waitFor()
    await page.getByText('This tenant has no limits.').waitFor()
    expect(await page.getByRole('button', { name: 'Delete limits…' }).count()).toBe(0)
  })

  it('offers a token that may only read no change of limits', async () => {
    me = { ...aMe(), scopes: ['read'] }
    const page = await openPage('#/tenants?search=new')
    await page.getByText('No tenant with usage or limits matches this search.').waitFor()
    expect(await page.getByRole('link', { name: /^Set limits/ }).count()).toBe(0)
    await page.goto(`${stub.url}/console#/tenants/acme`)
    await page.getByRole('cell', { name: '$68.60' }).waitFor()
    expect(await page.getByRole('button', { name: /limits…$/ }).count()).toBe(0)
  })
})

describe('the page of a tenant', () => {
  it('has the usage of this tenant alone', async () => {
    const page = await openPage('#/tenants/acme')
    await page.getByRole('heading', { name: 'Cost by agent' }).waitFor()
    await expect.poll(() => usage.length).toBe(2)
    expect(usage.every(({ tenantId }) => tenantId === 'acme')).toBe(true)
    expect(await page.getByRole('heading', { name: 'Cost by tenant' }).count()).toBe(0)
    expect(await runsFigure(page).locator('svg a').first().getAttribute('href')).toContain('tenantId=acme')
  })

  it('sets limits: an empty field limits nothing', async () => {
    limits.clear()
    const page = await openPage('#/tenants/acme')
    await page.getByRole('button', { name: 'Set limits…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Limits' })
    await dialog.getByLabel('Cost per day').fill('2.5')
    await dialog.getByLabel('Warn at').fill('80')
    await dialog.getByLabel(/^Open runs/).fill('3')
    await dialog.getByLabel(/asynchronous runs wait/).check()
    await dialog.getByRole('button', { name: 'Save limits' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Change limits…' }).waitFor()
    const body = {
      ...{ maxOpenExecutions: 3, maxRunsPerMinute: null, maxCostUsd: { day: 2.5, month: null } },
      ...{ warnAt: 0.8, queueWhenFull: true },
    }
    expect(sent).toEqual([{ method: 'PUT', tenantId: 'acme', body }])
    await page.getByText('A warning is sent at 80% of a cost limit.').waitFor()
  })

  it('changes limits, which its form shows', async () => {
    const page = await openPage('#/tenants/acme')
    await page.getByRole('button', { name: 'Change limits…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Limits' })
    expect(await dialog.getByLabel('Warn at').inputValue()).toBe('80')
    await dialog.getByLabel('Runs per minute').fill('')
    await dialog.getByRole('button', { name: 'Save limits' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { updatedAt: _, tenantId: __, ...others } = aLimitsRecord('acme')
    expect(sent.map(({ body }) => body)).toEqual([{ ...others, maxRunsPerMinute: null }])
    await expect.poll(() => page.getByRole('rowheader').allTextContents()).not.toContain('Runs per minute')
  })

  it('keeps what was entered when the service refuses it', async () => {
    answerToPut = problem(422, { code: 'InputSchemaMismatch' })
    const page = await openPage('#/tenants/acme')
    await page.getByRole('button', { name: 'Change limits…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Limits' })
    await dialog.getByLabel('Cost per month').fill('7')
    await dialog.getByRole('button', { name: 'Save limits' }).click()
    await dialog.getByRole('alert').waitFor()
    expect(await dialog.getByLabel('Cost per month').inputValue()).toBe('7')
    answerToPut = null
    await dialog.getByRole('button', { name: 'Save limits' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('deletes limits after a confirmation', async () => {
    const page = await openPage('#/tenants/acme')
    await page.getByRole('button', { name: 'Delete limits…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Keep limits' }).click()
    expect(sent).toEqual([])
    await page.getByRole('button', { name: 'Delete limits…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete limits' }).click()
    await page.getByText('This tenant has no limits.').waitFor()
    expect(sent.map(({ method }) => method)).toEqual(['DELETE'])
  })
})

describe('a token', () => {
  it('that is bound to a tenant sees its limits and usage, and changes nothing', async () => {
    const left = { openExecutions: 7, costUsd: { day: 0, month: 68.6 } }
    me = { ...aMe(), tenantId: 'acme', limits: { ...aLimitsRecord('acme'), left } }
    const page = await openPage('#/tenants')
    await page.getByRole('heading', { level: 1, name: 'acme' }).waitFor()
    await page.getByRole('cell', { name: '$68.60' }).waitFor()
    expect(await page.getByRole('button', { name: /limits…$/ }).count()).toBe(0)
    const overview = await openPage('#/')
    await overview.getByRole('heading', { name: 'Cost by agent' }).waitFor()
    expect(await overview.getByRole('heading', { name: 'Cost by tenant' }).count()).toBe(0)
  })

  it.each(['#/', '#/tenants', '#/tenants/acme'])(
    'without the scope `read` is told so by %s',
    async (hash) => {
      me = { ...aMe(), scopes: ['run'] }
      const page = await openPage(hash)
      await page.getByText('This page needs a token with the scope').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
      await page.getByRole('button', { name: 'Sign in with another token' }).click()
      await page.getByLabel('API token').waitFor()
    },
  )
})
