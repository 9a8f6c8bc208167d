import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { newDemo } from './demo/new-demo.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedName, heading, link, region } from './support/pages.ts'

const { openPage } = useBrowser()
const demo = await newDemo()
const SLUG = 'order-support'

const agentOf = async (slug = SLUG): Promise<AgentRecord> =>
  (await demo.call('GET', `/v1/agents/${slug}`)).json
const currentId = async () => (await agentOf()).currentVersionId ?? ''

let texts = 0
/** Publishes other instructions. @returns the ID of the version */
function publish({ draft = true, settings = '' } = {}): Promise<string> {
  texts += 1
  return demo.publish(SLUG, {
    draft,
    change: (document) =>
      document
        .replace('Look the order', `Take number ${texts}. Look the order`)
        .replace('execution: {', `execution: { ${settings}`),
  })
}

const state = (page: Page, name: string) =>
  page.locator('.page-title').getByText(name, { exact: true }).waitFor()
const openVersion = (id: string, slug = SLUG) => openPage(demo, `#/agents/${slug}/versions/${id}`)

describe('agents', () => {
  it('are found by their names, archived and restored', async () => {
    const page = await openPage(demo, '#/agents')
    await page.getByText(/^\d+ agents$/).waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('REDACT')
    await page.getByText(/^1 of \d+ agents/).waitFor()
    await link(page, 'Redact PII').click()
    await button(page, 'Archive…').click()
    await button(page, 'Archive').click()
    await state(page, 'Archived')
    expect((await agentOf('redact-pii')).archivedAt).not.toBeNull()
    await page.goto(`${demo.url}/console#/agents?show=archived`)
    await page.locator('.agents').getByRole('link').first().click()
    await button(page, 'Restore…').click()
    await button(page, 'Restore').click()
    await button(page, 'Archive…').waitFor()
    expect((await agentOf('redact-pii')).archivedAt).toBeNull()
  })

  it('lead to their versions, whose settings, code and differences are shown', async () => {
    const draft = await publish()
    const page = await openPage(demo, `#/agents/${SLUG}`)
    await page.getByRole('row', { name: /Draft/ }).getByTitle(draft).click()
    await state(page, 'Draft')
    expect(page.url()).toContain(`#/agents/${SLUG}/versions/${draft}`)
    await page.getByText(`Take number ${texts}.`).waitFor()
    await region(page, /^Limits/)
      .getByText('at most 8')
      .waitFor()
    await region(page, /^Tools/)
      .getByText('get_shipment')
      .first()
      .waitFor()
    await region(page, 'Input schema').getByText('orderId').waitFor()
    await page.getByRole('link', { name: 'Compare with the current version' }).click()
    await page.getByText(/Added: .*Take number/).waitFor()
    const code = await openVersion(
      (await agentOf('import-contacts')).currentVersionId ?? '',
      'import-contacts',
    )
    await button(code, 'Show the code').click()
    await code.getByText('The address book is locked by another import.').waitFor()
  })
})

describe('the page of an agent', () => {
  it('has durations and errors of its newest runs, figures of a period, and its schemas last', async () => {
    for (const tenantId of ['acme', 'globex'])
      await demo.run('import-contacts', { count: 4, fail: true }, `tenantId=${tenantId}`)
    const { id } = (await demo.call('GET', '/v1/agents/import-contacts/executions?limit=1')).json[0]
    const page = await openPage(demo, '#/agents/import-contacts')
    await region(page, 'Usage')
      .getByText(/^p95 .* of the newest \d+ runs?, with waiting$/)
      .waitFor()
    const errors = region(page, 'Errors by message')
    const row = errors.getByRole('row', { name: /^AgentFailed The address book is locked/ })
    for (const tenant of ['acme', 'globex']) await row.getByText(tenant).waitFor()
    expect(await row.getByRole('link').last().getAttribute('href')).toBe(`#/runs/${id}`)
    await region(page, 'Cost by version over time').waitFor()
    expect(await page.locator('main h2').last().textContent()).toBe('Output')
    await button(page, 'Last month').click()
    await page.getByText(/^Runs that ended from .* up to .* \(UTC\)/).waitFor()
    expect(page.url()).toContain('period=last-month')
  })
})

