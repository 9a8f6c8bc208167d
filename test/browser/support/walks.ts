import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { waitUntil } from '../../support/processes/processes.ts'
import type { Demo } from '../demo/start-demo.ts'
import { button, link, region } from './pages.ts'

/** What a walk needs, by its names in the address. */
type Ids = Record<string, string>

/** A task of somebody who knows the console. Clicks, Enter and Space count, choices of lists twice; typing is free. */
type Walk = {
  name: string
  /** At most. */
  clicks: number
  /** Whether it is taken by `npm run ci`, too. */
  isDaily?: boolean
  /** Where one begins. */
  start: string
  prepare?: (demo: Demo) => Promise<Ids>
  go: (page: Page, demo: Demo, ids: Ids) => Promise<unknown>
}

/** Counts what a person does with the pointer and the keys that press buttons. Lists open on their first click. */
const COUNT = `window.clicks = 0
  addEventListener('pointerdown', ({ target }) => { if (target.tagName !== 'SELECT') clicks += 1 }, true)
  addEventListener('change', ({ target }) => { if (target.tagName === 'SELECT') clicks += 2 }, true)
  addEventListener('keydown', ({ key, target: { tagName } }) => {
    const isText = tagName === 'TEXTAREA' || (tagName === 'INPUT' && key === ' ')
    if ((key === 'Enter' || key === ' ') && !isText) clicks += 1
  }, true)`

type Open = (demo: Demo, hash: string) => Promise<Page>

/** @returns how many clicks it took */
export async function take({ start, prepare, go }: Walk, demo: Demo, open: Open): Promise<number> {
  const ids = (await prepare?.(demo)) ?? {}
  const page = await open(
    demo,
    start.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ''),
  )
  await page.evaluate(COUNT)
  await go(page, demo, ids)
  return page.evaluate('window.clicks')
}

const ORDER = { orderId: 'A-1042', question: 'Where is it?' }
const always = (document: string) => document.replace('Look the order', 'Always look the order')
const orderDraft = async (demo: Demo) => ({
  version: await demo.publish('order-support', { draft: true, change: always }),
})
const row = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ hasText: name })

const runLink = (page: Page, run: string) => page.locator(`.run-row a[href^="#/runs/${run}"]`).first()

/** An agent that is fast, and whose runs are found by their orders. */
const SHOP = `---
title: Shop
slug: shop
code: true
input: { orderId: { type: string } }
output: { answer: { type: string } }
keys: { orderId: { input: /orderId } }
---
`
async function publishShop({ call }: Demo, draft = false): Promise<string> {
  const code = `export default ({ orderId }) => ({ answer: orderId + ' is on its way${draft ? '.' : ''}' })`
  const { json, text, status } = await call('POST', '/v1/agents', { body: { document: SHOP, code, draft } })
  expect(status, text).toBeLessThan(300)
  return json.id
}

async function startTrial(demo: Demo, version: string): Promise<string> {
  const path = `/v1/agents/shop/versions/${version}/trials`
  const { json, text } = await demo.call('POST', path, { body: { limit: 5 } })
  const hasEnded = async () => (await demo.call('GET', `/v1/trials/${json.id}`)).json.status === 'ENDED'
  await waitUntil(hasEnded, { what: `the end of the trial ${text}`, limitMs: 120_000 })
  return json.id
}

async function startRefunds(demo: Demo): Promise<Ids> {
  const ids: Ids = {}
  for (const usd of [101, 102, 103, 104])
    ids[usd] = await demo.run('refund-order', { orderId: `R-${usd}`, usd }, 'execMode=async&tenantId=refunds')
  const isAsked = async () => (await demo.call('GET', '/v1/approvals?tenantId=refunds')).json.length === 4
  await waitUntil(isAsked, { what: 'four approvals', limitMs: 60_000 })
  return ids
}

