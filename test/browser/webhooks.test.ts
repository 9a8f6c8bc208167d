import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DeliveryRecord, WebhookRecord } from '../../lib/api/schemas/webhook-record.ts'
import { WebhookNotFound } from '../../lib/core/errors.ts'
import type { HttpResponse } from '../../lib/http/event.ts'
import { AGENT_ID, aMe, anAgentRecord, anExecutionRecord } from './stub/records.ts'
import { failure, ok, pageOf, problem } from './stub/responses.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aDelivery, aWebhook, WEBHOOK_ID } from './stub/webhooks.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedText, settle, tabTo } from './support/page.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const { open } = useBrowser()
let stub: Stub
let me: object
let webhooks: WebhookRecord[]
let deliveries: DeliveryRecord[]
let sent: { name: string; id?: string | undefined; body?: unknown }[]
/** Instead of the usual answers to changes. */
let answer: HttpResponse | null
let testResult: object

const findWebhook = ({ pathParameters }: APIGatewayProxyEvent) =>
  webhooks.find(({ id }) => id === pathParameters?.webhookId)

/** A change of what exists, unless the test says what is answered. */
const change =
  (name: string, act: (event: APIGatewayProxyEvent) => HttpResponse) =>
  (event: APIGatewayProxyEvent): HttpResponse => {
    const { webhookId, deliveryId } = event.pathParameters ?? {}
    sent.push({
      name,
      ...((deliveryId ?? webhookId) && { id: deliveryId ?? webhookId }),
      ...(event.body && { body: JSON.parse(event.body) }),
    })
    return answer ?? act(event)
  }

beforeAll(async () => {
  stub = await startStub({
    'get-me': () => ok(me),
    'list-agents': () => ok([anAgentRecord()]),
    'get-usage': () => ok([]),
    'list-executions': () => ok([]),
    'get-execution': () => ok(anExecutionRecord(1)),
    'list-steps': () => ok([]),
    'list-webhooks': () => ok(webhooks),
    'get-webhook': (event) => {
      const found = findWebhook(event)
      return found ? ok(found) : failure(new WebhookNotFound())
    },
    'list-deliveries': (event) => pageOf(deliveries, event),
    'create-webhook': change('create', ({ body }) => {
      const created = aWebhook({ ...JSON.parse(body ?? ''), id: WEBHOOK_ID })
      webhooks = [created, ...webhooks]
      return { status: 201, body: { ...created, secret: SECRET } }
    }),
    'update-webhook': change('update', (event) => {
      const changed = { ...aWebhook(), ...findWebhook(event), ...JSON.parse(event.body ?? '') }
      webhooks = webhooks.map((each) => (each.id === changed.id ? changed : each))
      return ok(changed)
    }),
    'delete-webhook': change('delete', (event) => {
      webhooks = webhooks.filter(({ id }) => id !== event.pathParameters?.webhookId)
      return { status: 204, body: null }
    }),
    'rotate-webhook': change('rotate', () =>
      ok({ id: WEBHOOK_ID, secret: SECRET, previousSecretExpiresAt: '2026-11-27T09:00:00.000Z' }),
    ),
    'test-webhook': change('test', () => ok(testResult)),
    redeliver: change('redeliver', ({ pathParameters }) => {
      const found = deliveries.find(({ id }) => id === pathParameters?.deliveryId)
      if (!found) return failure(new WebhookNotFound())
      const changed: DeliveryRecord = {
        ...found,
        ...{ status: 'DELIVERED', attempts: found.attempts + 1, responseStatus: 204, error: null },
        nextAttemptAt: null,
      }
      deliveries = deliveries.map((each) => (each.id === changed.id ? changed : each))
      return ok(changed)
    }),
  })
})
afterAll(() => stub?.stop())

const FAILED = { status: 'FAILED', responseStatus: 500, error: 'The receiver answered 500.' } as const

beforeEach(() => {
  me = aMe()
  webhooks = [aWebhook()]
  deliveries = [
    aDelivery(1),
    aDelivery(2, { ...FAILED, type: 'execution.failed', attempts: 11 }),
    aDelivery(3, { status: 'PENDING', nextAttemptAt: '2026-11-20T10:00:00.000Z', attempts: 2 }),
  ]
  sent = []
  answer = null
  testResult = { delivered: true, responseStatus: 204, error: null }
})

async function openPage(hash: string): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`)
  await page.goto('about:blank')
  await page.goto(`${stub.url}/console${hash}`)
  await settle(page)
  return page
}

const PAGE = `#/webhooks/${WEBHOOK_ID}`
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name })

