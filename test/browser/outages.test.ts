import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Unavailable } from '../../lib/core/errors.ts'
import { TRIAL_ID } from '../support/a-trial.ts'
import { plainAnswers } from './stub/plain-answers.ts'
import { AGENT_ID, idOf, VERSION_ID } from './stub/records.ts'
import { failure } from './stub/responses.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aBatch } from './stub/work.ts'
import { useBrowser } from './support/browser.ts'

/** Polls that fail are repeated less and less often: after 6 s, 12 s, 24 s, 30 s. */
const POLL_TIMEOUT_MS = 50_000

type Content = (page: Page) => Locator

/** What a page shows when its data has been loaded. */
const PAGES: [string, string, Content][] = [
  ['overview', '#/', (page) => page.getByRole('heading', { name: 'Runs over time' })],
  ['agents', '#/agents', (page) => page.getByRole('link', { name: 'Triage ticket', exact: true })],
  ['agent', `#/agents/${AGENT_ID}`, (page) => page.getByRole('heading', { name: 'Triage ticket' })],
  [
    'comparison',
    `#/agents/${AGENT_ID}/compare?before=1&after=2`,
    (page) => page.getByText('The versions do not differ.'),
  ],
  [
    'version',
    `#/agents/${AGENT_ID}/versions/${VERSION_ID}`,
    (page) => page.getByRole('heading', { name: 'Instructions' }),
  ],
  [
    'version beside the current one',
    `#/agents/${AGENT_ID}/versions/${VERSION_ID}/try`,
    (page) => page.getByText('This version has become current'),
  ],
  ['try it', `#/agents/${AGENT_ID}/try`, (page) => page.getByRole('button', { name: 'Run', exact: true })],
  ['runs', '#/runs', (page) => page.getByText(/^1 run/)],
  ['run', `#/runs/${idOf(1_000_000)}`, (page) => page.getByRole('treeitem', { name: /^1\. Model/ })],
  ['approvals', '#/approvals', (page) => page.getByRole('heading', { name: 'Refund 1?' })],
  ['batches', '#/batches', (page) => page.getByText('1 batch', { exact: true })],
  ['batch', `#/batches/${aBatch(1).id}`, (page) => page.getByText('10 of 10 ended')],
  ['schedules', '#/schedules', (page) => page.getByRole('link', { name: 'nightly' })],
  [
    'schedule',
    `#/agents/${AGENT_ID}/schedules/nightly`,
    (page) => page.getByRole('table', { name: 'Next runs' }),
  ],
  [
    'comparison of runs',
    `#/compare?a=${idOf(1)}&b=${idOf(2)}`,
    (page) => page.getByText('The results are the same.'),
  ],
  ['webhooks', '#/webhooks', (page) => page.getByRole('link', { name: /shop\.example/ })],
  ['webhook', '#/webhooks/x', (page) => page.getByRole('link', { name: 'Run succeeded' })],
  ['trials', '#/trials', (page) => page.getByText('1 of 1')],
  ['trial', `#/trials/${TRIAL_ID}`, (page) => page.getByRole('heading', { name: 'Gate' })],
  [
    'start of a trial',
    '#/trials/new?agent=triage-ticket',
    (page) => page.getByRole('button', { name: 'Start trial' }),
  ],
  ['tokens', '#/tokens', (page) => page.getByRole('rowheader', { name: 'token 1' })],
  ['rollouts', '#/rollouts', (page) => page.getByText('No agent has a rollout.')],
  ['tenants', '#/tenants', (page) => page.getByRole('link', { name: 'acme' })],
  ['tenant', '#/tenants/acme', (page) => page.getByRole('heading', { name: 'Runs over time' })],
  ['audit log', '#/audit', (page) => page.getByRole('link', { name: 'Set limits' })],
]

const { open } = useBrowser()
let stub: Stub
let isUnavailable = false
const failing = Object.fromEntries(
  Object.entries(plainAnswers).map(([name, answer]) => [
    name,
    (event: Parameters<typeof answer>[0]) => {
      return isUnavailable ? failure(new Unavailable(null)) : answer(event)
    },
  ]),
)

