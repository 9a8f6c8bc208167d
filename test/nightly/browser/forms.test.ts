import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Unauthorized } from '../../../lib/core/request-errors.ts'
import { failure, ok, plainAnswers } from '../../browser/stub/plain-answers.ts'
import { aMe, anAgentRecord, aVersionWithDocument, aWebhook, idOf } from '../../browser/stub/records.ts'
import { type Stub, startStub } from '../../browser/stub/start-stub.ts'
import { loadPage, useBrowser } from '../../browser/support/browser.ts'
import { button, settle } from '../../browser/support/pages.ts'

const { openPage } = useBrowser()
const draft = aVersionWithDocument({ id: idOf(50), status: 'DRAFT' })

let stub: Stub
let rejected: string | null
beforeAll(async () => {
  stub = await startStub({
    ...plainAnswers,
    'get-me': ({ headers }) => {
      const token = (headers.Authorization ?? headers.authorization ?? '').replace('Bearer ', '')
      if (token === rejected) return failure(new Unauthorized())
      return ok({ ...aMe(), ...(token === 'other' && { organizationId: idOf(90) }) })
    },
    'get-agent': () => ok(anAgentRecord({ draftVersionId: draft.id })),
    'get-version': ({ pathParameters }) =>
      ok(pathParameters?.versionId === draft.id ? draft : aVersionWithDocument()),
    'list-versions': () => ok([draft, aVersionWithDocument()]),
    'get-webhook': ({ pathParameters }) => ok(aWebhook({ id: pathParameters?.webhookId ?? '' })),
    'update-webhook': () => ok(aWebhook()),
  })
})
afterAll(() => stub?.stop())
beforeEach(() => {
  rejected = null
})

type Form = [hash: string, opener: string, field: string, text: string]

const WEBHOOK: Form = ['#/webhooks/x', 'Edit…', 'URL', 'https://typed.example/edited']
const SHARE = 'Share of the runs (%)'
const FORMS: Form[] = [
  WEBHOOK,
  ['#/webhooks', 'Create webhook…', 'URL', 'https://typed.example/events'],
  ['#/schedules?agent=triage-ticket', 'Create a schedule…', 'Name', 'typed'],
  ['#/agents/triage-ticket/schedules/nightly', 'Edit…', 'Times (cron)', '0 1 * * *'],
  ['#/agents/triage-ticket', 'Start a rollout…', SHARE, '33'],
  [`#/agents/triage-ticket/versions/${draft.id}`, 'Roll out…', SHARE, '34'],
  ['#/batches?agent=triage-ticket', 'Start a batch…', 'Cost at most (US dollars)', '5'],
  ['#/tenants/acme', 'Change limits…', 'Runs per minute', '77'],
]

const restored = (page: Page) => page.getByText('What you typed here before is restored.')
const fieldOf = (page: Page, name: string) =>
  page.getByRole('dialog').getByLabel(name, { exact: true }).first()

async function type(page: Page, [, opener, field, text]: Form): Promise<void> {
  await button(page, opener).click()
  await fieldOf(page, field).fill(text)
}

/** Whoever signs in now, the form is not open, and begins as it does for somebody who has typed nothing. */
async function expectAfresh(page: Page, [, opener, field, text]: Form): Promise<void> {
  await page.getByText('run, read, manage, review').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await button(page, opener).click()
  expect(await fieldOf(page, field).inputValue()).not.toBe(text)
  expect(await restored(page).count()).toBe(0)
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByText('The service rejected the token').waitFor()
  await page.getByLabel('API token').fill(token)
  await button(page, 'Sign in').click()
  await settle(page)
}

describe('what is typed', () => {
  it.each(FORMS)('at %s, %s is there after a reload, until the form is closed', async (...form) => {
    const page = await openPage(stub, form[0])
    await type(page, form)
    await page.reload()
    await restored(page).waitFor()
    expect(await fieldOf(page, form[2]).inputValue()).toBe(form[3])
    await button(page, 'Close').click()
    await page.reload()
    await settle(page)
    await expectAfresh(page, form)
  })

  it('is gone when it was sent, and is not shown for another subject', async () => {
    const page = await openPage(stub, WEBHOOK[0])
    await type(page, WEBHOOK)
    await loadPage(page, stub.url, `#/webhooks/${idOf(81)}`)
    await expectAfresh(page, WEBHOOK)
    await loadPage(page, stub.url, WEBHOOK[0])
    await restored(page).waitFor()
    await button(page, 'Save webhook').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('typed.example')
  })

  it('is not shown to another organization, and survives a token that is rejected', async () => {
    const page = await openPage(stub, WEBHOOK[0])
    await type(page, WEBHOOK)
    rejected = 'x'
    await page.reload()
    await signIn(page, 'other')
    await expectAfresh(page, WEBHOOK)
    rejected = 'other'
    await page.reload()
    await signIn(page, 'y')
    await restored(page).waitFor()
    expect(await fieldOf(page, 'URL').inputValue()).toBe(WEBHOOK[3])
  })
})
