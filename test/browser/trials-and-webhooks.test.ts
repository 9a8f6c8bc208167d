import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseWebhook } from '../../clients/typescript/src/index.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { startServer } from '../support/service/start-server.ts'
import { newDemo } from './demo/new-demo.ts'
import { useBrowser } from './support/browser.ts'
import { button, link, region } from './support/pages.ts'

const { openPage } = useBrowser()
const demo = await newDemo()

/** Where a page could keep a secret for others to find. */
const KEPT = `[document.title, location.href, JSON.stringify(history.state), ...Object.values({ ...localStorage }),
  ...Object.values({ ...sessionStorage }), document.cookie].join('\\n')`

describe('a webhook', () => {
  let receiver: Awaited<ReturnType<typeof startServer>>
  let status = 204
  let received: { text: string; headers: Headers }[] = []
  /** Processes remember the webhooks of an organization for a while: this one has not been asked for its own yet. */
  let org: TestOrganization
  beforeAll(async () => {
    receiver = await startServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => (text += chunk))
      request.on('end', () => {
        const names = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const)
        received.push({ text, headers: new Headers(names.map(([name, value]) => [name, value])) })
        response.writeHead(status).end()
      })
    })
    org = await newOrganization()
    await org.publish('echo')
  })
  afterAll(() => receiver?.stop())
  const open = (hash: string) => openPage({ url: demo.url, token: org.token }, hash)

  it('is created; its secret is shown until it is stored; what failed is redelivered with a valid signature', async () => {
    const page = await open('#/webhooks')
    await page.getByText('There are no webhooks.').waitFor()
    await button(page, 'Create webhook…').click()
    await page.getByLabel('URL').fill(`http://${receiver.host}/events`)
    await button(page, 'Create webhook').click()
    await page.getByText('“URL” must start with https:// unless “Allowed hosts” contains').waitFor()
    await page.getByText('Which runs, and private receivers').click()
    await page.getByLabel('Allowed hosts').fill(receiver.host)
    await button(page, 'Create webhook').click()
    const shown = page.locator('.shown-once code')
    const secret = (await shown.textContent()) ?? ''
    // Twice: browsers close a dialog on the second one.
    for (let count = 0; count < 3; count++) await page.keyboard.press('Escape')
    await expect.poll(() => shown.isVisible()).toBe(true)
    const asksBeforeLeaving = `!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))`
    expect(await page.evaluate(asksBeforeLeaving)).toBe(true)
    expect(await page.evaluate(KEPT)).not.toContain(secret.slice(6))
    expect(await button(page, 'Close').isDisabled()).toBe(true)
    await page.getByLabel('I have stored the secret').check()
    await button(page, 'Close').click()
    expect(await page.content()).not.toContain(secret)

    await page.getByRole('link', { name: `http://${receiver.host}/events` }).click()
    await page.getByText('Nothing was sent yet.').waitFor()
    await button(page, 'Send test event…').click()
    await button(page, 'Send test event').click()
    await page.getByText('The receiver accepted it with 204.').waitFor()
    await button(page, 'Close').click()

    status = 500
    received = []
    await expect
      .poll(async () => (await org.run('echo', { text: 'a' })) && received.length, { interval: 2_000 })
      .toBeGreaterThan(0)
    const row = page.getByRole('row').filter({ hasText: 'Run succeeded' }).first()
    await expect
      .poll(async () => {
        await page.reload()
        await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
        await page.locator('.spinner').first().waitFor({ state: 'detached' })
        return row.count()
      })
      .toBe(1)
    await row.getByText('Tried again').waitFor()
    status = 204
    received = []
    await row.getByRole('link', { name: 'Run succeeded' }).click()
    await button(page, 'Redeliver now').click()
    await page.getByText('The receiver accepted it with 204.').waitFor()
    const [event] = received
    const parsed = await parseWebhook(event?.text ?? '', event?.headers ?? new Headers(), secret)
    expect(parsed.type).toBe('execution.succeeded')
  })

  it('is edited, disabled, enabled, given a new secret and deleted', async () => {
    const page = await open('#/webhooks')
    await page.getByRole('link', { name: `http://${receiver.host}/events` }).click()
    await button(page, 'Edit…').click()
    await page.getByLabel('Cost limit almost used up').check()
    await button(page, 'Save webhook').click()
    await page.getByText(/Cost limit almost used up/).waitFor()
    await button(page, 'Disable…').click()
    await button(page, 'Disable webhook').click()
    await page.getByText('It was disabled by a user.').waitFor()
    await button(page, 'Enable…').click()
    await button(page, 'Enable webhook').click()
    await button(page, 'Rotate secret…').click()
    await button(page, 'Rotate secret').click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByLabel('I have stored the secret').check()
    await button(page, 'Close').click()
    await button(page, 'Delete…').click()
    await button(page, 'Delete webhook').click()
    await page.getByText('There are no webhooks.').waitFor()
  })
})

describe('a trial', () => {
  beforeAll(async () => {
    const question = 'Where is it?'
    for (const orderId of ['A-1001', 'A-1002', 'A-1003'])
      await demo.run('order-support', { orderId, question }, 'tenantId=tried')
    const change = (document: string) => document.replace('Look the order', 'Always look the order')
    await demo.publish('order-support', { draft: true, change })
  })

  async function start(page: Page, maxCost: string): Promise<void> {
    await page.getByLabel('Agent').selectOption('order-support')
    await page.getByLabel('Tenant').fill('tried')
    await page.getByLabel('Cost limit (US dollars)').fill(maxCost)
    await button(page, 'Start trial').dblclick()
  }

  it('of the draft is started once by the form, and shows what would change', async () => {
    const page = await openPage(demo, '#/trials')
    await page.getByRole('link', { name: 'Start one' }).click()
    await start(page, '1')
    await region(page, 'Against the originals').waitFor()
    const counts = page.getByRole('list', { name: 'Runs by verdict' })
    expect(await counts.getByRole('listitem').allTextContents()).toEqual([
      'All 3',
      ...['Same 1', 'Equivalent 0', 'Changed 1', 'Corrected 0', 'Regressed 0', 'Diverged 1', 'Failed 0'],
    ])
    const gate = region(page, 'Gate')
    await gate.getByText('No gate', { exact: true }).waitFor()
    // As `agents trial` says, which exits with 0.
    await gate.getByText('Not all runs are as good as they were. The current version has no gate.').waitFor()
    await page.getByRole('link', { name: /^Diverged/ }).click()
    await page
      .getByText(/get_order/)
      .first()
      .waitFor()
    await page.getByRole('link', { name: /^Changed/ }).click()
    const differences = page.getByRole('list', { name: /^Differences/ }).getByRole('listitem')
    await expect.poll(() => differences.allTextContents()).toEqual(['/refund falsetrue'])
    await region(page, 'Changed fields').getByRole('row', { name: '/refund 1' }).waitFor()
    await button(page, 'Report…').click()
    expect(await page.getByRole('textbox', { name: 'Report' }).inputValue()).toContain('<code>/refund</code>')
    await page.keyboard.press('Escape')
    const promote = await link(page, 'Promote this version').getAttribute('href')
    expect(promote).toMatch(/^#\/agents\/order-support\/versions\/[^?]*\?trial=/)
    await page.goto(`${demo.url}/console#/trials`)
    await page.getByText('3 of 3').waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await page.goBack()
    await button(page, 'Delete…').click()
    await button(page, 'Delete trial').click()
    await page.getByText('There are no trials of this agent or version yet.').waitFor()
  })
})
