import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { connectDemo } from '../../browser/demo/start-demo.ts'
import { loadPage, useBrowser } from '../../browser/support/browser.ts'
import { getLayoutShift, observeLayoutShift } from '../../browser/support/metrics.ts'
import { findCutOff, findViolationsInThemes } from '../../browser/support/page-checks.ts'
import { addressOf, getOverflow, PAGES, settle } from '../../browser/support/pages.ts'
import { addDemoData } from './demo-data.ts'
import { STATES, type StateRow } from './states.ts'

const MAX_LAYOUT_SHIFT = 0.05
const MAX_TABS = 400

const { open, openLink, openPage } = useBrowser()
const demo = connectDemo(inject('demo'))
let data: Awaited<ReturnType<typeof addDemoData>>
beforeAll(async () => {
  data = await addDemoData(demo)
})
afterAll(() => data?.stop())

const WINDOWS = [
  ['in a wide window', { size: { width: 1400, height: 900 } }],
  ['on a phone', { isPhone: true }],
] as const

/** Pages are loaded in a wide window, which then becomes as narrow as a tablet. */
const TABLET = { width: 820, height: 1180 }

const ALL: StateRow[] = [...PAGES.map(([name, hash]): StateRow => [name, hash]), ...STATES]
const DOCS = ['docs.html', 'docs-console.html', 'docs-runs.html', 'docs-costs.html']

/** The page as it is, in both themes. */
async function check(page: Page): Promise<void> {
  expect(await findViolationsInThemes(page)).toEqual([])
  expect(await getOverflow(page), 'scrolls sideways').toBeLessThanOrEqual(0)
  expect(await findCutOff(page), 'is cut off').toEqual([])
}

describe.each(WINDOWS)('%s', (_, options) => {
  it('the sign-in page has no violations', async () => {
    const page = await open(`${demo.url}/console`, options)
    await page.getByLabel('API token').waitFor()
    await check(page)
  })

  it('the first visit of an organization without runs has no violations', async () => {
    const page = await openPage(demo, '#/', options)
    await page.route('**/v1/usage?*', (route) => route.fulfill({ json: [] }))
    await page.route('**/v1/agent_executions?*', (route) => route.fulfill({ json: [] }))
    await page.reload()
    await settle(page)
    await check(page)
  })

  it.each(ALL)('has no violations, and nothing moves: %s', async (_name, hash, act) => {
    const page = await openLink(`${demo.url}/console#token=${demo.token}`, options)
    await observeLayoutShift(page)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await loadPage(page, demo.url, addressOf(hash, data.ids))
    expect(await getLayoutShift(page)).toBeLessThanOrEqual(MAX_LAYOUT_SHIFT)
    await act?.(page)
    await check(page)
    if ('isPhone' in options) return
    await page.setViewportSize(TABLET)
    await check(page)
  })

  it.each(DOCS)('the documentation has no violations, and nothing moves: %s', async (name) => {
    const page = await open(`${demo.url}/console/${name}`, options)
    await observeLayoutShift(page)
    await page.reload()
    await page.getByLabel('Search the documentation').fill('compare')
    await page
      .getByRole('link', { name: / › Compare/ })
      .first()
      .waitFor()
    expect(await getLayoutShift(page)).toBeLessThanOrEqual(MAX_LAYOUT_SHIFT)
    expect(await findViolationsInThemes(page)).toEqual([])
    expect(await getOverflow(page), 'scrolls sideways').toBeLessThanOrEqual(0)
  })
})

/** Controls that are reached by arrows from another one have no stop of their own. */
const CONTROLS = `[...document.querySelectorAll('main :is(a[href], button, input, select, textarea, summary)')].filter((each) =>
  each.tabIndex >= 0 && !each.disabled && each.checkVisibility() && each.type !== 'radio' && !each.closest('[inert]'))`

describe('with the keyboard', () => {
  it.each(PAGES)('Tab reaches every control, which shows that it has the focus: %s', async (_, hash) => {
    const page = await openPage(demo, addressOf(hash, data.ids))
    await page.evaluate(`window.expected = new Set(${CONTROLS}); window.unmarked = []`)
    const count: number = await page.evaluate('expected.size')
    for (let tabs = 0; tabs < Math.min(count + 60, MAX_TABS); tabs++) {
      await page.keyboard.press('Tab')
      const left = await page.evaluate(`(() => {
          const element = document.activeElement
          const { outlineStyle, boxShadow, borderColor } = getComputedStyle(element)
          if (expected.delete(element) && outlineStyle === 'none' && boxShadow === 'none') unmarked.push(element.outerHTML.slice(0, 200))
          for (const each of expected) if (!each.isConnected) expected.delete(each)
          return expected.size
        })()`)
      if (left === 0) break
    }
    expect(await page.evaluate('[...expected].map((each) => each.outerHTML.slice(0, 200))')).toEqual([])
    expect(await page.evaluate('unmarked')).toEqual([])
  })

  it.each(PAGES)('Escape closes every dialog, and returns the focus to its button: %s', async (_, hash) => {
    const page = await openPage(demo, addressOf(hash, data.ids))
    const openers = page.locator('main').getByRole('button', { name: /…$/ })
    const names = new Set(await openers.allTextContents())
    for (const name of names) {
      const opener = page.getByRole('button', { name, exact: true }).first()
      if (await opener.isDisabled()) continue
      await opener.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').first().waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').first().waitFor({ state: 'detached' })
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(name)
    }
  })
})