describe('the list of webhooks', () => {
  it('has the state of each, and its last success and failure', async () => {
    webhooks = [
      aWebhook({ enabled: false, disabledReason: 'gone' }),
      aWebhook({ id: WEBHOOK_ID.replace(/0$/, '1'), failingSince: '2026-11-20T09:00:00.000Z' }),
    ]
    const page = await openPage('#/webhooks')
    const [disabled, failing] = await page.getByRole('row').filter({ hasText: 'shop.example' }).all()
    await disabled?.getByText('Disabled').waitFor()
    await failing?.getByText('Failing').waitFor()
    expect(await disabled?.locator('time').count()).toBe(2)
  })

  it('says what to do when there are none, and only to tokens that may do it', async () => {
    webhooks = []
    const page = await openPage('#/webhooks')
    await page.getByText('There are no webhooks.').waitFor()
    await button(page, 'Create webhook…').waitFor()
    me = { ...aMe(), scopes: ['read'] }
    const reader = await openPage('#/webhooks')
    await reader.getByText('There are no webhooks.').waitFor()
    await expect.poll(() => button(reader, 'Create webhook…').count()).toBe(0)
  })

  it.each([
    ['of a tenant', { tenantId: 'acme' }],
    ['without the scope read', { scopes: ['run'] }],
  ])('is in the sidebar, except for a token %s', async (_, overrides) => {
    const page = await openPage('#/webhooks')
    await page.getByRole('navigation', { name: 'Pages' }).getByText('Webhooks').waitFor()
    me = { ...aMe(), ...overrides }
    const other = await openPage('#/runs')
    await other
      .getByText(/acme|^run$/)
      .first()
      .waitFor()
    expect(await other.getByRole('navigation', { name: 'Pages' }).getByText('Webhooks').count()).toBe(0)
  })
})

/** Where a page could keep a secret for others to find. */
const KEPT = `[document.title, location.href, JSON.stringify(history.state), ...Object.values({ ...localStorage }),
  ...Object.values({ ...sessionStorage }), document.cookie].join('\\n')`

describe('the last success of a webhook', () => {
  const failed = (count: number) => Array.from({ length: count }, (_, number) => aDelivery(number, FAILED))
  const OLD = '2026-10-01T09:00:00.000Z'
  const row = (page: Page) => page.getByRole('row').filter({ hasText: 'shop.example' })
  const look = (page: Page) => row(page).getByRole('button', { name: /^Look further for the last success/ })

  it('is found however old it is, and the page says how far it has looked', async () => {
    deliveries = [...failed(1_200), aDelivery(2_000, { attemptedAt: OLD })]
    const page = await openPage('#/webhooks')
    await row(page).getByText('None of the newest 50').waitFor()
    await look(page).click()
    await row(page)
      .getByText('None of the newest 1,050')
      .or(row(page).getByText('None of the newest 1,100'))
      .waitFor()
    await look(page).click()
    await row(page).locator(`time[datetime="${OLD}"]`).waitFor()
    expect(await look(page).count()).toBe(0)
  })

  it('does not exist if none of its deliveries has succeeded', async () => {
    deliveries = failed(60)
    const page = await openPage('#/webhooks')
    await look(page).click()
    await look(page).waitFor({ state: 'detached' })
    await row(page).getByRole('cell', { name: '–', exact: true }).waitFor()
  })
})

