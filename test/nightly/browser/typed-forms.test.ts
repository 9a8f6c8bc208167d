import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ScheduleNotFound, Unauthorized } from '../../../lib/core/errors.ts'
import { AGENT_ID, aMe, anAgentRecord, aVersionWithDocument, idOf } from '../../browser/stub/records.ts'
import { failure, ok } from '../../browser/stub/responses.ts'
import { type Stub, startStub } from '../../browser/stub/start-stub.ts'
import { aLimitsRecord } from '../../browser/stub/usage.ts'
import { aWebhook, WEBHOOK_ID } from '../../browser/stub/webhooks.ts'
import { aBatch, aSchedule } from '../../browser/stub/work.ts'
import { loadPage, useBrowser } from '../../browser/support/browser.ts'
import { button, settle } from '../../browser/support/page.ts'

const browser = useBrowser()
const openPage = (hash: string) => browser.openPage(stub, hash)
const OTHER_AGENT = idOf(80)
const draft = aVersionWithDocument({ id: idOf(50), status: 'DRAFT' })

let stub: Stub
/** Operations that changed something. */
let sent: string[]
let revoked: string | null
let me: (token: string) => object

beforeAll(async () => {
  const sending = (name: string, body: object) => () => {
    sent.push(name)
    return ok(body)
  }
  stub = await startStub({
    'get-me': ({ headers }) => {
      const token = (headers.Authorization ?? headers.authorization ?? '').replace('Bearer ', '')
      return token === revoked ? failure(new Unauthorized()) : ok(me(token))
    },
    'list-agents': () => ok([anAgentRecord()]),
    'get-agent': ({ pathParameters }) =>
      ok(
        pathParameters?.agentId === 'other'
          ? anAgentRecord({ id: OTHER_AGENT, slug: 'other' })
          : anAgentRecord({ draftVersionId: draft.id }),
      ),
    'get-version': ({ pathParameters }) =>
      ok(pathParameters?.versionId === draft.id ? draft : aVersionWithDocument()),
    'list-versions': () => ok([draft, aVersionWithDocument()]),
    'list-agent-executions': () => ok([]),
    'list-trials': () => ok([]),
    'put-rollout': sending('rollout', {}),
    'list-webhooks': () => ok([aWebhook()]),
    'get-webhook': ({ pathParameters }) => ok(aWebhook({ id: pathParameters?.webhookId ?? '' })),
    'list-deliveries': () => ok([]),
    'create-webhook': sending('webhook', { ...aWebhook(), secret: 'whsec_a' }),
    'update-webhook': sending('webhook', aWebhook()),
    'list-schedules': () => ok([aSchedule()]),
    'get-schedule': ({ pathParameters }) =>
      pathParameters?.scheduleName === 'nightly' ? ok(aSchedule()) : failure(new ScheduleNotFound()),
    'put-schedule': sending('schedule', aSchedule()),
    'list-batches': () => ok([]),
    'get-batch': () => ok(aBatch(1)),
    'list-batch-executions': () => ok([]),
    'start-batch': ({ queryStringParameters }) => {
      if (queryStringParameters?.validateOnly) return ok({ lines: 1 })
      sent.push('batch')
      return ok(aBatch(1))
    },
    'get-usage': () => ok([]),
    'get-tenant-limits': ({ pathParameters }) =>
      ok({
        ...aLimitsRecord(pathParameters?.tenantId ?? ''),
        ...{ spentUsd: { day: 1, month: 2 }, openExecutions: 3 },
      }),
    'put-tenant-limits': sending('limits', {}),
    'run-agent': sending('run', {}),
  })
})
afterAll(() => stub?.stop())
beforeEach(() => {
  sent = []
  revoked = null
  me = (token) => ({ ...aMe(), ...(token === 'other' && { organizationId: idOf(90) }) })
})

const show = (page: Page, hash: string) => loadPage(page, stub.url, hash)

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('API token').fill(token)
  await button(page, 'Sign in').click()
  await settle(page)
}

type Form = {
  name: string
  hash: string
  /** The button that opens it; null: it is on the page. */
  opener: string | null
  field: string
  text: string
  /** What else has to be filled in, and the button that sends it. */
  send: (page: Page) => Promise<void>
}

const press = (name: string) => (page: Page) => button(page, name).click()

