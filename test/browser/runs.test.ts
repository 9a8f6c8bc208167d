import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { useBrowser } from './support/browser.ts'

const { open } = useBrowser()
let demo: Demo
beforeAll(async () => {
  demo = await startDemo()
  for (let number = 0; number < 130; number += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const tenant = `tenantId=${index % 2 ? 'acme' : 'globex'}`
        return index === 9
          ? demo.run('import-contacts', { count: 4, fail: true }, tenant)
          : demo.run('wait', { seconds: 0 }, tenant)
      }),
    )
})
afterAll(() => demo?.stop())

async function openPage(hash: string): Promise<Page> {
  const page = await open(`${demo.url}/console#token=${demo.token}`)
  await page.goto(`${demo.url}/console${hash}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

const rows = (page: Page) => page.getByRole('link', { name: /^01/ })

describe('the list of runs', () => {
  it('loads further pages while one scrolls', async () => {
    const page = await openPage('#/runs')
    await rows(page).first().waitFor()
    const [, oldest] = (await demo.call('GET', '/v1/agent_executions?limit=100')).json.slice(-2)
    await expect
      .poll(async () => {
        await page.mouse.move(600, 500)
        await page.mouse.wheel(0, 3_000)
        return page.getByText('130 runs').count()
      })
      .toBe(1)
    expect(oldest).toBeDefined()
  })

  it('has filters, which are in the URL', async () => {
    const page = await openPage('#/runs')
    await page.getByLabel('Status').selectOption('ERROR')
    await page.getByText(/^13 runs/).waitFor()
    await page.getByLabel('Tenant').fill('acme')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toMatch(/status=ERROR&.*tenantId=acme|tenantId=acme&.*status=ERROR/)
    await page.getByText(/^13 runs/).waitFor()
    await page.getByLabel('Tenant').fill('globex')
    await page.keyboard.press('Enter')
    await expect.poll(() => rows(page).count()).toBe(0)
    const shared = await openPage(new URL(page.url()).hash)
    expect(await shared.getByLabel('Status').inputValue()).toBe('ERROR')
    await shared.getByLabel('Tenant').fill('')
    await shared.getByLabel('Agent', { exact: true }).fill('import-contacts')
    await shared.keyboard.press('Enter')
    await shared.getByText(/^13 runs/).waitFor()
  })

  it('shows new runs, and how they end, without a reload', async () => {
    const page = await openPage('#/runs?tenantId=live')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    const id = await demo.run('wait', { seconds: 4 }, 'execMode=async&tenantId=live')
    const row = page.locator('tr, li, [role=row]').filter({ hasText: id.slice(-4) })
    await row.getByText('In progress').waitFor()
    await row.getByText('Success').waitFor()
  })
})

describe('the page of a run', () => {
  it('shows steps as they are completed', async () => {
    const id = await demo.run('import-contacts', { count: 8, pauseMs: 900 }, 'execMode=async')
    const page = await openPage(`#/runs/${id}`)
    await page.getByText('In progress').first().waitFor()
    await page.getByRole('treeitem', { name: /1\. batch 1/ }).waitFor()
    expect(await page.getByText('Success').count()).toBe(0)
    await page.getByText('Success').first().waitFor()
    await page.getByText('"imported"').waitFor()
    await page.getByText('batch 4: 2 contacts').waitFor()
  })

  it('shows responses, parallel calls and their results, and leads to the run of an agent that was called', async () => {
    const id = await demo.run('order-support', { order_id: 'A-9', question: 'Where is it?' })
    const page = await openPage(`#/runs/${id}`)
    await page.getByText('Renamed /order_id to /orderId.').waitFor()
    await page.getByRole('treeitem', { name: /1\. Model response.*2 calls/ }).waitFor()
    expect(await page.getByRole('treeitem', { name: /get_order/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Open all' }).click()
    for (const name of [/1\. Model response/, /^get_order/, /^get_shipment/, /^redact/])
      await page.getByRole('treeitem', { name }).first().waitFor()
    await page.getByRole('treeitem', { name: /^redact/ }).click()
    await expect.poll(() => page.url()).toContain('?step=2.1')
    const [child] = (await demo.call('GET', '/v1/agent_executions?limit=5')).json.filter(
      ({ parentExecutionId }: { parentExecutionId?: string }) => parentExecutionId === id,
    )
    await page.locator(`a[href="#/runs/${child.id}"]`).first().click()
    await page.locator(`a[href="#/runs/${id}"]`).first().click()
    await page.getByText('Renamed /order_id to /orderId.').waitFor()
  })

  it('shows why a run failed', async () => {
    const id = await demo.run('order-support', { orderId: 'B-9', question: 'Where is it?' })
    const page = await openPage(`#/runs/${id}`)
    await page.getByText('ModelFailed').first().waitFor()
  })

  it('cancels it', async () => {
    const id = await demo.run('wait', { seconds: 300 }, 'execMode=async')
    const page = await openPage(`#/runs/${id}`)
    await page.getByRole('button', { name: 'Cancel run…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    expect((await demo.call('GET', `/v1/agent_executions/${id}`)).json.error?.code).toBe('Cancelled')
  })

  it('accepts a correction only if it matches the output schema', async () => {
    const id = await demo.run('wait', { seconds: 0 })
    const page = await openPage(`#/runs/${id}`)
    await page.getByRole('button', { name: 'Give feedback…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('bad').check()
    await dialog.getByLabel(/Note/).fill('Too <b>slow</b>.')
    await dialog.getByLabel('Correct the output').check()
    await dialog.getByRole('button', { name: 'JSON', exact: true }).click()
    const editor = dialog.getByRole('textbox', { name: 'Corrected output as JSON' })
    const save = dialog.getByRole('button', { name: 'Save feedback' })
    await editor.fill('{"waitedSeconds": "soon"}')
    await expect.poll(() => save.isDisabled()).toBe(true)
    await editor.fill('{"waitedSeconds": 0.5}')
    await expect.poll(() => save.isDisabled()).toBe(false)
    await save.click()
    await dialog.waitFor({ state: 'detached' })
    const { feedback } = (await demo.call('GET', `/v1/agent_executions/${id}`)).json
    const expected = { rating: -1, note: 'Too <b>slow</b>.', correctedOutput: { waitedSeconds: 0.5 } }
    expect(feedback).toMatchObject(expected)
  })

  it('deletes it after a confirmation', async () => {
    const id = await demo.run('wait', { seconds: 0 })
    const page = await openPage(`#/runs/${id}`)
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await demo.call('GET', `/v1/agent_executions/${id}`)).status).toBe(200)
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete run' }).click()
    await page.getByRole('heading', { name: 'Run deleted' }).waitFor()
    expect((await demo.call('GET', `/v1/agent_executions/${id}`)).status).toBe(404)
  })

  it('leads to a new run with its input', async () => {
    const id = await demo.run('wait', { seconds: 0.125 })
    const page = await openPage(`#/runs/${id}`)
    await page.getByRole('link', { name: 'Edit and run…' }).click()
    expect(await page.getByLabel('seconds').inputValue()).toBe('0.125')
  })
})
