import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Stub, startStub } from './stub/start-stub.ts'
import { findViolationsInThemes } from './support/axe.ts'
import { useBrowser } from './support/browser.ts'
import { WINDOWS } from './support/launch.ts'
import { getLayoutShift, observeLayoutShift } from './support/metrics.ts'
import { getOverflow } from './support/page.ts'

const MAX_LAYOUT_SHIFT = 0.05

const { open } = useBrowser()
let stub: Stub
beforeAll(async () => {
  stub = await startStub({})
})
afterAll(() => stub?.stop())

const urlOf = (page: string) => `${stub.url}/console/${page}`
const searchField = (page: Page) => page.getByLabel('Search the documentation')

describe.each(WINDOWS)('the documentation, %s', (_, options) => {
  it.each(['docs.html', 'docs-console.html', 'docs-executions.html', 'docs-costs.html'])(
    'has no violations, nothing moves, and it fits: %s',
    async (name) => {
      const page = await open(urlOf(name), options)
      await observeLayoutShift(page)
      await page.reload()
      await searchField(page).waitFor()
      expect(await getLayoutShift(page)).toBeLessThanOrEqual(MAX_LAYOUT_SHIFT)
      expect(await findViolationsInThemes(page)).toEqual([])
      const overflow = await getOverflow(page)
      expect(overflow, 'scrolls sideways').toBeLessThanOrEqual(0)
    },
  )

  it('has no violations while one searches', async () => {
    const page = await open(urlOf('docs.html'), options)
    await searchField(page).fill('compare')
    await page.getByRole('link', { name: 'Executions › Compare' }).waitFor()
    expect(await findViolationsInThemes(page)).toEqual([])
    const overflow = await getOverflow(page)
    expect(overflow, 'scrolls sideways').toBeLessThanOrEqual(0)
  })
})

describe('the search', () => {
  it('is used with the keyboard alone, and loads its index when it is needed', async () => {
    const page = await open(urlOf('docs.html'))
    // Pictures of the page may come later.
    const loads: string[] = []
    page.on('request', (request) => {
      if (/docs-index-[\dA-F]{8}\.json$/.test(request.url())) loads.push(request.url())
    })
    await searchField(page).waitFor()
    expect(loads).toEqual([])
    await page.keyboard.press('/')
    await page.keyboard.type('compare')
    await page
      .getByRole('status')
      .getByText(/results/)
      .waitFor()
    expect(loads).toHaveLength(1)
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Executions › Compare')
    await page.keyboard.press('Escape')
    expect(await page.getByRole('status').isVisible()).toBe(false)
    expect(await page.evaluate('document.activeElement.id')).toBe('docs-query')
    await page.keyboard.type('compare')
    await page.getByRole('link', { name: 'Executions › Compare' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(urlOf('docs-executions.html#compare'))
  })

  it('says that nothing was found, and tries again after an error', async () => {
    const page = await open(urlOf('docs.html'))
    await page.route('**/docs-index-*', (route) => route.abort())
    await searchField(page).fill('xyzzy')
    await page.getByText('The service does not respond.').waitFor()
    await page.unroute('**/docs-index-*')
    await searchField(page).fill('xyzzy ')
    await page.getByText('Nothing found.').waitFor()
  })

  it('shows a query as text', async () => {
    const page = await open(urlOf('docs.html'))
    await searchField(page).fill('<img src=x onerror=alert(1)>')
    await page.getByRole('status').waitFor()
    expect(await page.locator('.docs-results img').count()).toBe(0)
  })
})

describe('the navigation', () => {
  it('leads through the pages, marks the current one, and has the contents of the page', async () => {
    const page = await open(urlOf('docs-runs.html'))
    const pages = page.getByRole('navigation', { name: 'All pages' })
    expect(await pages.locator('[aria-current=page]').textContent()).toBe('Runs')
    await page.getByRole('navigation', { name: 'Previous and next page' }).getByText('Executions').click()
    await page.getByRole('heading', { level: 1, name: 'Executions' }).waitFor()
    await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Lists' }).click()
    expect(page.url()).toBe(urlOf('docs-executions.html#lists'))
  })

  it('works without a script', async () => {
    const page = await open(urlOf('docs-runs.html'), { hasNoScript: true })
    await page.getByRole('link', { name: 'All pages' }).click()
    const pages = page.getByRole('navigation', { name: 'All pages' })
    await pages.getByRole('link', { name: 'Console', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Console' }).waitFor()
    expect(await searchField(page).isVisible()).toBe(false)
  })

  it('is below the text on a phone', async () => {
    const page = await open(urlOf('docs-runs.html'), { isPhone: true })
    const [text, pages] = [page.locator('main'), page.getByRole('navigation', { name: 'All pages' })]
    const [textBox, pagesBox] = [await text.boundingBox(), await pages.boundingBox()]
    expect(pagesBox?.y ?? 0).toBeGreaterThanOrEqual((textBox?.y ?? 0) + (textBox?.height ?? 0))
  })
})

it('has pictures, which lead to their full size', async () => {
  const page = await open(urlOf('docs-console.html'))
  const picture = page.locator('main a img').first()
  await picture.scrollIntoViewIfNeeded()
  await expect
    .poll(() => page.evaluate('document.querySelector("main a img").naturalWidth'), { timeout: 10_000 })
    .toBe(1280)
  await picture.click()
  await page.waitForURL(/docs-picture-[\w-]+-light-[\dA-F]{8}\.svg$/)
})