const FORMS: Form[] = [
  {
    ...{ name: 'a new webhook', hash: '#/webhooks', opener: 'Create webhook…', field: 'URL' },
    text: 'https://typed.example/events',
    async send(page) {
      await button(page, 'Create webhook').click()
      // The secret is shown until it is stored.
      await page.getByRole('checkbox', { name: /stored/ }).check()
      await button(page, 'Close').click()
    },
  },
  {
    ...{ name: 'a webhook', hash: `#/webhooks/${WEBHOOK_ID}`, opener: 'Edit…', field: 'URL' },
    ...{ text: 'https://typed.example/edited', send: press('Save webhook') },
  },
  {
    ...{ name: 'a new schedule', hash: '#/schedules?agent=triage-ticket', opener: 'Create a schedule…' },
    ...{ field: 'Name', text: 'typed', send: press('Create schedule') },
  },
  {
    ...{ name: 'a schedule', hash: `#/agents/${AGENT_ID}/schedules/nightly`, opener: 'Edit…' },
    ...{ field: 'Times (cron)', text: '0 1 * * *', send: press('Save schedule') },
  },
  {
    ...{ name: 'a rollout', hash: '#/agents/triage-ticket', opener: 'Start a rollout…' },
    ...{ field: 'Share of the runs (%)', text: '33', send: press('Start rollout') },
  },
  {
    ...{ name: 'a rollout of a version', hash: `#/agents/triage-ticket/versions/${draft.id}` },
    ...{ opener: 'Roll out…', field: 'Share of the runs (%)', text: '34', send: press('Start rollout') },
  },
  {
    ...{ name: 'a batch', hash: '#/batches?agent=triage-ticket', opener: 'Start a batch…' },
    ...{ field: 'Cost at most (US dollars)', text: '5' },
    async send(page) {
      const file = { name: 'a.ndjson', mimeType: 'application/x-ndjson', buffer: Buffer.from('{"input":{}}') }
      await page.getByLabel('Inputs', { exact: true }).setInputFiles(file)
      await button(page, 'Check').click()
      await button(page, 'Start 1 run').click()
    },
  },
  {
    ...{ name: 'limits', hash: '#/tenants/acme', opener: 'Change limits…' },
    ...{ field: 'Runs per minute', text: '77', send: press('Save limits') },
  },
  {
    ...{ name: 'side by side', hash: `#/agents/triage-ticket/versions/${draft.id}/try`, opener: null },
    ...{ field: 'text required', text: 'typed', send: press('Run both') },
  },
]

const RESTORED = 'What you typed here before is restored.'
const fieldOf = (page: Page, { field }: Form) =>
  page.locator('main').getByLabel(field, { exact: true }).first()

/** Opens the form if it is not open yet. */
async function openForm(page: Page, { opener }: Form): Promise<void> {
  if (opener !== null) await button(page, opener).click()
}

/** The form begins as it does for somebody who has typed nothing. */
async function expectAfresh(page: Page, form: Form): Promise<void> {
  await settle(page)
  // Who asks is known, so that the form would be there.
  await page.getByText('run, read, manage, review').waitFor()
  if (form.opener !== null) expect(await page.getByRole('dialog').count()).toBe(0)
  await openForm(page, form)
  await fieldOf(page, form).waitFor()
  expect(await fieldOf(page, form).inputValue()).not.toBe(form.text)
  expect(await page.getByText(RESTORED).count()).toBe(0)
}

const storedBy = (page: Page): Promise<string> => page.evaluate('JSON.stringify(sessionStorage)')

async function type(page: Page, form: Form): Promise<void> {
  await openForm(page, form)
  await fieldOf(page, form).fill(form.text)
}

describe.each(FORMS.map((form) => [form.name, form] as const))('what is typed: %s', (_, form) => {
  it('is there after a reload, until it is sent', async () => {
    const page = await openPage(form.hash)
    await type(page, form)
    await page.reload()
    await page.getByText(RESTORED).waitFor()
    await expect.poll(() => fieldOf(page, form).inputValue()).toBe(form.text)
    // What the service does not get is still there.
    await page.reload()
    await page.getByText(RESTORED).waitFor()
    await form.send(page)
    await expect.poll(() => sent.length).toBeGreaterThan(0)
    await expect.poll(() => storedBy(page)).not.toContain('forms/')
    await show(page, form.hash)
    await expectAfresh(page, form)
  })

  it('is gone when its user does not want it', async () => {
    const page = await openPage(form.hash)
    await type(page, form)
    await page.reload()
    await page.getByText(RESTORED).waitFor()
    await (form.opener === null ? button(page, 'Start over').click() : button(page, 'Close').click())
    if (form.opener === null) expect(await fieldOf(page, form).inputValue()).not.toBe(form.text)
    await page.reload()
    await expectAfresh(page, form)
  })

  it('is not shown to another organization or tenant, and survives a token that is rejected', async () => {
    const page = await openPage(form.hash)
    await type(page, form)
    revoked = 'x'
    await page.reload()
    await page.getByText('The service rejected the token').waitFor()
    await signIn(page, 'other')
    await expectAfresh(page, form)
    revoked = 'other'
    await page.reload()
    await page.getByText('The service rejected the token').waitFor()
    await signIn(page, 'y')
    await page.getByText(RESTORED).waitFor()
    expect(await fieldOf(page, form).inputValue()).toBe(form.text)
  })
})

describe('what is typed', () => {
  it('is not shown for another agent, webhook or tenant', async () => {
    const page = await openPage('#/agents/triage-ticket')
    for (const { hash, other, ...form } of [
      { ...FORMS[1], other: `#/webhooks/${idOf(81)}` },
      { ...FORMS[4], other: '#/agents/other' },
      { ...FORMS[7], other: '#/tenants/globex' },
    ] as (Form & { other: string })[]) {
      await show(page, hash)
      await type(page, { ...form, hash })
      await show(page, other)
      await expectAfresh(page, { ...form, hash: other })
    }
  })
})