describe('creating a webhook', () => {
  async function create(page: Page) {
    await button(page, 'Create webhook…').click()
    const form = dialog(page, 'Create a webhook')
    await form.getByLabel('URL').fill('https://shop.example/other')
    await button(page, 'Create webhook').click()
    return dialog(page, 'The secret of the new webhook')
  }

  it('sends what was chosen, and selects the events of runs by itself', async () => {
    const page = await openPage('#/webhooks')
    await button(page, 'Create webhook…').click()
    const form = dialog(page, 'Create a webhook')
    await form.getByLabel('URL').fill('https://shop.example/other')
    await form.getByLabel('Run succeeded').uncheck()
    await form.getByLabel('Batch ended').check()
    await form.getByText('Which runs, and private receivers').click()
    await form.getByLabel('Agents').fill('triage-ticket')
    await form.getByLabel('Tenants').fill('acme\nglobex')
    await form.getByLabel('Schedules').uncheck()
    await button(page, 'Create webhook').click()
    await dialog(page, 'The secret of the new webhook').waitFor()
    expect(sent).toEqual([
      {
        name: 'create',
        body: {
          url: 'https://shop.example/other',
          types: ['execution.failed', 'execution.cancelled', 'execution.waiting', 'batch.ended'],
          agents: [AGENT_ID],
          tenants: ['acme', 'globex'],
          sources: ['API', 'BATCH'],
          allowedHosts: [],
        },
      },
    ])
  })

  it('shows the secret until the user says that it is stored: no key, click or page loses it', async () => {
    const page = await openPage('#/webhooks')
    const shown = await create(page)
    await shown.getByText(SECRET).waitFor()
    // Twice: browsers close a dialog on the second one.
    for (let count = 0; count < 3; count++) await page.keyboard.press('Escape')
    await page.mouse.click(2, 2)
    // Opened again in a task after the one in which the browser has closed it.
    await expect.poll(() => shown.getByText(SECRET).isVisible()).toBe(true)
    expect(await button(page, 'Close').isDisabled()).toBe(true)
    expect(
      await page.evaluate(`!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))`),
      'leaving the page asks',
    ).toBe(true)
    await page.evaluate(`location.hash = '#/runs'`)
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await page.goBack()
    await shown.getByText(SECRET).waitFor()
    expect(await page.evaluate(KEPT)).not.toContain(SECRET.slice(6))
    await shown.getByLabel('I have stored the secret').check()
    await button(page, 'Close').click()
    await shown.waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(SECRET)
    await page.getByRole('link', { name: 'https://shop.example/other' }).waitFor()
  })

  it('forgets the secret when the user signs out', async () => {
    const page = await openPage('#/webhooks')
    await create(page)
    await page.evaluate(
      `[...document.querySelectorAll('.sidebar button')].find((each) => each.textContent === 'Sign out').click()`,
    )
    await page.getByLabel('API token').fill('y')
    await button(page, 'Sign in').click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.evaluate(`location.hash = '#/webhooks'`)
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
    expect(await dialog(page, /secret/).count()).toBe(0)
  })

  it('needs an event, and names the field that the service refuses', async () => {
    const page = await openPage('#/webhooks')
    await button(page, 'Create webhook…').click()
    const form = dialog(page, 'Create a webhook')
    await form.getByLabel('URL').fill('https://localhost/')
    for (const box of await form.getByRole('group', { name: 'Events' }).getByRole('checkbox').all())
      await box.uncheck()
    await button(page, 'Create webhook').click()
    await form.getByText('Choose at least one event.').waitFor()
    expect(sent).toEqual([])
    await form.getByLabel('Run failed').check()
    const message = '/url must not have a private address unless allowedHosts contains "localhost".'
    answer = problem(422, { detail: message, errors: [{ path: '/url', message }] })
    await button(page, 'Create webhook').click()
    await form
      .getByText('“URL” must not have a private address unless “Allowed hosts” contains "localhost".')
      .waitFor()
    answer = null
    await button(page, 'Create webhook').click()
    await dialog(page, 'The secret of the new webhook').waitFor()
  })

  it('sends one request on a double click', async () => {
    const page = await openPage('#/webhooks')
    await button(page, 'Create webhook…').click()
    await dialog(page, 'Create a webhook').getByLabel('URL').fill('https://shop.example/other')
    await button(page, 'Create webhook').dblclick()
    await dialog(page, 'The secret of the new webhook').getByText(SECRET).waitFor()
    expect(sent).toHaveLength(1)
  })

  it('works with the keyboard only', async () => {
    const page = await openPage('#/webhooks')
    await tabTo(page, 'Create webhook…')
    await page.keyboard.press('Enter')
    await dialog(page, 'Create a webhook').waitFor()
    await page.keyboard.type('https://shop.example/keys')
    await page.keyboard.press('Enter')
    const shown = dialog(page, 'The secret of the new webhook')
    await shown.waitFor()
    await tabTo(page, 'I have stored the secret')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shown.waitFor({ state: 'detached' })
    await expect.poll(() => focusedText(page)).toBe('Create webhook…')
  })
})