beforeAll(async () => {
  stub = await startStub(failing)
})
afterAll(() => stub?.stop())

/** Some pages have several parts that load data. The first one of the overview also tries again by itself. */
const lastAlert = (page: Page) => page.getByRole('alert').last()
const retry = (page: Page) => lastAlert(page).getByRole('button', { name: 'Retry' }).click()

async function expectRecovery(page: Page, content: Content): Promise<void> {
  await retry(page)
  await content(page).first().waitFor()
  const countAlerts = async () => {
    const [button] = await page.getByRole('alert').getByRole('button', { name: 'Retry' }).all()
    await button?.click({ timeout: 1_000 }).catch(() => undefined)
    return page.getByRole('alert').count()
  }
  await expect.poll(countAlerts, { timeout: POLL_TIMEOUT_MS }).toBe(0)
}

describe('while the service is stopped', () => {
  it.each(PAGES)('a page says so, and Retry works when it is back: %s', async (_, hash, content) => {
    const page = await open(`${stub.url}/console#token=x`)
    await page.getByRole('heading', { name: 'Runs over time' }).waitFor()
    if (hash === '#/') await page.evaluate(`location.hash = '#/nowhere'`)
    const start = await stub.interrupt()
    try {
      await page.evaluate(`location.hash = '${hash}'`)
      const alert = lastAlert(page)
      await alert.getByText('The service does not respond.').waitFor()
      await alert.getByText('Check that it is running').waitFor()
      // The overview also asks for runs in progress by itself.
      const hasFailed = page.waitForEvent(
        'requestfailed',
        (request) => !request.url().includes('IN_PROGRESS'),
      )
      await retry(page)
      await hasFailed
      await alert.getByText('The service does not respond.').waitFor()
    } finally {
      await start()
    }
    await expectRecovery(page, content)
  })

  it('the list of runs stays, and is updated again when it is back', async () => {
    const page = await open(`${stub.url}/console#token=x`)
    await page.goto(`${stub.url}/console#/runs`)
    await page.getByText(/^1 run/).waitFor()
    const start = await stub.interrupt()
    const note = page.getByText('Updates are interrupted: the service does not respond.')
    try {
      await note.waitFor()
      expect(await page.getByRole('link', { name: /^01/ }).count()).toBe(1)
    } finally {
      await start()
    }
    await note.waitFor({ state: 'detached', timeout: POLL_TIMEOUT_MS })
  })
})

it('after an update of the service, a page whose script is gone says to reload', async () => {
  const page = await open(`${stub.url}/console#token=x`)
  await page.getByRole('heading', { name: 'Runs over time' }).waitFor()
  await page.route('**/console/*.js', (route) => route.fulfill({ status: 404 }))
  await page.evaluate(`location.hash = '#/tenants'`)
  await lastAlert(page).getByText('The service has been updated.').waitFor()
  await lastAlert(page)
    .getByText(/reload the page/)
    .waitFor()
  await page.unroute('**/console/*.js')
  await retry(page)
  await page.getByRole('link', { name: 'acme' }).waitFor()
})

describe('while the API responds with 503', () => {
  it.each(PAGES)('a first visit says what to do, and Retry works: %s', async (_, hash, content) => {
    const page = await open(`${stub.url}/console#token=x`)
    isUnavailable = true
    try {
      await page.goto('about:blank')
      await page.goto(`${stub.url}/console${hash}`)
      const alert = lastAlert(page)
      await alert.getByText('A service that this request depends on did not respond.').waitFor()
      await alert.getByText(/Try again in \d+ s\./).waitFor()
    } finally {
      isUnavailable = false
    }
    await expectRecovery(page, content)
  })

  it('the scopes of the token are shown with the next page', async () => {
    const page = await open(`${stub.url}/console#token=x`)
    isUnavailable = true
    try {
      await page.goto('about:blank')
      await page.goto(`${stub.url}/console#/runs`)
      await lastAlert(page).waitFor()
    } finally {
      isUnavailable = false
    }
    expect(await page.getByText('run, read, manage').count()).toBe(0)
    await page.evaluate(`location.hash = '#/agents'`)
    await page.getByText('run, read, manage').waitFor()
  })
})
