import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { useBrowser } from './support/browser.ts'
import { getOverflow } from './support/page.ts'

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

describe('a search in the list of runs', () => {
  it('compares the error, and says how far it has looked', async () => {
    const page = await openPage('#/runs')
    await page.getByRole('button', { name: 'More filters' }).click()
    await page.getByLabel('Text in the error').fill('FAIL')
    await page.keyboard.press('Enter')
    await page.getByText(/^Looked at all 13 runs back to/).waitFor()
    await expect.poll(() => page.url()).toContain('errorText=FAIL')
    expect(await page.getByLabel('Status').inputValue()).toBe('ERROR')
    await page.getByLabel('Source').selectOption('BATCH')
    await page.getByText(/^None of them matches. Looked at all 13 runs/).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText(/newest runs$/).waitFor()
  })

  it('works with the keyboard alone, and is in the URL', async () => {
    const page = await openPage('#/runs?source=API')
    await page.getByText(/^100 newest runs/).waitFor()
    const further = page.getByRole('button', { name: 'Look further' })
    await further.focus()
    await page.keyboard.press('Enter')
    const end = page.getByText(/^Looked at all \d+ runs/)
    await end.waitFor()
    await expect.poll(() => end.evaluate('document.activeElement.textContent')).toMatch(/^Looked at all/)
    await page.getByLabel('Error code').focus()
    await page.keyboard.type('AgentFailed')
    await page.keyboard.press('Enter')
    await page.getByText(/^13 runs/).waitFor()
    // What excludes it takes its place.
    await page.getByLabel('Status').selectOption('SUCCESS')
    await expect.poll(() => page.getByLabel('Error code').inputValue()).toBe('')
  })

  it('shows an error of the service that says what is wrong', async () => {
    const page = await openPage('#/runs?version=latest')
    await page.getByText('version must be a version ID (a UUID).').first().waitFor()
  })
})

describe('rows of the list of runs', () => {
  const rowOf = (page: Page, id: string) => page.locator('.run-row').filter({ hasText: id.slice(-4) })

  it('show why a run failed, where it comes from, and archived agents by their title', async () => {
    const path = '/v1/agents/import-contacts'
    const change = (text: string) => text.replace('Whether the last', 'If the last')
    await demo.publish('import-contacts', { draft: true, change })
    const { draftVersionId, title } = (await demo.call('GET', path)).json
    const run = (fail: boolean, query = '') =>
      demo.run('import-contacts', { count: 4, fail }, `tenantId=rows${query}`)
    const ofDraft = await run(false, `&version=${draftVersionId}`)
    const failed = await run(true)
    const rerun = (await demo.call('POST', `/v1/agent_executions/${failed}/rerun`)).json.id
    await demo.call('POST', `${path}/archive`)
    const page = await openPage('#/runs?tenantId=rows')
    await rowOf(page, ofDraft).getByText('Draft', { exact: true }).waitFor()
    await rowOf(page, rerun).getByText('Rerun', { exact: true }).waitFor()
    const message = (await demo.call('GET', `/v1/agent_executions/${failed}`)).json.error.message
    await rowOf(page, failed).getByText(message.split('\n')[0]).waitFor()
    await rowOf(page, failed).getByRole('link', { name: title }).waitFor()
    await demo.call('POST', `${path}/restore`)
  })

  it.each([1400, 820, 390])('show everything, and nothing scrolls sideways, at %i px', async (width) => {
    const id = await demo.run('order-support', { orderId: 'A-9', question: 'Where is it?' }, 'tenantId=wide')
    const page = await openPage('#/runs?tenantId=wide')
    await page.setViewportSize({ width, height: 900 })
    await page.getByLabel('Time').selectOption('custom')
    await page.getByRole('button', { name: 'More filters' }).click()
    const row = rowOf(page, id).first()
    await row.waitFor()
    for (const name of ['status', 'agent', 'created', 'duration', 'steps', 'tokens', 'tenant', 'run'])
      expect(await row.locator(`.run-${name}`).isVisible(), name).toBe(true)
    expect(await getOverflow(page)).toBeLessThanOrEqual(0)
    const cut = await page.evaluate(`[...document.querySelectorAll('.run-filters input, .run-filters select')]
      .filter((field) => {
        const [box, around] = [field, field.parentElement].map((each) => each.getBoundingClientRect())
        return box.right > around.right + 1 || field.scrollWidth > field.clientWidth + 1
      }).length`)
    expect(cut, 'fields that are cut').toBe(0)
  })
})

