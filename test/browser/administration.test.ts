import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { useBrowser } from './support/browser.ts'
import { button, heading, link, region } from './support/pages.ts'

const { openPage } = useBrowser()
const url = inject('service')

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  await org.run('echo', { text: 'a' }, 'tenantId=acme')
})

const open = (hash: string) => openPage({ url, token: org.token }, hash)
const row = (page: Page, name: string | RegExp) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })

/** Where a page could keep a token for others to find. */
const KEPT = `[document.title, location.href, JSON.stringify(history.state), ...Object.values({ ...localStorage }),
  ...Object.values({ ...sessionStorage }), document.cookie].join('\\n')`

describe('a token', () => {
  const shown = (page: Page) => page.getByRole('dialog', { name: 'The new token' })
  const textOf = async (page: Page) => (await shown(page).locator('.shown-once code').textContent()) ?? ''

  async function store(page: Page): Promise<void> {
    await page.getByLabel('I have stored the token').check()
    await button(page, 'Close').click()
    await shown(page).waitFor({ state: 'detached' })
  }

  it('is created, and shown until it is stored: no key and no page loses it', async () => {
    const page = await open('#/tokens')
    await button(page, 'Create token…').click()
    const form = page.getByRole('dialog', { name: 'Create a token' })
    await form.getByLabel('Name').fill('deploy')
    for (const scope of [/^run/, /^read/]) await form.getByLabel(scope).uncheck()
    await button(page, 'Create token').click()
    await form.getByText('Choose at least one scope.').waitFor()
    await form.getByLabel(/^read/).check()
    await form.getByLabel('Days until it expires').fill('30')
    await form.getByText('Limits', { exact: true }).click()
    await form.getByLabel('Tenant').fill('acme')
    await button(page, 'Create token').click()
    const token = await textOf(page)
    for (let count = 0; count < 3; count++) await page.keyboard.press('Escape')
    expect(await button(page, 'Close').isDisabled()).toBe(true)
    await page.evaluate(`location.hash = '#/runs'`)
    await heading(page, 'Runs').waitFor()
    await page.goBack()
    await shown(page).getByText(token).waitFor()
    expect(await page.evaluate(KEPT)).not.toContain(token.slice(4))
    await store(page)
    expect(await page.content()).not.toContain(token)
    expect(await row(page, 'deploy').textContent()).toMatch(/Valid.*until.*read.*acme/)
    const response = await fetch(`${url}/v1/me`, { headers: { Authorization: `Bearer ${token}` } })
    expect(await response.json()).toMatchObject({ scopes: ['read'], tenantId: 'acme' })
  })

  it('is rotated with an overlap, and revoked after a question', async () => {
    const page = await open('#/tokens')
    await row(page, 'deploy').getByRole('button', { name: 'Rotate…' }).click()
    await page.getByLabel('Overlap').selectOption({ label: '1 hour' })
    await page.route('**/v1/tokens/*', (route) => route.abort(), { times: 1 })
    await button(page, 'Rotate token').click()
    await shown(page).getByText('The old token could not be ended.').waitFor()
    await shown(page).getByRole('button', { name: 'Retry' }).click()
    await shown(page)
      .getByText(/The old token is valid until/)
      .waitFor()
    await store(page)
    await expect.poll(() => row(page, 'deploy').count()).toBe(2)
    await row(page, 'deploy').first().getByRole('button', { name: 'Revoke…' }).click()
    await button(page, 'Keep token').click()
    await row(page, 'deploy').first().getByRole('button', { name: 'Revoke…' }).click()
    await button(page, 'Revoke token').click()
    await row(page, 'deploy').getByText('Revoked').waitFor()
    await button(page, 'All').click()
    await page.reload()
    await row(page, 'deploy').getByText('Revoked').waitFor()
  })
})

describe('limits of a tenant', () => {
  it('are set, shown in the list, changed and deleted', async () => {
    const page = await open('#/tenants')
    await page.getByLabel('Search').fill('new/tenant')
    await page.getByRole('link', { name: 'Set limits of “new/tenant”' }).click()
    await heading(page, 'new/tenant').waitFor()
    await page.getByText('This tenant has no limits.').waitFor()
    await button(page, 'Set limits…').click()
    const dialog = page.getByRole('dialog', { name: 'Limits' })
    await dialog.getByLabel('Cost per day').fill('2.5')
    await dialog.getByLabel('Warn at').fill('80')
    await dialog.getByLabel(/^Open runs/).fill('3')
    await dialog.getByLabel(/asynchronous runs wait/).check()
    await button(page, 'Save limits').click()
    await page.getByText('A warning is sent at 80% of a cost limit.').waitFor()
    const path = `/v1/tenants/${encodeURIComponent('new/tenant')}/limits`
    expect((await org.call('GET', path)).json).toMatchObject({
      ...{ maxOpenExecutions: 3, maxRunsPerMinute: null, maxCostUsd: { day: 2.5, month: null } },
      ...{ warnAt: 0.8, queueWhenFull: true },
    })
    await button(page, 'Change limits…').click()
    expect(await dialog.getByLabel('Warn at').inputValue()).toBe('80')
    await dialog.getByLabel(/^Open runs/).fill('')
    await button(page, 'Save limits').click()
    await dialog.waitFor({ state: 'detached' })
    await page.goto(`${url}/console#/tenants`)
    await row(page, 'new/tenant').getByText('of $2.50').waitFor()
    await page.goBack()
    await button(page, 'Delete limits…').click()
    await button(page, 'Keep limits').click()
    await button(page, 'Delete limits…').click()
    await button(page, 'Delete limits').click()
    await page.getByText('This tenant has no limits.').waitFor()
  })
})