describe('a draft', () => {
  it('is edited in the console, and says what the repository lacks', async () => {
    const from = await publish({ draft: false })
    const page = await openVersion(from)
    await link(page, 'Edit').click()
    const save = button(page, 'Save draft')
    expect(await save.isDisabled()).toBe(true)
    const text = page.getByLabel('Text for the model')
    await text.fill(`${await text.inputValue()}\nBe brief.`)
    await page.getByLabel('Model', { exact: true }).fill('nobody/knows')
    await page.getByLabel('Steps at most').fill('5')
    await save.click()
    await expect
      .poll(() => page.getByLabel('Model', { exact: true }).getAttribute('aria-invalid'))
      .toBe('true')
    await page.getByLabel('Model', { exact: true }).fill('')
    // Somebody else is faster.
    const next = await publish({ draft: false })
    await save.click()
    await page.getByRole('alert').getByText('has become current').waitFor()
    await page.getByText('The draft is made from this one.').waitFor()
    expect((await agentOf()).draftVersionId).toBeNull()
    await save.click()
    await state(page, 'Draft')
    const card = region(page, 'Not in the repository')
    await card.getByText('maxAgentSteps: 5').waitFor()
    await card.getByText('+Be brief.').waitFor()
    const id = (await agentOf()).draftVersionId ?? ''
    const read = async (versionId: string) =>
      (await demo.call('GET', `/v1/agents/${SLUG}/versions/${versionId}`)).json
    const [before, after] = [await read(from), await read(id)]
    expect(after).toMatchObject({ editedFrom: from, execution: { maxAgentSteps: 5 }, tools: before.tools })
    expect(await currentId()).toBe(next)
    await link(page, 'Start a trial').click()
    await button(page, 'Start trial').waitFor()
    expect(page.url()).toContain(id)
    await demo.call('DELETE', `/v1/agents/${SLUG}/versions/${id}`)
  })

  it('runs beside the current version on the same input', async () => {
    const draft = await publish()
    const page = await openVersion(draft)
    await link(page, 'Try draft').click()
    await page.getByLabel('orderId').fill('A-1042')
    await page.getByLabel('question').fill('Where is it?')
    await button(page, 'Run both').click()
    for (const name of [/^A: current version/, /^B: this version/])
      await region(page, name).getByText('Your parcel is in Leipzig').waitFor()
    await page.getByText('The results are the same.').waitFor()
    const runs = (await demo.call('GET', `/v1/agents/${SLUG}/executions?limit=2&fields=summary`)).json
    const versions = runs.map(({ versionId }: { versionId: string }) => versionId)
    expect(versions.toSorted()).toEqual([await currentId(), draft].toSorted())
  })

  it('is promoted and rolled back; a cancelled dialog changes nothing', async () => {
    const before = await currentId()
    const draft = await publish()
    const page = await openVersion(draft)
    await button(page, 'Promote…').click()
    await button(page, 'Promote').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => focusedName(page)).toBe('Promote…')
    expect(await currentId()).toBe(before)
    await button(page, 'Promote…').click()
    await page.getByText(/To undo it, promote/).waitFor()
    await button(page, 'Promote').click()
    await state(page, 'Current')
    // Its button is gone.
    await expect.poll(() => focusedName(page)).toMatch(/^Version /)
    expect(await currentId()).toBe(draft)
    await page.goto(`${demo.url}/console#/agents/${SLUG}/versions/${before}`)
    await state(page, 'Superseded')
    await button(page, /^Roll back to it/).click()
    await button(page, 'Roll back').click()
    await state(page, 'Current')
    expect(await currentId()).toBe(before)
  })

  it('is not promoted unasked if somebody else has promoted meanwhile', async () => {
    const old = await currentId()
    await publish({ draft: false })
    const draft = await publish()
    const page = await openVersion(draft)
    await button(page, 'Promote…').click()
    await button(page, 'Promote').waitFor()
    await demo.call('POST', `/v1/agents/${SLUG}/versions/${old}/promote`)
    await button(page, 'Promote').click()
    await page.getByRole('alert').getByText('has become current').waitFor()
    expect(await currentId()).toBe(old)
    await button(page, 'Promote').click()
    await state(page, 'Current')
  })

  it('is retired, made usable again and deleted', async () => {
    const page = await openVersion(await publish())
    for (const [opener, confirm, name] of [
      ['Retire…', 'Retire', 'Retired'],
      ['Make usable again…', 'Make usable', 'Draft'],
    ] as const) {
      await button(page, opener).click()
      await button(page, confirm).click()
      await state(page, name)
    }
    await button(page, 'Delete draft…').click()
    await button(page, 'Delete draft').click()
    await heading(page, 'Order support').waitFor()
    expect((await agentOf()).draftVersionId).toBeNull()
  })
})

describe('a rollout', () => {
  const rollout = () => demo.call('GET', `/v1/agents/${SLUG}/rollout`)
  const card = (page: Page) => region(page, 'Rollout')

  it('is started, changed, listed and ended', async () => {
    const draft = await publish()
    const page = await openPage(demo, `#/agents/${SLUG}`)
    await button(page, 'Start a rollout…').click()
    await page.getByLabel('Share of the runs').fill('12.5')
    await page.getByLabel('more than this share').fill('5')
    await button(page, 'Start rollout').click()
    await card(page).getByText('12.5% of the tenants').waitFor()
    await card(page).getByText('more than 5% of its runs have failed, after at least 20 runs').waitFor()
    expect((await rollout()).json).toMatchObject({ versionId: draft, percent: 12.5 })
    await button(page, 'Change rollout…').click()
    await expect.poll(() => page.getByLabel('more than this share').inputValue()).toBe('5')
    await page.getByLabel('Share of the runs').fill('50')
    await button(page, 'Change rollout').click()
    await page.getByRole('row', { name: /Rollout: 50%/ }).waitFor()
    expect((await rollout()).json.abort).toMatchObject({ maxErrorRate: 0.05, minRuns: 20 })
    await link(page, 'Rollouts').click()
    await page.getByRole('link', { name: 'Order support' }).first().click()
    await button(page, 'End rollout…').click()
    await button(page, 'End rollout').click()
    await card(page).getByText('All runs that name no version get the current one.').waitFor()
    expect((await rollout()).status).toBe(404)
  })
})
