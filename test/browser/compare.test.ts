import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { useBrowser } from './support/browser.ts'
import { region } from './support/page.ts'

const { open } = useBrowser()
let demo: Demo
/** Of `order-support`: its model is asked for another order, so that the first call of a tool differs. */
let runs: { first: string; second: string }
beforeAll(async () => {
  demo = await startDemo()
  const question = 'Where is my order?'
  runs = {
    first: await demo.run('order-support', { orderId: 'A-1', question }, 'tenantId=acme&maxAgentSteps=5'),
    second: await demo.run('order-support', { orderId: 'A-2', question }, 'tenantId=globex'),
  }
})
afterAll(() => demo?.stop())

async function openPage(hash: string, options = {}): Promise<Page> {
  const page = await open(`${demo.url}/console#token=${demo.token}`, options)
  await page.goto(`${demo.url}/console${hash}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

const get = async (id: string) => (await demo.call('GET', `/v1/agent_executions/${id}`)).json
const idIn = (page: Page) => /#\/runs\/([\da-f-]{36})$/.exec(page.url())?.[1] ?? ''
/** The page of another run than this one. */
const waitForOther = (page: Page, id: string) =>
  page.waitForURL(({ hash }) => hash.startsWith('#/runs/') && !hash.includes(id))

describe('comparing two runs', () => {
  it('shows what they were asked, what they did and returned, and the first difference', async () => {
    const page = await openPage(`#/compare?a=${runs.first}&b=${runs.second}`)
    const input = region(page, 'Input and options')
    await input.getByText('/input/orderId').waitFor()
    expect(await input.getByRole('listitem').first().textContent()).toMatch(/A"A-1".*B"A-2"/)
    await input.getByText('Steps at most').waitFor()
    await region(page, 'Result').getByText('The results are the same.').waitFor()
    const runTable = region(page, 'Runs')
    expect(await runTable.getByText(/^Tenant/).textContent()).toMatch(/differs/)
    expect(await runTable.getByText(/^Version/).textContent()).not.toMatch(/differs/)
    const steps = region(page, 'Steps')
    await steps.getByText('/toolCalls/0/input/orderId').waitFor()
    expect(await steps.getByText('First difference', { exact: true }).count()).toBe(1)
    await steps.getByRole('link', { name: /^Open in B ?: Step 1$/ }).click()
    await page.getByRole('heading', { level: 1, name: /^Run / }).waitFor()
    expect(page.url()).toContain(`#/runs/${runs.second}?step=1`)
  })

  it('swaps them, and reaches the first difference with the keyboard alone', async () => {
    const page = await openPage(`#/compare?a=${runs.first}&b=${runs.second}`)
    await page.getByRole('link', { name: 'Swap' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('A"A-2"').first().waitFor()
    await page.getByRole('button', { name: 'Go to the first difference' }).focus()
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/First difference/)
  })

  it('is reached from the page of a run, with an ID that is pasted, by the keyboard alone', async () => {
    const page = await openPage(`#/runs/${runs.first}`)
    await page.getByRole('link', { name: 'Compare with…' }).focus()
    await page.keyboard.press('Enter')
    const other = page.getByLabel('Run B')
    await other.focus()
    await page.keyboard.press('Enter')
    await page.getByText(/^Enter the ID of a run/).waitFor()
    expect(await page.evaluate('document.activeElement.name')).toBe('b')
    await page.keyboard.insertText(` ${demo.url}/console#/runs/${runs.second} `)
    await page.keyboard.press('Enter')
    await page.getByText('/input/orderId', { exact: true }).waitFor()
    expect(page.url()).toContain(`#/compare?a=${runs.first}&b=${runs.second}`)
  })

  it('finds the last successful run, and says if there is none', async () => {
    const failed = await demo.run('import-contacts', { count: 4, fail: true })
    const page = await openPage(`#/runs/${failed}`)
    await page.getByRole('link', { name: 'Compare with…' }).click()
    await page.getByRole('button', { name: 'With its last successful run' }).click()
    await page.getByText('The agent has no other successful run.').waitFor()
    const succeeded = await demo.run('import-contacts', { count: 4 })
    await page.goto(`${demo.url}/console#/runs/${failed}`)
    await page.getByRole('link', { name: 'Compare with…' }).click()
    await page.getByRole('button', { name: 'With its last successful run' }).click()
    await region(page, 'Result').getByText('/error').waitFor()
    expect(page.url()).toContain(`#/compare?a=${succeeded}&b=${failed}`)
    expect(await region(page, 'Steps').getByText('Only in A').count()).toBe(1)
  })

  it('puts values one below the other on a phone, in whole lines', async () => {
    const page = await openPage(`#/compare?a=${runs.first}&b=${runs.second}`, { isPhone: true })
    const sides = region(page, 'Input and options').locator('.side')
    await sides.first().waitFor()
    const [a, b] = [await sides.nth(0).boundingBox(), await sides.nth(1).boundingBox()]
    expect(b?.y ?? 0).toBeGreaterThanOrEqual((a?.y ?? 0) + (a?.height ?? 0))
    expect(a?.width).toBeGreaterThan(250)
  })

  it('says that a run does not exist', async () => {
    const page = await openPage(`#/compare?a=${runs.first}&b=01a20000-0000-7000-8000-000000000000`)
    await page.getByRole('alert').waitFor()
    await page.getByRole('link', { name: 'Compare A with another run…' }).click()
    await page.getByLabel('Run B').waitFor()
  })
})

