import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { connectDemo } from './demo/start-demo.ts'
import { startProxy } from './stub/start-stub.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedText, heading } from './support/pages.ts'

const { open, openLink, openPage } = useBrowser()
const demo = connectDemo(inject('demo'))
const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' })

let run: string
beforeAll(async () => {
  run = await demo.run('wait', { seconds: 0 })
})

describe('the search', () => {
  const field = (page: Page) => page.getByRole('combobox', { name: /^Search/ })

  it('finds an ID in a pasted address, agents and pages, with the keyboard only', async () => {
    const page = await openPage(demo)
    await button(page, 'Search').focus()
    await page.keyboard.press('Control+k')
    await field(page).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.className')).toBe('search-button')
    await page.keyboard.press('/')
    await field(page).fill(`https://agents.example.com/console#/runs/${run.toUpperCase()}`)
    await page.getByRole('option', { name: /^Run/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`#/runs/${run}$`))
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
    await page.route('**/v1/usage?*', (route) => route.abort())
    const agents = Promise.withResolvers<void>()
    await page.route('**/v1/agents?*', async (route) => {
      await agents.promise
      await route.continue()
    })
    await page.reload()
    await button(page, 'Search').waitFor()
    await page.keyboard.press('/')
    await field(page).fill('o')
    await page.getByRole('option', { name: /^Page\s*Overview/ }).waitFor()
    const all = await page.getByRole('option').allTextContents()
    await page.keyboard.press('ArrowUp')
    const chosen = page.getByRole('option', { selected: true })
    await expect.poll(() => chosen.textContent()).toBe(all.at(-1))
    // Agents stand above pages, and move the choice to no other one.
    agents.resolve()
    await page
      .getByRole('option', { name: /^Agent/ })
      .first()
      .waitFor()
    expect(await chosen.textContent()).toBe(all.at(-1))
    expect(await field(page).getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'))
    await field(page).fill('redact')
    await page.getByRole('option', { name: /^Agent\s*Redact PII/ }).click()
    await heading(page, 'Redact PII').waitFor()
  })
})

describe('the documentation', () => {
  const urlOf = (page: string) => `${demo.url}/console/${page}`
  const field = (page: Page) => page.getByLabel('Search the documentation')

  it('is searched with the keyboard, also after its index could not be loaded', async () => {
    const page = await open(urlOf('docs.html'))
    await page.route('**/docs-index-*', (route) => route.abort())
    await page.locator('.docs-search:not([inert])').waitFor()
    await page.keyboard.press('/')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('docs-query')
    await page.keyboard.type('<img src=x onerror=alert(1)>')
    await page.getByText('The service does not respond.').waitFor()
    await page.unroute('**/docs-index-*')
    await field(page).fill('xyzzy')
    await page.getByText('Nothing found.').waitFor()
    expect(await page.locator('.docs-results img').count()).toBe(0)
    await field(page).fill('compare')
    await page.getByRole('link', { name: 'Runs › Compare' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(urlOf('docs-runs.html#compare'))
  })

  it('works without a script, and has pictures', async () => {
    const page = await open(urlOf('docs-runs.html'), { hasNoScript: true })
    await page.getByRole('link', { name: 'All pages' }).click()
    const all = page.getByRole('navigation', { name: 'All pages' })
    await all.getByRole('link', { name: 'Console', exact: true }).click()
    await heading(page, 'Console').waitFor()
    expect(await field(page).isVisible()).toBe(false)
    await page.locator('main a img').first().click()
    await page.waitForURL(/docs-picture-[\w-]+-[\dA-F]{8}\.svg$/)
  })
})

describe('addresses', () => {
  it.each(['/prod', '/console'])('work under the base path %s', async (basePath) => {
    const { url, stop } = await startProxy(demo.url, basePath)
    try {
      const page = await openPage({ url, token: demo.token })
      for (const name of ['Runs', 'Agents', 'Overview']) {
        await pages(page).getByRole('link', { name }).click()
        await heading(page, name).waitFor()
      }
      const href = await page.getByRole('link', { name: 'OpenAPI' }).getAttribute('href')
      expect(href).toBe(`${new URL(url).pathname}/v1/openapi.json`)
    } finally {
      await stop()
    }
  })

  it('of the service lead to the console with their fragment, and survive a reload and Back', async () => {
    const page = await openLink(`${demo.url}/?utm_source=mail#token=${demo.token}`)
    await heading(page, 'Overview').waitFor()
    expect(new URL(page.url()).pathname).toBe('/console')
    await pages(page).getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('link', { name: /^01/ }).first().click()
    await heading(page, /^Run /).waitFor()
    const text = await heading(page, /^Run /).textContent()
    await page.reload()
    expect(await heading(page, /^Run /).textContent()).toBe(text)
    await page.goBack()
    await heading(page, 'Runs').waitFor()
  })
})

describe('the layout', () => {
  it('has a link to the content, and a sidebar that a phone can reach above the page', async () => {
    const page = await openPage(demo)
    await page.keyboard.press('Tab')
    expect(await focusedText(page)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    const phone = await openPage(demo, '#/', { isPhone: true })
    expect(await pages(phone).getByRole('link').count()).toBe(0)
    await button(phone, 'Menu').click()
    for (const each of await pages(phone).getByRole('link').all()) {
      const box = await each.boundingBox()
      expect(box?.height).toBeGreaterThanOrEqual(24)
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
    }
    await pages(phone).getByRole('link', { name: 'Agents' }).click()
    await heading(phone, 'Agents').waitFor()
    expect(await pages(phone).getByRole('link').count()).toBe(0)
    expect((await heading(phone, 'Agents').boundingBox())?.y).toBeLessThan(844 / 4)
  })
})

it('a hidden tab asks nothing, and asks at once when it is shown', async () => {
  const page = await openLink(`${demo.url}/console#token=${demo.token}`)
  await page.clock.install()
  await page.goto('about:blank')
  await page.goto(`${demo.url}/console#/runs`)
  await page.getByRole('link', { name: /^01/ }).first().waitFor()
  const show = (isHidden: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await show(true)
  await page.clock.runFor(60_000)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.clock.runFor(600_000)
  expect(asked).toEqual([])
  const request = page.waitForRequest(/agent_executions/)
  await show(false)
  await page.clock.runFor(10)
  await request
})
