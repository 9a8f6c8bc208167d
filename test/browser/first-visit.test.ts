import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { findViolations } from './support/axe.ts'
import { useBrowser } from './support/browser.ts'
import { getOverflow } from './support/page.ts'

const { open } = useBrowser()
const service = inject('service')

let org: TestOrganization
beforeEach(async () => {
  org = await newOrganization()
})

const openOverview = (token = org.token) => open(`${service}/console#token=${token}`)
const runCard = (page: Page) => page.getByRole('region', { name: 'Run your first agent' })
const charts = (page: Page) => page.getByRole('heading', { name: 'Runs over time' })

describe('in an organization without runs, the overview', () => {
  it('runs an agent with a sample, with the keyboard only, and then shows its charts', async () => {
    await org.publish('echo')
    const page = await openOverview()
    await runCard(page).waitFor()
    expect(await charts(page).count()).toBe(0)
    expect(JSON.parse(await page.getByLabel('Input (JSON)').inputValue())).toEqual({
      text: expect.any(String),
    })
    await page.getByLabel('Input (JSON)').focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page
      .getByRole('heading', { level: 1 })
      .getByText('Echo')
      .or(page.getByText('Success'))
      .first()
      .waitFor()
    expect(page.url()).toMatch(/#\/runs\/[0-9a-f-]{36}$/)
    await page.goBack()
    await charts(page).waitFor()
    expect(await runCard(page).count()).toBe(0)
  })

  it('has a command that works, and goes away after it without a reload', async () => {
    await org.publish('echo')
    const page = await openOverview()
    const command = await page.locator('pre').textContent()
    expect(command).toContain(`curl -sS '${service}/v1/agents/`)
    expect(command).not.toContain(org.token)
    const input = JSON.parse(/--data-raw '([^']*)'/.exec(command ?? '')?.[1] ?? '')
    const slug = /agents\/([^/]+)\/executions/.exec(command ?? '')?.[1] ?? ''
    const response = await fetch(`${service}/v1/agents/${slug}/executions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${org.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(input),
    })
    expect(response.status).toBe(200)
    await charts(page).waitFor()
    expect(await runCard(page).count()).toBe(0)
  })

  it('without agents says how to create one, and continues when it is there', async () => {
    const page = await openOverview()
    const card = page.getByRole('region', { name: 'Create your first agent' })
    await card.waitFor()
    expect(await card.locator('pre').textContent()).toBe(
      `npm run agents -- init count-words\nnpm run agents -- publish agents/count-words --url ${service}`,
    )
    await org.publish('echo')
    await runCard(page).waitFor()
    expect(await card.count()).toBe(0)
  })

  it('says what is wrong with an input, and keeps it', async () => {
    await org.publish('echo')
    const page = await openOverview()
    await page.getByLabel('Input (JSON)').fill('{')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await runCard(page).getByRole('alert').waitFor()
    expect(await page.getByLabel('Input (JSON)').inputValue()).toBe('{')
    await page.getByLabel('Input (JSON)').fill('{"text":"a"}')
    await page.getByRole('button', { name: 'Run', exact: true }).dblclick()
    await page.waitForURL(/#\/runs\//)
    const runs = await fetch(`${service}/v1/agent_executions`, {
      headers: { Authorization: `Bearer ${org.token}` },
    })
    expect(((await runs.json()) as unknown[]).length).toBe(1)
  })

  it('hands the input over to a form', async () => {
    await org.publish('echo')
    const page = await openOverview()
    await page.getByLabel('Input (JSON)').fill('{"text":"typed here"}')
    await page.getByRole('link', { name: 'Fill in a form instead' }).click()
    await page.getByRole('heading', { level: 1, name: 'Try Echo' }).waitFor()
    expect(await page.getByLabel('text').inputValue()).toBe('typed here')
  })

  it.each([{ theme: 'light' }, { theme: 'dark', isPhone: true }] as const)(
    'has no violations, with %o',
    async (options) => {
      await org.publish('echo')
      const page = await open(`${service}/console#token=${org.token}`, options)
      await runCard(page).waitFor()
      expect(await findViolations(page)).toEqual([])
      const overflow = await getOverflow(page)
      expect(overflow).toBeLessThanOrEqual(0)
    },
  )
})

it('an organization with runs has charts, also in a period without any', async () => {
  await org.publish('echo')
  await org.run('echo', { text: 'a' })
  const page = await openOverview()
  await charts(page).waitFor()
  await page.getByRole('button', { name: '1 h' }).click()
  await charts(page).waitFor()
  expect(await runCard(page).count()).toBe(0)
})