describe('the overview', () => {
  it('keeps its period in the URL, and leads from a bar and a tenant to their runs', async () => {
    const usage = () => org.call('GET', '/v1/usage?groupBy=tenant')
    // Runs are counted a while after they have ended.
    await expect.poll(async () => (await usage()).text, { timeout: 120_000 }).toContain('acme')
    const page = await open('#/')
    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByText('Nothing.').waitFor()
    await button(page, '1 h').click()
    await expect.poll(() => page.url()).toMatch(/#\/\?period=1h$/)
    const chart = page.getByRole('figure', { name: /^Runs by/ })
    await chart.locator('svg a').nth(1).waitFor()
    const hrefs = async (selector: string) =>
      Promise.all((await chart.locator(selector).all()).map((each) => each.getAttribute('href')))
    expect(await hrefs('table a')).toEqual(await hrefs('svg a'))
    expect((await hrefs('svg a')).length).toBe(60)
    await button(page, '7 d').click()
    await link(page, 'acme').click()
    await heading(page, /^(?:Runs|acme)$/).waitFor()
    expect(page.url()).toContain('acme')
  })
})

describe('the audit log', () => {
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Change', exact: true })
  const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('rowheader') })

  it('says who changed what, from where and what it was before; its filters are in the URL', async () => {
    const own = await newOrganization()
    const versions = [(await own.publish('echo')).id, (await own.publish('echo', { draft: true })).id]
    await own.call('POST', `/v1/agents/echo/versions/${versions[1]}/promote`)
    await own.call('PUT', '/v1/tenants/acme/limits', { body: { maxOpenExecutions: 0 } })
    const page = await openPage({ url, token: own.token }, '#/audit')
    await rows(page).nth(1).waitFor()
    const [limits = '', promotion = ''] = await rows(page).allTextContents()
    expect(limits).toMatch(/Set limits.*test \(you\).*Failed: \w+.*127\.0\.0\.1$/)
    expect(promotion).toMatch(/Promote version.*Succeeded/)
    await link(page, 'Promote version').click()
    const change = dialog(page).getByRole('row', { name: /currentVersionId/ })
    expect(await change.textContent()).toBe(`currentVersionId${versions.join('')}`)
    await dialog(page).getByRole('link', { name: 'Everything about this' }).click()
    await expect.poll(() => rows(page).count()).toBe(1)
    expect(page.url()).toContain(`#/audit?target=${versions[1]}`)
    await button(page, 'Clear filters').click()
    await page.getByLabel('Action').selectOption('Set limits')
    await expect.poll(() => rows(page).count()).toBe(1)
    await page.reload()
    expect(await page.getByLabel('Action').inputValue()).toBe('limits.put')
    await page.getByLabel('By', { exact: true }).fill('nobody')
    await page.keyboard.press('Enter')
    await page.getByText('No change matches these filters.').waitFor()
    await page.evaluate(`location.hash = '#/audit?entry=${'x'.repeat(40)}'`)
    await dialog(page).getByText('The log has no such change.').waitFor()
  })
})

describe('a first visit', () => {
  it('leads from creating an agent to its first run, without a reload', async () => {
    const own = await newOrganization()
    const page = await openPage({ url, token: own.token })
    const card = region(page, 'Create your first agent')
    expect(await card.locator('pre').textContent()).toContain(`publish agents/count-words --url ${url}`)
    await own.publish('echo')
    await region(page, 'Run your first agent').waitFor()
    expect(await page.locator('pre').textContent()).not.toContain(own.token)
    const input = page.getByLabel('Input (JSON)')
    expect(JSON.parse(await input.inputValue())).toEqual({ text: expect.any(String) })
    await input.fill('{')
    await button(page, 'Run').click()
    await region(page, 'Run your first agent').getByRole('alert').waitFor()
    await input.fill('{"text":"a"}')
    await button(page, 'Run').dblclick()
    await page.waitForURL(/#\/runs\//)
    expect((await own.call('GET', '/v1/agent_executions')).json).toHaveLength(1)
    await page.goBack()
    await page.getByRole('heading', { name: 'Runs over time' }).waitFor()
  })
})