describe('failed runs', () => {
  const failedRuns = async (tenant: string, count: number) => {
    for (let number = 0; number < count; number++)
      await demo.run('import-contacts', { count: 2, fail: true }, `tenantId=${tenant}`)
  }
  const countRuns = async (tenant: string) =>
    (await demo.call('GET', `/v1/agent_executions?tenantId=${tenant}&limit=100`)).json.length

  it('are retried, each once, with a result for each', async () => {
    await failedRuns('retry', 3)
    await demo.run('wait', { seconds: 0 }, 'tenantId=retry')
    const page = await openPage('#/runs?tenantId=retry')
    await page.getByRole('checkbox', { name: 'Select 3 failed runs' }).check()
    await page.getByRole('button', { name: 'Retry…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/Models are asked and tools are called again/).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await countRuns('retry')).toBe(4)
    await page.getByRole('button', { name: 'Retry…' }).click()
    await dialog.getByRole('button', { name: 'Retry 3 runs' }).dblclick()
    await dialog.getByText('3 of 3 runs started.').waitFor()
    await expect.poll(() => dialog.getByText('Error', { exact: true }).count(), { timeout: 30_000 }).toBe(3)
    await dialog.getByRole('button', { name: 'Close' }).click()
    expect(await countRuns('retry')).toBe(7)

    // The same ones again, after a reload.
    await page.reload()
    await page.getByText(/^7 runs/).waitFor()
    await page.getByRole('checkbox', { name: 'Select 6 failed runs' }).check()
    for (const box of (await page.getByRole('checkbox', { name: /^Select run/ }).all()).slice(0, 3))
      await box.uncheck()
    await page.getByRole('button', { name: 'Retry…' }).click()
    await dialog.getByRole('button', { name: 'Retry 3 runs' }).click()
    await dialog.getByText('3 of 3 runs started.').waitFor()
    expect(await countRuns('retry')).toBe(7)
  })

  it('are selected and retried with the keyboard alone', async () => {
    await failedRuns('keys', 2)
    const page = await openPage('#/runs?tenantId=keys')
    await page
      .getByRole('checkbox', { name: /^Select run/ })
      .first()
      .focus()
    await page.keyboard.press('Space')
    await page.getByText('1 run selected').waitFor()
    const clear = page.getByRole('button', { name: 'Clear selection' })
    await clear.focus()
    await page.keyboard.press('Enter')
    await clear.waitFor({ state: 'detached' })
    // The focus is where all can be selected.
    await page.keyboard.press('Space')
    await page.getByText('2 runs selected').waitFor()
    await page.getByRole('button', { name: 'Retry…' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Retry 2 runs' }).focus()
    await page.keyboard.press('Enter')
    await dialog.getByText('2 of 2 runs started.').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await countRuns('keys')).toBe(4)
  })

  it('cannot be selected with a token that may not run agents', async () => {
    await failedRuns('readers', 1)
    const page = await openPage('#/runs?tenantId=readers')
    await page.getByRole('checkbox', { name: /^Select run/ }).waitFor()
    await page.route('**/v1/me', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), scopes: ['read'] } })
    })
    await page.reload()
    await page.getByText(/^1 run/).waitFor()
    await page.getByRole('checkbox').first().waitFor({ state: 'detached' })
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
