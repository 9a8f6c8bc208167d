import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { newDemo } from './demo/new-demo.ts'
import { useBrowser } from './support/browser.ts'
import { button, heading, link, region } from './support/pages.ts'

const { openPage } = useBrowser()
const demo = await newDemo()
const QUESTION = 'Where is it?'

/** Two of `order-support`, whose model is asked for another order, and three that failed. */
let first: string
let second: string
beforeAll(async () => {
  const fail = () => demo.run('import-contacts', { count: 4, fail: true }, 'tenantId=list')
  ;[first, second] = await Promise.all([
    demo.run('order-support', { orderId: 'A-1', question: QUESTION }, 'tenantId=acme&maxAgentSteps=5'),
    demo.run('order-support', { order_id: 'A-2', question: QUESTION }, 'tenantId=globex'),
    ...[fail(), fail(), fail()],
    demo.run('wait', { seconds: 0 }, 'tenantId=list'),
  ])
})

const get = async (id: string) => (await demo.call('GET', `/v1/agent_executions/${id}`)).json
const countRuns = async (tenant: string) =>
  (await demo.call('GET', `/v1/agent_executions?tenantId=${tenant}&limit=100`)).json.length
const rowOf = (page: Page, id: string) => page.locator('.run-row').filter({ hasText: id.slice(-4) })

describe('the list of runs', () => {
  it('has filters, which are in the URL, and follows new runs', async () => {
    const page = await openPage(demo, '#/runs')
    await page.getByLabel('Tenant').fill('list')
    await page.keyboard.press('Enter')
    await page.getByText(/^4 runs/).waitFor()
    await page.getByLabel('Status').selectOption('ERROR')
    await page.getByText(/^3 runs/).waitFor()
    await expect.poll(() => page.url()).toMatch(/status=ERROR/)
    await page.reload()
    await page.getByText(/^3 runs/).waitFor()
    expect(await page.getByLabel('Tenant').inputValue()).toBe('list')
    await page.getByLabel('Status').selectOption('')
    const { id, open } = await demo.startGated('tenantId=list')
    await rowOf(page, id).getByText('In progress').waitFor()
    await open()
    await rowOf(page, id).getByText('Success').waitFor()
  })
})

