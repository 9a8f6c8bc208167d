/**
 * `npm run screenshots`: takes the pictures in `docs/console/`, of a service with agents and executions of its own.
 * Names in the arguments select pages. With the variable `SCREENSHOTS`, a folder, it takes them there, and also those
 * of the dark theme, of a phone and of wider windows.
 */
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { addWebhooks, recordUsage, runAgents, runTrial, startRollouts, startWork } from './demo/fill-demo.ts'
import { startDemo } from './demo/start-demo.ts'
import { acceptLink } from './support/browser.ts'
import { launch, toContextOptions } from './support/launch.ts'

const REVIEWED = process.env.SCREENSHOTS
const FOLDER = REVIEWED ?? fileURLToPath(new URL('../../docs/console', import.meta.url))

const LIGHT = { '': { theme: 'light' } } as const
const OTHERS = {
  '-dark': { theme: 'dark' },
  '-phone': { theme: 'light', isPhone: true },
  '-1440': { theme: 'light', size: { width: 1_440, height: 900 } },
  '-1920': { theme: 'light', size: { width: 1_920, height: 1_080 } },
} as const
/** By the end of the names of their files. */
const VIEWS = { ...LIGHT, ...(REVIEWED && OTHERS) }

mkdirSync(FOLDER, { recursive: true })
const demo = await startDemo()
const browser = await launch()
const webhooks = await addWebhooks(demo)
try {
  await recordUsage(demo)
  const { finished, repeated, other } = await runAgents(demo)
  const { batchId } = await startWork(demo)
  const change = (document: string) => document.replace('Look the order', 'Always look the order')
  await demo.publish('order-support', { draft: true, change })
  const { draftVersionId } = (await demo.call('GET', '/v1/agents/order-support')).json
  const trialId = await runTrial(demo)
  await startRollouts(demo)
  const pages: Record<string, string> = {
    overview: '#/',
    agents: '#/agents',
    agent: '#/agents/order-support',
    try: `#/agents/order-support/try?from=${repeated}`,
    runs: '#/runs',
    run: `#/runs/${finished}`,
    tokens: '#/tokens',
    tenants: '#/tenants',
    tenant: '#/tenants/acme',
    version: `#/agents/order-support/versions/${draftVersionId}`,
    approvals: '#/approvals',
    batch: `#/batches/${batchId}`,
    schedules: '#/schedules',
    trial: `#/trials/${trialId}`,
    rollouts: '#/rollouts',
    webhook: `#/webhooks/${webhooks.failing}`,
    compare: `#/compare?a=${repeated}&b=${other}`,
    audit: '#/audit',
    search: '#/',
  }
  /** What is opened on a page before its picture is taken. */
  const acts: Record<string, (page: Page) => Promise<unknown>> = {
    search: async (page) => {
      await page.keyboard.press('/')
      await page.getByRole('dialog').getByRole('combobox').fill('order')
      await page.getByRole('dialog').getByText('Order support').waitFor()
    },
  }
  const selected = process.argv.slice(2)
  for (const [view, options] of Object.entries(VIEWS)) {
    const context = await browser.newContext(toContextOptions(options))
    const page = await context.newPage()
    await page.goto(`${demo.url}/console#token=${demo.token}`)
    await acceptLink(page)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    for (const [name, hash] of Object.entries(pages)) {
      if (selected.length > 0 && !selected.includes(name)) continue
      // Not only the fragment changes: the page is loaded.
      await page.goto('about:blank')
      await page.goto(`${demo.url}/console${hash}`)
      await take(page, `${name}${view}`, acts[name])
    }
    await context.close()
  }
} finally {
  await browser.close()
  await Promise.all([demo.stop(), webhooks.stop()])
}

async function take(page: Page, name: string, act?: (page: Page) => Promise<unknown>): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.locator('.spinner').first().waitFor({ state: 'detached' })
  await act?.(page)
  await page.waitForLoadState('networkidle')
  await page.screenshot({ path: `${FOLDER}/${name}.png`, animations: 'disabled' })
}
