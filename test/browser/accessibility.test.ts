import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addWebhooks } from './demo/add-webhooks.ts'
import { recordUsage } from './demo/record-usage.ts'
import { runAgents } from './demo/run-agents.ts'
import { runTrial } from './demo/run-trial.ts'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { startWork } from './demo/start-work.ts'
import { findViolationsInThemes } from './support/axe.ts'
import { useBrowser } from './support/browser.ts'
import { findCutOff } from './support/cut-off.ts'
import { WINDOWS } from './support/launch.ts'
import { getLayoutShift, observeLayoutShift } from './support/metrics.ts'
import { getOverflow, settle } from './support/page.ts'

const MAX_LAYOUT_SHIFT = 0.05

const { open } = useBrowser()
let demo: Demo
let webhooks: Awaited<ReturnType<typeof addWebhooks>>
let ids: Awaited<ReturnType<typeof runAgents>> & {
  draft: string
  code: string
  trial: string
  webhook: string
}
let batchId: string

beforeAll(async () => {
  demo = await startDemo()
  await recordUsage(demo)
  webhooks = await addWebhooks(demo)
  const runs = await runAgents(demo)
  batchId = (await startWork(demo)).batchId
  const change = (document: string) => document.replace('Look the order', 'Always look the order')
  await demo.publish('order-support', { draft: true, change })
  const draft = (await demo.call('GET', '/v1/agents/order-support')).json.draftVersionId
  const code = (await demo.call('GET', '/v1/agents/import-contacts')).json.currentVersionId
  ids = { ...runs, draft, code, trial: await runTrial(demo), webhook: webhooks.failing }
  await startRollout()
}, 120_000)
afterAll(() => Promise.all([demo?.stop(), webhooks?.stop()]))

/** Of another version of `redact-pii`, which succeeds too: any run may get it. */
async function startRollout(): Promise<void> {
  const fields = 'input:\n  content: { type: string }\noutput:\n  redactedContent: { type: string }\n'
  const document = `---\ntitle: Redact PII\nslug: redact-pii\ncode: true\n${fields}---\n`
  const code = 'export default async ({ content }) => ({ redactedContent: content })'
  const { json } = await demo.call('POST', '/v1/agents', { body: { document, code, draft: true } })
  const abort = { maxErrorRate: 0.05, maxCostIncrease: 0.5, minRuns: 200 }
  const body = { versionId: json.id, percent: 25, abort }
  await demo.call('PUT', '/v1/agents/redact-pii/rollout', { body })
}