describe('running again', () => {
  it('repeats a run once on a double click, and shows the new run, which is compared with the first', async () => {
    const page = await openPage(`#/runs/${runs.first}`)
    const before = (await demo.call('GET', '/v1/agents/order-support/executions?limit=100')).json.length
    await page.getByRole('button', { name: 'Run again', exact: true }).dblclick()
    await waitForOther(page, runs.first)
    const repeated = idIn(page)
    expect(await get(repeated)).toMatchObject({ originalExecutionId: runs.first, tenantId: 'acme' })
    const after = (await demo.call('GET', '/v1/agents/order-support/executions?limit=100')).json.length
    expect(after - before).toBe(1)
    await expect.poll(async () => (await get(repeated)).status, { timeout: 40_000 }).toBe('SUCCESS')
    await page.getByRole('link', { name: 'Compare with…' }).click()
    await page.getByRole('link', { name: 'With the run that it repeats' }).click()
    await page.getByText('Inputs and options are the same.').waitFor()
    expect(page.url()).toContain(`#/compare?a=${runs.first}&b=${repeated}`)
  })

  it('repeats one on its own version, by the keyboard alone, if another one is current', async () => {
    const id = await demo.run('import-contacts', { count: 4 })
    const { versionId } = await get(id)
    await demo.publish('import-contacts', { change: (text) => text.replace('in batches', 'in four batches') })
    // The service sees within a second what another process has published.
    const versionOfRun = async () => (await get(await demo.run('import-contacts', { count: 1 }))).versionId
    await expect.poll(versionOfRun, { timeout: 10_000 }).not.toBe(versionId)
    const page = await openPage(`#/runs/${id}`)
    await page.getByRole('button', { name: 'Run again on its version' }).focus()
    await page.keyboard.press('Enter')
    await waitForOther(page, id)
    expect((await get(idIn(page))).versionId).toBe(versionId)
    await page.goBack()
    await page.getByRole('button', { name: 'Run again', exact: true }).click()
    await waitForOther(page, id)
    expect((await get(idIn(page))).versionId).not.toBe(versionId)
  })

  it('leads to one run if the connection was lost after the service had accepted it', async () => {
    const id = await demo.run('wait', { seconds: 0 }, 'tenantId=lost')
    const page = await openPage(`#/runs/${id}`)
    await page.route('**/rerun', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await page.getByRole('button', { name: 'Run again', exact: true }).click()
    await page.getByText('The service does not respond.').waitFor()
    await page.unroute('**/rerun')
    await page.getByRole('button', { name: 'Run again', exact: true }).click()
    await waitForOther(page, id)
    expect((await demo.call('GET', '/v1/agent_executions?tenantId=lost')).json).toHaveLength(2)
  })

  it('is not offered to a token that may not run agents', async () => {
    const page = await open(`${demo.url}/console#token=${demo.token}`)
    await page.route('**/v1/me', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), scopes: ['read'] } })
    })
    await page.goto('about:blank')
    await page.goto(`${demo.url}/console#/runs/${runs.first}`)
    await page.getByRole('link', { name: 'Compare with…' }).waitFor()
    await page.getByText('Scopes').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^Run again/ }).count()).toBe(0)
  })
})