describe('a webhook', () => {
  it('is named by its host: the rest of a URL can be secret', async () => {
    const page = await openPage(PAGE)
    await page.getByRole('heading', { level: 1, name: 'shop.example' }).waitFor()
    expect(await page.title()).not.toContain('hidden')
  })

  it('offers no changes to a token that may only read', async () => {
    me = { ...aMe(), scopes: ['read'] }
    const page = await openPage(PAGE)
    await page.getByRole('link', { name: 'Run failed' }).waitFor()
    for (const name of ['Edit…', 'Rotate secret…', 'Disable…', 'Delete…', 'Redeliver failed…'])
      await expect.poll(() => button(page, name).count()).toBe(0)
    await page.getByRole('link', { name: 'Run failed' }).click()
    await dialog(page, 'Delivery').waitFor()
    expect(await button(page, 'Redeliver now').count()).toBe(0)
  })

  it('is edited: only what was changed is sent', async () => {
    const page = await openPage(PAGE)
    await button(page, 'Edit…').click()
    const form = dialog(page, 'Edit the webhook')
    await form.getByLabel('Cost limit almost used up').check()
    await button(page, 'Save webhook').click()
    await form.waitFor({ state: 'detached' })
    expect(sent).toEqual([
      { name: 'update', id: WEBHOOK_ID, body: { types: [...aWebhook().types, 'limit.warning'] } },
    ])
    await page.getByText(/Cost limit almost used up/).waitFor()
    await expect.poll(() => focusedText(page)).toBe('Edit…')
  })

  it('is disabled, and enabled again', async () => {
    const page = await openPage(PAGE)
    await button(page, 'Disable…').click()
    await dialog(page, 'Disable this webhook?').getByText('Enable it to undo this.').waitFor()
    await button(page, 'Disable webhook').click()
    await page.getByText('It was disabled by a user.').waitFor()
    await button(page, 'Enable…').click()
    await button(page, 'Enable webhook').click()
    await button(page, 'Disable…').waitFor()
    expect(sent.map(({ body }) => body)).toEqual([{ enabled: false }, { enabled: true }])
  })

  it('gets a new secret, and says how long the previous one is valid', async () => {
    const page = await openPage(PAGE)
    await button(page, 'Rotate secret…').click()
    await dialog(page, 'Rotate the secret?')
      .getByText(/For 24 hours/)
      .waitFor()
    expect(sent).toEqual([])
    await button(page, 'Rotate secret').click()
    const shown = dialog(page, 'The new secret')
    await shown.getByText(SECRET).waitFor()
    await shown.locator('time[datetime="2026-11-27T09:00:00.000Z"]').waitFor()
    expect(await page.evaluate(KEPT)).not.toContain(SECRET.slice(6))
  })

  it('is sent a test event, and shows what came back, also of another one', async () => {
    testResult = { delivered: false, responseStatus: 500, error: 'The receiver answered 500.' }
    const page = await openPage(PAGE)
    await button(page, 'Send test event…').click()
    const shown = dialog(page, 'Send a test event')
    expect(sent).toEqual([])
    await button(page, 'Send test event').click()
    await shown.getByText('The receiver answered 500, which does not accept it.').waitFor()
    testResult = { delivered: true, responseStatus: 202, error: null }
    await button(page, 'Send another').click()
    await shown.getByText('The receiver accepted it with 202.').waitFor()
    testResult = { delivered: false, responseStatus: null, error: 'No address was found.' }
    await button(page, 'Send another').click()
    await shown.getByText('No address was found.').waitFor()
    expect(sent).toHaveLength(3)
  })

  it('is deleted after it was asked, and leads back to the list', async () => {
    const page = await openPage(PAGE)
    await button(page, 'Delete…').click()
    await dialog(page, 'Delete this webhook?').getByText('This cannot be undone').waitFor()
    await button(page, 'Delete webhook').click()
    await page.getByText('There are no webhooks.').waitFor()
    await expect.poll(() => focusedText(page)).toBe('Webhooks')
  })

  it('that somebody else has deleted says so', async () => {
    const page = await openPage(PAGE)
    webhooks = []
    answer = failure(new WebhookNotFound())
    await button(page, 'Disable…').click()
    await button(page, 'Disable webhook').click()
    await page.getByText('It may have been deleted').waitFor()
    const again = await openPage(PAGE)
    await again.getByRole('alert').getByText('It may have been deleted').waitFor()
  })
})

