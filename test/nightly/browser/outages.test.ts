import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { failure, plainAnswers } from '../../browser/stub/plain-answers.ts'
import { type Stub, startStub } from '../../browser/stub/start-stub.ts'
import { useBrowser } from '../../browser/support/browser.ts'
import { addressOf, PAGES, type PageRow, STUB_IDS } from '../../browser/support/pages.ts'

/** Polls that fail are repeated less and less often: after 6 s, 12 s, 24 s, 30 s. */
const POLL_TIMEOUT_MS = 50_000

type Content = PageRow[2]

const ROWS = PAGES.map(([name, hash, content]) => [name, addressOf(hash, STUB_IDS), content] as const)

const { openLink } = useBrowser()
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

/** Pages also try again by themselves. */
async function expectRecovery(page: Page, content: Content): Promise<void> {
  await Promise.any([retry(page), content(page).first().waitFor()])
  await content(page).first().waitFor()
  const countAlerts = async () => {
    const [button] = await page.getByRole('alert').getByRole('button', { name: 'Retry' }).all()
    await button?.click({ timeout: 1_000 }).catch(() => undefined)
    return page.getByRole('alert').count()
  }
  await expect.poll(countAlerts, { timeout: POLL_TIMEOUT_MS }).toBe(0)
}

describe('while the service is stopped', () => {
  it.each(ROWS)('a page says so, and Retry works when it is back: %s', async (_, hash, content) => {
    const page = await openLink(`${stub.url}/console#token=x`)
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
    const page = await openLink(`${stub.url}/console#token=x`)
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

describe('while the API responds with 503', () => {
  it.each(ROWS)('a first visit says what to do, and Retry works: %s', async (_, hash, content) => {
    const page = await openLink(`${stub.url}/console#token=x`)
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
    const page = await openLink(`${stub.url}/console#token=x`)
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
