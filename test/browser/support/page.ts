import type { Page } from 'playwright-core'

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

export const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name, exact: true })

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })

export const region = (page: Page, name: string | RegExp) => page.getByRole('region', { name, exact: true })

/** Has finished loading. A run in progress always has a request open. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('.spinner').first().waitFor({ state: 'detached' })
}

/** By how many pixels the page is wider than its window; it is not wider if at most 0. */
export const getOverflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

/** The text of what has the focus. */
export const focusedText = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.textContent')

/** The name of what has the focus: its label, or its text. */
export const focusedName = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const element = document.activeElement
    return element.getAttribute('aria-label') ?? (element.labels?.[0] ?? element).textContent
  })()`)