describe('deliveries', () => {
  const rows = (page: Page) => page.getByRole('row').filter({ hasText: /Run (?:succeeded|failed)/ })

  it('have status, attempts, answer and next attempt; the filter is in the URL', async () => {
    const page = await openPage(PAGE)
    await rows(page).nth(2).waitFor()
    const failed = page.getByRole('row').filter({ hasText: 'Run failed' })
    expect(await failed.textContent()).toMatch(/Failed.*11.*500.*The receiver answered 500\./)
    await page.locator('time[datetime="2026-11-20T10:00:00.000Z"]').waitFor()
    await button(page, 'Not delivered').click()
    await expect.poll(() => rows(page).count()).toBe(2)
    await page.reload()
    await expect.poll(() => rows(page).count()).toBe(2)
    expect(page.url()).toContain('show=failed')
  })

  it('one opens by its address, also after a reload, and Back closes it', async () => {
    const page = await openPage(PAGE)
    await page.getByRole('link', { name: 'Run failed' }).click()
    const shown = dialog(page, 'Delivery')
    await shown.getByText('webhook-id: ').waitFor()
    await shown.getByText('Status 500').waitFor()
    await page.reload()
    await shown.waitFor()
    await page.goBack()
    await shown.waitFor({ state: 'detached' })
    await page.goForward()
    await shown.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.url()).not.toContain('delivery=')
    await shown.waitFor({ state: 'detached' })
  })

  it('one that is not among those that are loaded says so', async () => {
    const page = await openPage(`${PAGE}?delivery=evt_x`)
    await dialog(page, 'Delivery').getByText('It is not among the 3 newest deliveries').waitFor()
  })

  it('one is redelivered with the keyboard only', async () => {
    const page = await openPage(PAGE)
    await tabTo(page, 'Run failed')
    await page.keyboard.press('Enter')
    const shown = dialog(page, 'Delivery')
    await shown.waitFor()
    await tabTo(page, 'Redeliver now')
    await page.keyboard.press('Enter')
    await shown.getByText('The receiver accepted it with 204.').waitFor()
    expect(sent).toEqual([{ name: 'redeliver', id: aDelivery(2).id }])
    await page.keyboard.press('Escape')
    await shown.waitFor({ state: 'detached' })
    await page.getByRole('row').filter({ hasText: 'Run failed' }).getByText('Delivered').waitFor()
    await expect.poll(() => focusedText(page)).toBe('Run failed')
  })

  it('those that have failed are redelivered one after the other, with progress', async () => {
    deliveries = Array.from({ length: 120 }, (_, number) => aDelivery(number, number % 4 ? {} : FAILED))
    const page = await openPage(PAGE)
    await button(page, 'Redeliver failed…').click()
    const shown = dialog(page, 'Redeliver what has failed')
    await shown.getByText('30 deliveries have failed for good.').waitFor()
    expect(sent).toEqual([])
    await button(page, 'Redeliver 30').click()
    await shown.getByText('30 of 30 sent: 30 accepted, 0 not. Done.').waitFor()
    expect(new Set(sent.map(({ id }) => id)).size).toBe(30)
    await button(page, 'Close').click()
    await expect.poll(() => focusedText(page)).toBe('Redeliver failed…')
  })

  it('redelivery stops when its dialog is closed', async () => {
    deliveries = Array.from({ length: 60 }, (_, number) => aDelivery(number, FAILED))
    const page = await openPage(PAGE)
    await button(page, 'Redeliver failed…').click()
    await button(page, 'Redeliver 60').click()
    await expect.poll(() => sent.length).toBeGreaterThan(1)
    await button(page, 'Stop and close').click()
    await dialog(page, 'Redeliver what has failed').waitFor({ state: 'detached' })
    const stopped = sent.length
    await page.getByRole('row').filter({ hasText: 'Delivered' }).first().waitFor()
    // The one that was under way.
    expect(sent.length).toBeLessThanOrEqual(stopped + 1)
    expect(sent.length).toBeLessThan(60)
  })

  it('say that nothing was sent yet', async () => {
    deliveries = []
    const page = await openPage(PAGE)
    await page.getByText('Nothing was sent yet.').waitFor()
  })

  it('show what a receiver has answered as text, with hidden characters', async () => {
    deliveries = [aDelivery(1, { ...FAILED, error: 'The receiver answered "<b>a\u202Eb</b>".' })]
    const page = await openPage(PAGE)
    await page.getByText(/The receiver answered "<b>a/).waitFor()
    expect(await page.locator('.delivery-answer b').count()).toBe(0)
    expect(await page.locator('.delivery-answer').textContent()).not.toContain('\u202E')
  })

  it('of URLs that are given with runs have a page of their own', async () => {
    const page = await openPage('#/webhooks')
    await page.getByRole('link', { name: 'URLs that are given with runs' }).click()
    await rows(page).first().waitFor()
    await button(page, 'Rotate secret…').click()
    await button(page, 'Rotate secret').click()
    await dialog(page, 'The new secret').getByText(SECRET).waitFor()
    expect(sent).toEqual([{ name: 'rotate', id: 'default' }])
  })
})
