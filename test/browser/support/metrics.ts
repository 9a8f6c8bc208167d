import type { Page } from 'playwright-core'

/** Runs in the page: this folder has no types of browsers. */
const OBSERVE = `
  window.layoutShift = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value
  }).observe({ type: 'layout-shift', buffered: true })`

/** Sums the layout shifts of every document that the page opens from now on. */
export const observeLayoutShift = (page: Page): Promise<unknown> => page.addInitScript(OBSERVE)

/** The sum of the layout shifts that did not follow an input (https://web.dev/articles/cls). */
export const getLayoutShift = (page: Page): Promise<number> => page.evaluate('window.layoutShift')

/** @returns bytes that were transferred meanwhile without a cache, headers included */
export async function measureTransfer(page: Page, act: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await act()
  await session.detach()
  return bytes
}
