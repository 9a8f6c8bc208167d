import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { useBrowser } from './support/browser.ts'

const { open } = useBrowser()
let demo: Demo
beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo?.stop())

async function openTry(agent: string, query = ''): Promise<Page> {
  const page = await open(`${demo.url}/console#token=${demo.token}`)
  await page.goto(`${demo.url}/console#/agents/${agent}/try${query}`)
  await page.getByRole('heading', { level: 2, name: 'Input', exact: true }).waitFor()
  return page
}

const runButton = (page: Page) => page.getByRole('button', { name: 'Run', exact: true })
const result = (page: Page) => page.getByRole('region', { name: /^Result/ })
const newest = async () => (await demo.call('GET', '/v1/agent_executions?limit=5')).json

describe('trying an agent', () => {
  it('runs it with the values of a form, and shows steps and output', async () => {
    const page = await openTry('order-support')
    await page.getByLabel('orderId').fill('A-31')
    await page.getByLabel('question').fill('Where is it?')
    await page.getByLabel('channel').selectOption('phone')
    await runButton(page).click()
    await result(page).getByText('Success', { exact: true }).waitFor()
    await result(page)
      .getByRole('treeitem', { name: /^1\. Model response/ })
      .click()
    await result(page).getByText('I look up the order A-31').waitFor()
    await result(page).getByText('"Your parcel is in Leipzig and arrives on 24 November."').first().waitFor()
    await result(page).getByText('get_shipment').first().waitFor()
    const [, execution] = (await newest()).sort((a: { source: string }) => (a.source === 'AGENT' ? -1 : 1))
    expect(execution.input).toEqual({ orderId: 'A-31', question: 'Where is it?', channel: 'phone' })
  })

  it('has one value as a form and as JSON, in which large numbers are kept', async () => {
    const page = await openTry('wait')
    await page.getByLabel('seconds').fill('0')
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const editor = page.getByRole('textbox', { name: 'Input as JSON' })
    expect(JSON.parse(await editor.inputValue())).toEqual({ seconds: 0 })
    await editor.fill('{"seconds": 0, "note": 123456789012345678901234567890}')
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    expect(await editor.inputValue()).toContain('123456789012345678901234567890')
  })

  it('reports JSON that is none at its line, and values that do not match the schema', async () => {
    const page = await openTry('wait')
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const editor = page.getByRole('textbox', { name: 'Input as JSON' })
    await editor.fill('{\n  "seconds": 1,\n}')
    await page.getByText('Remove the comma before the closing brace.').first().waitFor()
    await editor.fill('{\n  "seconds": [true]\n}')
    await page
      .getByText(/line 2/i)
      .first()
      .waitFor()
    await editor.fill('{"seconds": 0}')
    await page.keyboard.press('Control+Enter')
    await result(page).getByText('Success', { exact: true }).waitFor()
  })

  it('names what is required and missing', async () => {
    const page = await openTry('order-support')
    await runButton(page).click()
    await page.locator('[aria-invalid="true"]').first().waitFor()
    const focused = 'document.activeElement.getAttribute("aria-invalid")'
    await expect.poll(() => page.evaluate(focused)).toBe('true')
  })

  it('shows steps while the agent runs', async () => {
    const page = await openTry('import-contacts')
    await page.getByLabel('count').fill('40')
    await page.getByLabel('pauseMs').fill('700')
    await runButton(page).click()
    await result(page)
      .getByText(/batch 1/)
      .first()
      .waitFor()
    await result(page).getByText('In progress', { exact: true }).waitFor()
    await result(page).getByText('Success', { exact: true }).waitFor()
    await result(page)
      .getByText(/batch 4/)
      .first()
      .waitFor()
  })

  it('cancels a run', async () => {
    const page = await openTry('wait')
    await page.getByLabel('seconds').fill('300')
    await runButton(page).click()
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await result(page).getByText('Cancelled').first().waitFor()
    expect((await newest())[0]).toMatchObject({ status: 'ERROR', error: { code: 'Cancelled' } })
  })

  it('shows why a run failed', async () => {
    const page = await openTry('import-contacts')
    await page.getByLabel('count').fill('4')
    await page.getByLabel('fail').selectOption('true')
    await runButton(page).click()
    await result(page).getByText('AgentFailed').first().waitFor()
    await result(page).getByText('The address book is locked by another import.').first().waitFor()
  })

  it('sends the options', async () => {
    const page = await openTry('wait')
    await page.getByLabel('seconds').fill('0')
    await page.getByText('Options').click()
    await page.getByLabel('Tenant').fill('acme & sons')
    await page.getByLabel('Cache').selectOption('true')
    await runButton(page).click()
    await result(page).getByText('Success', { exact: true }).waitFor()
    expect((await newest())[0]).toMatchObject({ tenantId: 'acme & sons', cached: false })
    await runButton(page).click()
    await expect.poll(async () => (await newest())[0].cached).toBe(true)
  })

  it('begins with the input of another run', async () => {
    const id = await demo.run('wait', { seconds: 0.25 })
    const page = await openTry('wait', `?from=${id}`)
    expect(await page.getByLabel('seconds').inputValue()).toBe('0.25')
  })

  it('shows the request as code, without the token', async () => {
    const page = await openTry('wait')
    await page.getByLabel('seconds').fill('0.5')
    const samples = page.getByRole('region', { name: 'Request as code' })
    for (const [language, text] of Object.entries({ curl: 'curl', TypeScript: 'await', Python: 'import' })) {
      await samples.getByRole('button', { name: language, exact: true }).click()
      const sample = (await samples.locator('pre').textContent()) ?? ''
      expect(sample).toContain(text)
      expect(sample).toContain('0.5')
      expect(sample).not.toContain(demo.token)
    }
  })
})