async function startBatch({ call }: Demo): Promise<Ids> {
  const lines = [1, 2, 3].map((number) => ({
    customId: `line-${number}`,
    input: { count: 4, fail: number === 2 },
  }))
  const { json } = await call('POST', '/v1/agents/import-contacts/batches', { body: lines })
  const hasEnded = async () => (await call('GET', `/v1/batches/${json.id}`)).json.status === 'ENDED'
  await waitUntil(hasEnded, { what: 'the end of the batch', limitMs: 120_000 })
  return { batch: json.id }
}

/** The tasks of operators, of those who approve, and of authors. */
export const WALKS: Walk[] = [
  {
    name: 'failures of an agent by code',
    ...{ clicks: 3, start: '#/' },
    prepare: async (demo) => ({
      run: await demo.run('import-contacts', { count: 4, fail: true }, 'tenantId=failures'),
    }),
    async go(page) {
      await link(page, 'Runs').first().click()
      await page.getByLabel('Agent', { exact: true }).fill('Import contacts')
      await button(page, /^More filters/).click()
      await page.getByLabel('Error code').fill('AgentFailed')
      await page.waitForURL(/agent=import-contacts.*errorCode=AgentFailed/)
      await page.locator('.badge-code').getByText('AgentFailed').first().waitFor()
    },
  },
  {
    name: 'the order of a tenant, and its text',
    isDaily: true,
    ...{ clicks: 2, start: '#/' },
    async prepare(demo) {
      await publishShop(demo)
      for (const tenant of ['acme', 'globex'])
        await demo.run('shop', { orderId: 'O-1300' }, `tenantId=${tenant}`)
      return {}
    },
    async go(page) {
      await page.keyboard.press('/')
      await page.getByRole('combobox', { name: /^Search/ }).fill('O-1300')
      await page.getByRole('option', { name: /globex/ }).click()
      await page.getByText('O-1300 is on its way').first().waitFor()
      await page.getByText('globex').first().waitFor()
    },
  },
  {
    name: 'cost and slow step of a run',
    ...{ clicks: 3, start: '#/' },
    prepare: async (demo) => ({ run: await demo.run('order-support', ORDER, 'tenantId=slow') }),
    async go(page, _demo, { run = '' }) {
      await link(page, 'Runs').first().click()
      await page.getByLabel('Tenant', { exact: true }).fill('slow')
      await page.waitForURL(/tenantId=slow/)
      await page.getByText('2 runs', { exact: true }).waitFor()
      // The other is of the agent that it calls: the newest of both, often without cost.
      await runLink(page, run).click()
      await page
        .getByText(/^\$0\.\d+/)
        .first()
        .waitFor()
      for (const step of [1, 2, 3])
        await page.getByRole('treeitem', { name: new RegExp(`^${step}\\. .*\\d m?s`) }).waitFor()
    },
  },
  {
    name: 'three approvals, and one that is rejected with a note',
    isDaily: true,
    ...{ clicks: 6, start: '#/', prepare: startRefunds },
    async go(page, demo, ids) {
      await page.getByRole('link', { name: /^Approvals/ }).click()
      const title = page.getByRole('heading', { level: 2, name: /^Refund/ })
      for (const name of ['Approve', 'Approve', 'Approve', 'Reject']) {
        const shown = await title.textContent()
        if (name === 'Reject') await page.getByLabel('Note').fill('Too late.')
        await button(page, name).click()
        await expect.poll(() => title.allTextContents()).not.toContain(shown)
      }
      const outputs = async () =>
        Promise.all(
          Object.values(ids).map(async (id) => (await demo.call('GET', `/v1/agent_executions/${id}`)).json),
        )
      await waitUntil(async () => (await outputs()).every(({ status }) => status === 'SUCCESS'), {
        ...{ what: 'four decisions', limitMs: 60_000 },
      })
      const refunded = (await outputs()).map(({ output }) => output.refunded)
      // The newest is the first that is shown.
      expect(refunded).toEqual([false, true, true, true])
    },
  },
  {
    name: 'two versions that differ',
    ...{ clicks: 1, start: '#/agents/order-support', prepare: orderDraft },
    async go(page) {
      await button(page, 'Compare').click()
      await page.getByText(/Added: .*Always look/).waitFor()
    },
  },
  {
    name: 'two runs that differ',
    ...{ clicks: 3, start: '#/runs/{run}' },
    async prepare(demo) {
      await demo.run('order-support', ORDER)
      return { run: await demo.run('order-support', { ...ORDER, orderId: 'A-2077' }) }
    },
    async go(page) {
      await link(page, 'Compare with…').click()
      await button(page, 'With its last successful run').click()
      await page.getByText('/input/orderId').first().waitFor()
    },
  },
  {
    name: 'a trial of a draft on 50 runs',
    ...{ clicks: 4, start: '#/agents/shop' },
    async prepare(demo) {
      await publishShop(demo)
      const version = await publishShop(demo, true)
      for (let part = 0; part < 5; part++)
        await Promise.all(
          Array.from({ length: 10 }, (_, index) => demo.run('shop', { orderId: `T-${part}${index}` })),
        )
      return { version }
    },
    async go(page, _, { version = '' }) {
      await page.getByRole('row', { name: /Draft/ }).getByTitle(version).click()
      await link(page, 'Start a trial').click()
      await page.getByLabel('Runs at most').fill('50')
      await button(page, 'Start trial').click()
      await page.getByText('50 runs').first().waitFor()
    },
  },
  {
    name: 'a promotion from the verdict',
    ...{ clicks: 3, start: '#/trials/{trial}' },
    async prepare(demo) {
      await publishShop(demo)
      await demo.run('shop', { orderId: 'P-1' })
      const version = await publishShop(demo, true)
      return { version, trial: await startTrial(demo, version) }
    },
    async go(page, demo, { version }) {
      await link(page, 'Promote this version').click()
      await button(page, 'Promote…').click()
      await button(page, 'Promote').click()
      const current = async () => (await demo.call('GET', '/v1/agents/shop')).json.currentVersionId
      await expect.poll(current).toBe(version)
    },
  },
  {
    name: 'the end of a bad rollout',
    isDaily: true,
    ...{ clicks: 3, start: '#/' },
    async prepare(demo) {
      await publishShop(demo)
      const versionId = await publishShop(demo, true)
      await demo.call('PUT', '/v1/agents/shop/rollout', { body: { versionId, percent: 50 } })
      return {}
    },
    async go(page, demo) {
      await link(page, 'Rollouts').click()
      await row(page, 'Shop').getByRole('button', { name: /^End/ }).click()
      await button(page, 'End rollout').click()
      await expect.poll(async () => (await demo.call('GET', '/v1/agents/shop/rollout')).status).toBe(404)
    },
  },
  {
    name: 'what a tenant has spent this month, and a limit',
    ...{ clicks: 3, start: '#/tenants' },
    async prepare(demo) {
      await demo.run('order-support', ORDER, 'tenantId=spender')
      const spent = async () => (await demo.call('GET', '/v1/usage?groupBy=tenant')).text.includes('spender')
      // Runs are counted a while after they have ended.
      await waitUntil(spent, { what: 'the usage of the tenant', limitMs: 180_000 })
      return {}
    },
    async go(page, demo) {
      await link(page, 'spender').click()
      await button(page, 'Set limits…').click()
      await page.getByLabel('Cost per month').fill('25')
      await button(page, 'Save limits').click()
      await row(page, 'Cost this month').getByText('$25').first().waitFor()
      const { json } = await demo.call('GET', '/v1/tenants/spender/limits')
      expect(json.maxCostUsd.month).toBe(25)
      expect(json.spentUsd.month).toBeGreaterThan(0)
    },
  },
  {
    name: 'failed lines of a batch, again',
    ...{ clicks: 3, start: '#/batches', prepare: startBatch },
    async go(page, _, { batch = '' }) {
      await page.locator(`a[href="#/batches/${batch}"]`).first().click()
      await button(page, 'Retry failed…').click()
      await button(page, 'Retry failed').click()
      await page.getByText('Retry of').waitFor()
      await page.getByText(/^1 of 1 ended/).waitFor()
    },
  },
  {
    name: 'a schedule that is paused',
    ...{ clicks: 3, start: '#/schedules' },
    async prepare({ call }) {
      const body = { cron: '30 2 * * *', timezone: 'UTC', input: { count: 4 } }
      await call('PUT', '/v1/agents/import-contacts/schedules/nightly', { body })
      return {}
    },
    async go(page, { call }) {
      await link(page, 'nightly').click()
      await button(page, 'Pause…').click()
      await button(page, 'Pause').click()
      const isEnabled = async () =>
        (await call('GET', '/v1/agents/import-contacts/schedules/nightly')).json.enabled
      await expect.poll(isEnabled).toBe(false)
    },
  },
  {
    name: 'who has promoted a version',
    ...{ clicks: 2, start: '#/' },
    async prepare(demo) {
      const { version = '' } = await orderDraft(demo)
      await demo.call('POST', `/v1/agents/order-support/versions/${version}/promote`)
      return { version, name: (await demo.call('GET', '/v1/tokens')).json[0]?.name }
    },
    async go(page, _, { version = '', name = '' }) {
      await link(page, 'Agents').click()
      await link(page, 'Order support').click()
      const promoted = page.getByRole('row').filter({ has: page.getByTitle(version) })
      await promoted.getByText(`by ${name}`).first().waitFor()
    },
  },
  {
    name: 'a token for one agent and one tenant',
    ...{ clicks: 3, start: '#/tokens' },
    async go(page, demo) {
      await button(page, 'Create token…').click()
      const form = page.getByRole('dialog', { name: 'Create a token' })
      await form.getByLabel('Name').fill('shop of acme')
      await form.getByText('Limits', { exact: true }).click()
      await form.getByLabel('Tenant').fill('acme')
      await form.getByLabel('Agents').fill('order-support')
      await button(page, 'Create token').click()
      await page.getByRole('dialog', { name: 'The new token' }).getByText(/^aes_/).waitFor()
      const { json } = await demo.call('GET', '/v1/tokens')
      expect(json[0]).toMatchObject({ name: 'shop of acme', agents: ['order-support'], tenantId: 'acme' })
    },
  },
  {
    name: 'instructions that are edited into a draft, which is tried',
    isDaily: true,
    ...{ clicks: 5, start: '#/agents/order-support' },
    async go(page) {
      await page
        .getByRole('row', { name: /Current/ })
        .getByRole('link')
        .first()
        .click()
      await link(page, 'Edit').click()
      const text = page.getByLabel('Text for the model')
      await text.fill(`${await text.inputValue()}\nBe brief.`)
      await button(page, 'Save draft').click()
      await link(page, 'Try draft').click()
      await page.getByLabel('orderId').fill('A-1042')
      await page.getByLabel('question').fill('Where is it?')
      await button(page, 'Run both').click()
      await region(page, /^B: this version/)
        .getByText('Your parcel is in Leipzig')
        .waitFor()
    },
  },
  {
    name: 'a run that is followed',
    isDaily: true,
    ...{ clicks: 0, start: '#/runs/{run}' },
    async prepare(demo) {
      const { id, open } = await demo.startGated()
      gates.set(id, open)
      return { run: id }
    },
    async go(page, _, { run = '' }) {
      await page.getByRole('treeitem', { name: /1\. batch 1/ }).waitFor()
      expect(await page.getByRole('treeitem', { name: /4\. batch 4/ }).count()).toBe(0)
      await gates.get(run)?.()
      await page.getByRole('treeitem', { name: /4\. batch 4/ }).waitFor()
      await page.getByText('Success').first().waitFor()
    },
  },
]

/** What lets runs go on. */
const gates = new Map<string, () => Promise<unknown>>()
