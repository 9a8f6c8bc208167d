import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseWebhook } from '../../clients/typescript/src/index.ts'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { useBrowser } from './support/browser.ts'
import { button } from './support/page.ts'

const { open } = useBrowser()
let demo: Demo
let receiver: Server
let status = 204
let received: { text: string; headers: Headers }[] = []

beforeAll(async () => {
  demo = await startDemo()
  receiver = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      const names = Object.entries(request.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ])
      received.push({ text, headers: new Headers(names) })
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await demo?.stop()
  receiver?.closeAllConnections()
  receiver?.close()
})

async function openPage(hash: string): Promise<Page> {
  const page = await open(`${demo.url}/console#token=${demo.token}`)
  await page.goto(`${demo.url}/console${hash}`)
  return page
}

describe('with the real service', () => {
  it('a webhook is created, tested and told of a run; what failed is redelivered, and its signature is valid', async () => {
    const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
    const page = await openPage('#/webhooks')
    await button(page, 'Create webhook…').click()
    await page.getByLabel('URL').fill(`http://${host}/events`)
    await button(page, 'Create webhook').click()
    await page.getByText('“URL” must start with https:// unless “Allowed hosts” contains').waitFor()
    await page.getByText('Which runs, and private receivers').click()
    await page.getByLabel('Allowed hosts').fill(host)
    await button(page, 'Create webhook').click()
    const secret = (await page.locator('.shown-once code').textContent()) ?? ''
    await page.getByLabel('I have stored the secret').check()
    await button(page, 'Close').click()

    await page.getByRole('link', { name: `http://${host}/events` }).click()
    await page.getByText('Nothing was sent yet.').waitFor()
    await button(page, 'Send test event…').click()
    await button(page, 'Send test event').click()
    await page.getByText('The receiver accepted it with 204.').waitFor()
    await button(page, 'Close').click()

    status = 500
    received = []
    // Processes read the webhooks of an organization every 30 s.
    const runOnce = async () => {
      await demo.run('redact-pii', { content: 'ada@example.com' })
      return received.length
    }
    await expect.poll(runOnce, { timeout: 60_000, interval: 3_000 }).toBeGreaterThan(0)
    const row = page.getByRole('row').filter({ hasText: 'Run succeeded' }).first()
    await expect
      .poll(
        async () => {
          await page.reload()
          await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
          await page.locator('.spinner').first().waitFor({ state: 'detached' })
          return row.count()
        },
        { timeout: 60_000 },
      )
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
    await button(page, 'Close').click()
    await row.getByText('Delivered').waitFor()
  })

  it('a trial of the draft is started by the form, and shows what would change', async () => {
    for (const order of ['A-1001', 'A-1002', 'A-1003'])
      await demo.run('order-support', { orderId: order, question: 'Where is it?' })
    const change = (document: string) => document.replace('Look the order', 'Always look the order')
    await demo.publish('order-support', { draft: true, change })
    const page = await openPage('#/trials')
    await page.getByRole('link', { name: 'Start one' }).click()
    await page.getByLabel('Agent').selectOption('order-support')
    await page.getByLabel('Cost limit (US dollars)').fill('1')
    await button(page, 'Start trial').click()
    await page.getByRole('region', { name: 'Against the originals' }).waitFor()
    const counts = page.getByRole('list', { name: 'Runs by verdict' })
    expect(await counts.getByRole('listitem').allTextContents()).toEqual([
      'All 3',
      ...['Same 1', 'Changed 1', 'Corrected 0', 'Regressed 0', 'Diverged 1', 'Failed 0'],
    ])
    await page.getByRole('link', { name: /^Diverged/ }).click()
    await page
      .getByText(/get_order/)
      .first()
      .waitFor()
    await page.getByRole('link', { name: /^Changed/ }).click()
    const differences = page.locator('.difference-row')
    await expect.poll(() => differences.allTextContents()).toEqual(['/refundfalsetrue'])
    await page.getByRole('link', { name: /^01/ }).last().click()
    await page.getByRole('heading', { name: 'Input', exact: true }).waitFor()
  })
})