describe('a run', () => {
  it('shows responses, parallel calls and their results, and leads to the run of an agent that it called', async () => {
    const page = await openPage(demo, `#/runs/${second}`)
    await page.getByText('Renamed /order_id to /orderId.').waitFor()
    await page.getByRole('treeitem', { name: /1\. Model response.*2 calls/ }).waitFor()
    await button(page, 'Open all').click()
    for (const name of [/^get_order/, /^get_shipment/, /^redact/])
      await page.getByRole('treeitem', { name }).first().waitFor()
    const search = page.getByRole('searchbox', { name: 'Search this run' })
    await search.fill('get_shipment')
    await search.press('Enter')
    await expect.poll(() => page.url()).toContain('?step=1.2')
    await page.getByRole('tree').focus()
    await page.keyboard.press('Home')
    await page.getByRole('treeitem', { name: /^redact/ }).click()
    await expect.poll(() => page.url()).toContain('?step=2.1')
    const [child] = (await demo.call('GET', '/v1/agent_executions?limit=50')).json.filter(
      ({ parentExecutionId }: { parentExecutionId?: string }) => parentExecutionId === second,
    )
    await page.locator(`a[href="#/runs/${child.id}"]`).first().click()
    await page.locator(`a[href="#/runs/${second}"]`).first().click()
    await page.getByText('Renamed /order_id to /orderId.').waitFor()
  })

  it('has a timeline of the full width: the slowest first, without waiting, a part of it, and the tree again', async () => {
    const id = await demo.run('refund-order', { orderId: 'A-9', usd: 500 }, 'execMode=async')
    const page = await openPage(demo, `#/runs/${id}`)
    const items = page.getByRole('treeitem')
    await page.getByRole('treeitem', { name: /refund.*waiting/ }).waitFor()
    const names = () => items.locator('.trace-label').allTextContents()
    const tree = await names()
    await button(page, 'Timeline').click()
    await button(page, 'Slowest first').click()
    await button(page, 'Hide waiting').click()
    await expect.poll(names).toEqual(['Run'])
    await button(page, 'Hide waiting').click()
    await expect.poll(async () => (await names())[1]).toMatch(/refund/)
    await items.nth(1).click()
    await button(page, 'Zoom to it').click()
    const bar = items.nth(1).locator('.trace-bar')
    await expect.poll(() => bar.getAttribute('style')).toMatch(/left: 0%; width: 100%/)
    await button(page, 'Whole run').click()
    await button(page, 'Timeline').click()
    await expect.poll(names).toEqual(tree)
  })

  it('that failed shows its stack trace as lines of text', async () => {
    const id = await demo.run('import-contacts', { count: 4, fail: true })
    const { stack } = (await get(id)).error
    const page = await openPage(demo, `#/runs/${id}`)
    await page.getByText('Stack trace').first().waitFor()
    const shown = await page.locator('.error-box pre').allTextContents()
    expect(stack.split('\n').length).toBeGreaterThan(1)
    expect(shown).toContain(stack)
  })

  it('shows steps as they are completed', async () => {
    const { id, open } = await demo.startGated()
    const page = await openPage(demo, `#/runs/${id}`)
    await page.getByText('In progress').first().waitFor()
    await page.getByRole('treeitem', { name: /1\. batch 1/ }).waitFor()
    await open()
    await page.getByText('Success').first().waitFor()
    await page.getByText('batch 4: 2 contacts').waitFor()
  })

  it('is cancelled, given feedback that matches the output schema, and deleted', async () => {
    const running = await demo.run('wait', { seconds: 300 }, 'execMode=async')
    let page = await openPage(demo, `#/runs/${running}`)
    await button(page, 'Cancel run…').click()
    await button(page, 'Cancel run').click()
    await page.locator('.badge-cancelled').first().waitFor()
    expect((await get(running)).error?.code).toBe('Cancelled')

    const id = await demo.run('wait', { seconds: 0.125 })
    page = await openPage(demo, `#/runs/${id}`)
    await button(page, 'Give feedback…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('bad').check()
    await dialog.getByLabel(/Note/).fill('Too <b>slow</b>.')
    await dialog.getByLabel('Correct the output').check()
    await dialog.getByRole('button', { name: 'JSON', exact: true }).click()
    const editor = dialog.getByRole('textbox', { name: 'Corrected output as JSON' })
    const save = button(page, 'Save feedback')
    await editor.fill('{"waitedSeconds": "soon"}')
    await expect.poll(() => save.isDisabled()).toBe(true)
    await editor.fill('{"waitedSeconds": 0.5}')
    await save.click()
    await dialog.waitFor({ state: 'detached' })
    const expected = { rating: -1, note: 'Too <b>slow</b>.', correctedOutput: { waitedSeconds: 0.5 } }
    expect((await get(id)).feedback).toMatchObject(expected)
    await link(page, 'Edit and run…').click()
    expect(await page.getByLabel('seconds').inputValue()).toBe('0.125')
    await page.goBack()
    await button(page, 'Delete…').click()
    await button(page, 'Delete run').click()
    await heading(page, 'Run deleted').waitFor()
    expect((await demo.call('GET', `/v1/agent_executions/${id}`)).status).toBe(404)
  })
})

describe('running again', () => {
  const again = (page: Page) => button(page, 'Run again')
  const waitForOther = (page: Page, id: string) =>
    page.waitForURL(({ hash }) => hash.startsWith('#/runs/') && !hash.includes(id))

  it('starts one run on a double click, also if the connection was lost after the service had accepted it', async () => {
    const id = await demo.run('wait', { seconds: 0 }, 'tenantId=lost')
    const page = await openPage(demo, `#/runs/${id}`)
    await page.route('**/rerun', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await again(page).click()
    await page.getByText('The service does not respond.').waitFor()
    await page.unroute('**/rerun')
    await again(page).dblclick()
    await waitForOther(page, id)
    expect(await countRuns('lost')).toBe(2)
    await link(page, 'Compare with…').click()
    await link(page, 'With the run that it repeats').click()
    await page.getByText('Inputs and options are the same.').waitFor()
  })
})

describe('comparing two runs', () => {
  it('shows inputs, results and the first difference; the other run is pasted, and swapped', async () => {
    const page = await openPage(demo, `#/runs/${first}`)
    await link(page, 'Compare with…').click()
    await page.getByLabel('Run B').press('Enter')
    await page.getByText(/^Enter the ID of a run/).waitFor()
    await page.getByLabel('Run B').fill(` ${demo.url}/console#/runs/${second} `)
    await page.keyboard.press('Enter')
    const input = region(page, 'Input and options')
    await input.getByText('/input/orderId').waitFor()
    await input.getByText('Steps at most').waitFor()
    await region(page, 'Result').getByText('The results are the same.').waitFor()
    const steps = region(page, 'Steps')
    await steps.getByText('/toolCalls/0/input/orderId').waitFor()
    await button(page, 'Go to the first difference').click()
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/First difference/)
    await link(page, 'Swap').click()
    await page.getByText('A"A-2"').first().waitFor()
    await steps.getByRole('link', { name: /^Open in B ?: Step 1$/ }).click()
    await heading(page, /^Run /).waitFor()
    expect(page.url()).toContain(`#/runs/${first}?step=1`)
  })
})