/** Every page, in states that differ. What `then` does is needed to reach one. */
const PAGES: [string, (find: typeof ids) => string, ((page: Page) => Promise<unknown>)?][] = [
  ['overview', () => '#/'],
  [
    'overview of an hour, with a table',
    () => '#/?period=1h',
    (page) => page.getByText('Show as a table').first().click(),
  ],
  [
    'search',
    () => '#/',
    async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Search/ }).fill('order')
      await page.getByRole('option', { name: /Order support/ }).waitFor()
    },
  ],
  ['agents', () => '#/agents'],
  ['agent', () => '#/agents/order-support'],
  ['agent without a model, with a rollout', () => '#/agents/redact-pii'],
  [
    'end of a rollout',
    () => '#/agents/redact-pii',
    (page) => page.getByRole('button', { name: 'End rollout…' }).click(),
  ],
  [
    'rollout',
    () => '#/agents/order-support',
    (page) => page.getByRole('button', { name: 'Start a rollout…' }).click(),
  ],
  ['archived agents', () => '#/agents?show=archived'],
  ['version', ({ draft }) => `#/agents/order-support/versions/${draft}`],
  [
    'promotion',
    ({ draft }) => `#/agents/order-support/versions/${draft}`,
    async (page) => {
      await page.getByRole('button', { name: 'Promote…' }).click()
      await page.getByText(/To undo it/).waitFor()
    },
  ],
  [
    'version with code',
    ({ code }) => `#/agents/import-contacts/versions/${code}`,
    async (page) => {
      await page.getByRole('button', { name: 'Show the code' }).click()
      await page.getByRole('region', { name: 'Text of the code' }).waitFor()
    },
  ],
  ['draft beside the current version', ({ draft }) => `#/agents/order-support/versions/${draft}/try`],
  ['missing version', () => '#/agents/order-support/versions/1'],
  ['try it', () => '#/agents/order-support/try'],
  [
    'try it with JSON',
    ({ finished }) => `#/agents/order-support/try?from=${finished}`,
    (page) => page.getByRole('button', { name: 'JSON', exact: true }).click(),
  ],
  [
    'try it with mistakes',
    () => '#/agents/order-support/try',
    async (page) => {
      await page.getByRole('button', { name: 'Add item to attachments' }).click()
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('button', { name: 'Run anyway' }).waitFor()
    },
  ],
  [
    'try it with a result',
    () => '#/agents/redact-pii/try',
    async (page) => {
      await page.getByLabel('content').fill('Write to ada@example.com.')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('heading', { name: /^Result.*Success/ }).waitFor()
    },
  ],
  [
    'comparison',
    () => '#/agents/order-support',
    async (page) => {
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.getByText(/Always look/).waitFor()
    },
  ],
  ['comparison of missing versions', () => '#/agents/order-support/compare?before=1&after=2'],
  ['runs', () => '#/runs'],
  ['runs without results', () => '#/runs?tenantId=nobody'],
  ['runs that a search has found', () => '#/runs?errorText=e&from=2026-01-01T10:00'],
  [
    'failed runs that are selected',
    () => '#/runs?status=ERROR',
    async (page) => {
      await page.getByRole('checkbox', { name: /failed run/ }).check()
      await page.getByRole('button', { name: 'Retry…' }).click()
      await page.getByText(/Models are asked and tools are called again/).waitFor()
    },
  ],
  ['finished run', ({ finished }) => `#/runs/${finished}`],
  ['failed run', ({ failed }) => `#/runs/${failed}`],
  ['end of a failed run', ({ failed }) => `#/runs/${failed}?step=error`],
  ['step of a run', ({ finished }) => `#/runs/${finished}?step=1`],
  ['call of a run', ({ finished }) => `#/runs/${finished}?step=1.1`],
  ['run in progress', ({ running }) => `#/runs/${running}`],
  [
    'feedback',
    ({ finished }) => `#/runs/${finished}`,
    (page) => page.getByRole('button', { name: /feedback/ }).click(),
  ],
  [
    'confirmation',
    ({ finished }) => `#/runs/${finished}`,
    (page) => page.getByRole('button', { name: 'Delete…' }).click(),
  ],
  ['comparison of runs', ({ finished, repeated }) => `#/compare?a=${finished}&b=${repeated}`],
  ['comparison of runs that failed', ({ failed, running }) => `#/compare?a=${failed}&b=${running}`],
  [
    'choice of runs to compare',
    ({ finished }) => `#/compare?a=${finished}`,
    (page) => page.getByRole('button', { name: 'Compare', exact: true }).click(),
  ],
  ['webhooks', () => '#/webhooks'],
  [
    'form of a webhook',
    () => '#/webhooks',
    async (page) => {
      await page.getByRole('button', { name: 'Create webhook…' }).click()
      await page.getByText('Which runs, and private receivers').click()
    },
  ],
  [
    'secret of a webhook',
    () => '#/webhooks/default',
    async (page) => {
      await page.getByRole('button', { name: 'Rotate secret…' }).click()
      await page.getByRole('button', { name: 'Rotate secret', exact: true }).click()
      await page.getByLabel('I have stored the secret').waitFor()
    },
  ],
  ['webhook', ({ webhook }) => `#/webhooks/${webhook}`],
  [
    'delivery',
    ({ webhook }) => `#/webhooks/${webhook}`,
    (page) => page.getByRole('link', { name: 'Run failed' }).first().click(),
  ],
  [
    'redelivery',
    ({ webhook }) => `#/webhooks/${webhook}`,
    async (page) => {
      await page.getByRole('button', { name: 'Redeliver failed…' }).click()
      await page.getByText(/failed for good/).waitFor()
    },
  ],
  ['trials', () => '#/trials'],
  ['trials without results', () => '#/trials?agent=redact-pii'],
  ['trial', ({ trial }) => `#/trials/${trial}`],
  ['trial with changed runs', ({ trial }) => `#/trials/${trial}?verdict=CHANGED`],
  [
    'report of a trial',
    ({ trial }) => `#/trials/${trial}`,
    async (page) => {
      await page.getByRole('button', { name: 'Report…' }).click()
      await page.getByRole('textbox', { name: 'Report' }).waitFor()
    },
  ],
  ['start of a trial', () => '#/trials/new?agent=order-support'],
  ['tokens', () => '#/tokens?show=all'],
  [
    'form of a token',
    () => '#/tokens',
    async (page) => {
      await page.getByRole('button', { name: 'Create token…' }).click()
      await page.getByText('Limits', { exact: true }).last().click()
    },
  ],
  [
    'new token',
    () => '#/tokens',
    async (page) => {
      await page.getByRole('button', { name: 'Create token…' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('ci')
      await page.getByRole('button', { name: 'Create token', exact: true }).click()
      await page.getByLabel('I have stored the token').waitFor()
    },
  ],
  [
    'rotation of a token',
    () => '#/tokens',
    (page) => page.getByRole('button', { name: 'Rotate…' }).first().click(),
  ],
  ['rollouts', () => '#/rollouts'],
  ['tenants', () => '#/tenants'],
  ['tenants without results', () => '#/tenants?search=nobody'],
  ['tenant', () => '#/tenants/acme'],
  ['limits', () => '#/tenants/globex', (page) => page.getByRole('button', { name: 'Set limits…' }).click()],
  [
    'deletion of limits',
    () => '#/tenants/acme',
    (page) => page.getByRole('button', { name: 'Delete limits…' }).click(),
  ],
  ['approvals', () => '#/approvals'],
  [
    'approval with an edited input',
    () => '#/approvals',
    async (page) => {
      await page.getByRole('button', { name: 'Edit input' }).click()
      await page.getByRole('textbox', { name: 'Input as JSON' }).fill('{"usd": }')
      await page.getByText(/Line 1, column/).waitFor()
    },
  ],
  ['approval that is not open', () => '#/approvals?item=01a20000-0000-7000-8000-000000000000.a'],
  ['approvals without results', () => '#/approvals?search=nobody'],
  ['batches', () => '#/batches'],
  [
    'start of a batch',
    () => '#/batches?agent=wait',
    (page) => page.getByRole('button', { name: 'Start a batch…' }).click(),
  ],
  ['batches without results', () => '#/batches?tenantId=nobody'],
  ['batch', () => `#/batches/${batchId}`],
  ['failed lines of a batch', () => `#/batches/${batchId}?status=ERROR`],
  ['schedules', () => '#/schedules'],
  ['schedules of an agent without any', () => '#/schedules?agent=wait'],
  ['schedule', () => '#/agents/import-contacts/schedules/nightly'],
  [
    'change of a schedule',
    () => '#/agents/import-contacts/schedules/nightly',
    (page) => page.getByRole('button', { name: 'Edit…' }).click(),
  ],
  ['audit log', () => '#/audit'],
  [
    'change in the audit log',
    () => '#/audit?action=schedule.put',
    (page) => page.getByRole('link', { name: 'Set schedule' }).first().click(),
  ],
  ['audit log without results', () => '#/audit?actor=nobody&from=2026-01-01T10:00'],
  ['missing run', () => '#/runs/01a20000-0000-7000-8000-000000000000'],
  ['missing page', () => '#/nowhere'],
]

/** Pages are loaded in a wide window, which then becomes as narrow as a tablet. */
const TABLET = { width: 820, height: 1180 }

async function checkWidth(page: Page): Promise<void> {
  expect(await getOverflow(page), 'scrolls sideways').toBeLessThanOrEqual(0)
  expect(await findCutOff(page), 'is cut off').toEqual([])
}

describe.each(WINDOWS)('%s', (_, options) => {
  it('the sign-in page has no violations', async () => {
    const page = await open(`${demo.url}/console`, options)
    await page.getByLabel('API token').waitFor()
    expect(await findViolationsInThemes(page)).toEqual([])
  })

  it.each(PAGES)('has no violations, and nothing moves: %s', async (_name, hashOf, act) => {
    const page = await open(`${demo.url}/console#token=${demo.token}`, options)
    await observeLayoutShift(page)
    await page.goto('about:blank')
    await page.goto(`${demo.url}/console${hashOf(ids)}`)
    await settle(page)
    expect(await getLayoutShift(page)).toBeLessThanOrEqual(MAX_LAYOUT_SHIFT)
    await act?.(page)
    expect(await findViolationsInThemes(page)).toEqual([])
    await checkWidth(page)
    if ('isPhone' in options) return
    await page.setViewportSize(TABLET)
    await checkWidth(page)
    expect(await findViolationsInThemes(page)).toEqual([])
  })
})
