import type { Page } from 'playwright-core'

/** `act` leads from the page at the address to the state. */
export type StateRow = [name: string, hash: string, act?: (page: Page) => Promise<unknown>]

const role = (page: Page, kind: 'button' | 'textbox', name: string | RegExp) =>
  page.getByRole(kind, { name, exact: true }).first()

/** Presses buttons one after the other. */
const press =
  (...names: (string | RegExp)[]) =>
  async (page: Page) => {
    for (const name of names) await role(page, 'button', name).click()
  }

/** States of pages of the demo that its addresses alone do not reach, and lists in which nothing was found. */
export const STATES: StateRow[] = [
  [
    'overview of an hour, as a table',
    '#/?period=1h',
    (page) => page.getByText('Show as a table').first().click(),
  ],
  [
    'search',
    '#/',
    async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Search/ }).fill('order')
      await page.getByRole('option', { name: /Order support/ }).waitFor()
    },
  ],
  ['end of a rollout', '#/agents/redact-pii', press('End rollout…')],
  ['rollout', '#/agents/order-support', press('Start a rollout…')],
  [
    'promotion',
    '#/agents/order-support/versions/{version}',
    async (page) => {
      await press('Promote…')(page)
      await page.getByText(/To undo it/).waitFor()
    },
  ],
  ['missing version', '#/agents/order-support/versions/1'],
  ['try it with JSON', '#/agents/order-support/try?from={run}', press('JSON')],
  ['try it with mistakes', '#/agents/order-support/try', press('Add item to attachments', 'Run')],
  [
    'try it with a result',
    '#/agents/redact-pii/try',
    async (page) => {
      await page.getByLabel('content').fill('Write to ada@example.com.')
      await press('Run')(page)
      await page.getByRole('heading', { name: /^Result.*Success/ }).waitFor()
    },
  ],
  ['comparison of current and draft', '#/agents/order-support', press('Compare')],
  ['runs without results', '#/runs?tenantId=nobody'],
  ['runs that a search has found', '#/runs?errorText=e&from=2026-01-01T10:00'],
  [
    'failed runs that are selected',
    '#/runs?status=ERROR',
    async (page) => {
      await page.getByRole('checkbox', { name: /failed run/ }).check()
      await press('Retry…')(page)
    },
  ],
  ['failed run', '#/runs/{other}'],
  ['step of a run', '#/runs/{run}?step=1'],
  ['call of a run', '#/runs/{run}?step=1.1'],
  ['feedback', '#/runs/{run}', press(/feedback/)],
  ['confirmation', '#/runs/{run}', press('Delete…')],
  ['missing run', '#/runs/01a20000-0000-7000-8000-000000000000'],
  ['choice of runs to compare', '#/compare?a={run}', press('Compare')],
  [
    'form of a webhook',
    '#/webhooks',
    async (page) => {
      await press('Create webhook…')(page)
      await page.getByText('Which runs, and private receivers').click()
    },
  ],
  [
    'secret of a webhook',
    '#/webhooks/default',
    async (page) => {
      await press('Rotate secret…', 'Rotate secret')(page)
      await page.getByLabel('I have stored the secret').waitFor()
    },
  ],
  [
    'delivery',
    '#/webhooks/{webhook}',
    (page) => page.getByRole('link', { name: 'Run failed' }).first().click(),
  ],
  ['redelivery', '#/webhooks/{webhook}', press('Redeliver failed…')],
  ['trial with changed runs', '#/trials/{trial}?verdict=CHANGED'],
  ['report of a trial', '#/trials/{trial}', press('Report…')],
  [
    'form of a token',
    '#/tokens',
    async (page) => {
      await press('Create token…')(page)
      await page.getByRole('dialog').getByText('Limits', { exact: true }).click()
    },
  ],
  [
    'new token',
    '#/tokens',
    async (page) => {
      await press('Create token…')(page)
      await page.getByRole('dialog').getByLabel('Name').fill('ci')
      await press('Create token')(page)
      await page.getByLabel('I have stored the token').waitFor()
    },
  ],
  ['rotation of a token', '#/tokens', press('Rotate…')],
  ['limits', '#/tenants/globex', press('Set limits…')],
  ['deletion of limits', '#/tenants/acme', press('Delete limits…')],
  [
    'approval with an edited input',
    '#/approvals',
    async (page) => {
      await press('Edit input')(page)
      await role(page, 'textbox', 'Input as JSON').fill('{"usd": }')
      await page.getByText(/Line 1, column/).waitFor()
    },
  ],
  ['approval that is not open', '#/approvals?item=01a20000-0000-7000-8000-000000000000.a'],
  ['start of a batch', '#/batches?agent=wait', press('Start a batch…')],
  ['failed lines of a batch', '#/batches/{batch}?status=ERROR'],
  ['change of a schedule', '#/agents/import-contacts/schedules/nightly', press('Edit…')],
  [
    'change in the audit log',
    '#/audit?action=schedule.put',
    (page) => page.getByRole('link', { name: 'Set schedule' }).first().click(),
  ],
  ['audit log without results', '#/audit?actor=nobody&from=2026-01-01T10:00'],
]
