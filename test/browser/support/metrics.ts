import type { Page } from 'playwright-core'

/** Runs in the page: this folder has no types of browsers. */
const OBSERVE = `
  window.observed = { longTasks: [], layoutShift: 0 }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.observed.longTasks.push(duration)
  }).observe({ type: 'longtask', buffered: true })
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.observed.layoutShift += value
  }).observe({ type: 'layout-shift', buffered: true })`

/** Collects long tasks and layout shifts of every document that the page opens from now on. */
export const observePerformance = (page: Page): Promise<unknown> => page.addInitScript(OBSERVE)

/** The longest task in milliseconds, 0 if none took 50 ms. Forgets the tasks so far. */
export const takeLongestTask = (page: Page): Promise<number> =>
  page.evaluate('Math.round(Math.max(0, ...window.observed.longTasks.splice(0)))')

/** The sum of the layout shifts that did not follow an input (https://web.dev/articles/cls). */
export const getLayoutShift = (page: Page): Promise<number> => page.evaluate('window.observed.layoutShift')

export type Load = { requests: number; bytes: number; scriptMs: number }

/** Opens the URL without a cache. @returns what was transferred (headers included), and how long scripts ran */
export async function measureLoad(page: Page, url: string): Promise<Load> {
  const session = await page.context().newCDPSession(page)
  const traffic = { requests: 0, bytes: 0 }
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    traffic.requests++
    traffic.bytes += encodedDataLength
  })
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Performance.enable')
  await page.goto(url)
  await page.waitForLoadState('networkidle')
  const { metrics } = await session.send('Performance.getMetrics')
  const seconds = metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0
  await session.detach()
  return { ...traffic, scriptMs: Math.round(seconds * 1000) }
}
