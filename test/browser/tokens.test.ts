import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MeRecord } from '../../lib/api/schemas/records.ts'
import type { TokenRecord } from '../../lib/api/schemas/token-record.ts'
import type { HttpResponse } from '../../lib/http/event.ts'
import { aMe } from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aToken } from './stub/tokens.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedText, settle, tabTo } from './support/page.ts'

const TEXT = 'aes_pUXEaK2c1ny8ojA0zPmKjCkzI8Wm8v4CtGxPjXH2h5a'
const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

const { open } = useBrowser()
let stub: Stub
let me: MeRecord
let tokens: TokenRecord[]
let sent: { name: string; id?: string; query?: object; body?: Record<string, unknown> }[]
/** Instead of the usual answers. */
let refused: { create?: HttpResponse; revoke?: HttpResponse | undefined }

const problem = (status: number, detail: string): HttpResponse => ({
  status,
  headers: { 'Content-Type': 'application/problem+json' },
  body: { type: 'about:blank', title: 'Refused', status, detail, instance: 'request-1', code: 'X' },
})

function revoke({ pathParameters, queryStringParameters }: APIGatewayProxyEvent): HttpResponse {
  const id = pathParameters?.tokenId ?? ''
  sent.push({ name: 'revoke', id, query: { ...queryStringParameters } })
  if (refused.revoke) return refused.revoke
  const { afterSeconds } = queryStringParameters ?? {}
  const end = new Date(Date.now() + Number(afterSeconds ?? 0) * 1_000).toISOString()
  tokens = tokens.map((token) =>
    token.id === id ? { ...token, ...(afterSeconds ? { expiresAt: end } : { revokedAt: end }) } : token,
  )
  return { status: 200, body: tokens.find((token) => token.id === id) }
}

beforeAll(async () => {
  stub = await startStub({
    'get-me': () => ({ status: 200, body: me }),
    'list-agents': () => ({ status: 200, body: [] }),
    'list-executions': () => ({ status: 200, body: [] }),
    'get-usage': () => ({ status: 200, body: [] }),
    'list-tokens': ({ queryStringParameters }) => {
      const start = Number(queryStringParameters?.cursor ?? 0)
      const limit = Number(queryStringParameters?.limit ?? 50)
      const headers = { Link: `</v1/tokens?limit=${limit}&cursor=${start + limit}>; rel="next"` }
      const body = tokens.slice(start, start + limit)
      return { status: 200, body, ...(start + limit < tokens.length && { headers }) }
    },
    'create-token': ({ body }) => {
      const given = JSON.parse(body ?? '')
      sent.push({ name: 'create', body: given })
      if (refused.create) return refused.create
      const made = aToken(500, { agents: null, tenantId: null, rate: null, ...given })
      tokens = [made, ...tokens]
      return { status: 201, body: { ...made, token: TEXT } }
    },
    'revoke-token': revoke,
  })
})
afterAll(() => stub?.stop())

beforeEach(() => {
  me = { ...aMe(), scopes: ['run', 'read', 'manage'], limits: null }
  tokens = [
    aToken(1, { name: 'ci', expiresAt: inDays(80), lastUsedAt: '2026-11-20T09:00:00.000Z' }),
    aToken(2, { agents: ['a', 'b', 'c'], tenantId: 'acme', rate: 10, expiresAt: inDays(2) }),
    aToken(3, { revokedAt: '2026-11-21T09:00:00.000Z' }),
    aToken(4, { expiresAt: '2026-11-22T09:00:00.000Z' }),
    aToken(5, { scopes: ['run', 'approve'] }),
  ]
  sent = []
  refused = {}
})

async function openPage(hash = '#/tokens', options: { isPhone?: boolean } = {}): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`, options)
  await page.goto('about:blank')
  await page.goto(`${stub.url}/console${hash}`)
  await settle(page)
  return page
}

const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name })
const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })
const names = (page: Page) => page.locator('.token-row th > bdi').allTextContents()

/** Where a page could keep a token for others to find. */
const KEPT = `[document.title, location.href, JSON.stringify(history.state), ...Object.values({ ...localStorage }),
  ...Object.values({ ...sessionStorage }), document.cookie].join('\\n')`

describe('the list of tokens', () => {
  it('has those that are valid, with what they may do, and all on request', async () => {
    const page = await openPage()
    expect(await names(page)).toEqual(['ci', 'token 2', 'token 5'])
    expect(await row(page, 'ci').textContent()).toMatch(/aes_kMBi….*Valid.*until.*run, read.*none/)
    expect(await row(page, 'token 2').textContent()).toMatch(/Ends soon.*3 agents.*tenant.*acme.*10 requests/)
    expect(await row(page, 'token 5').textContent()).toMatch(/never expires.*never/)
    await button(page, 'All').click()
    await row(page, 'token 3').getByText('Revoked').waitFor()
    await row(page, 'token 4').getByText('Expired').waitFor()
    expect(await row(page, 'token 3').getByRole('button').count()).toBe(0)
    expect(page.url()).toMatch(/#\/tokens\?show=all$/)
    await page.reload()
    await row(page, 'token 3').waitFor()
  })

  it('says when there are none, and what tokens are for', async () => {
    tokens = [aToken(3, { revokedAt: inDays(-1) })]
    const page = await openPage()
    await page.getByText(/There are no valid tokens that yours may see/).waitFor()
    tokens = []
    await button(page, 'All').click()
    await page.getByText(/There are no tokens that yours may see/).waitFor()
  })

  it('has 1,000 tokens page by page, also if a page has none that is valid', async () => {
    tokens = Array.from({ length: 1_000 }, (_, i) => aToken(i, i < 120 ? { revokedAt: inDays(-1) } : {}))
    const page = await openPage()
    await row(page, 'token 120').waitFor()
    const first = (await names(page)).length
    expect(first).toBe(30)
    await button(page, 'Load more').click()
    await expect.poll(async () => (await names(page)).length).toBe(first + 50)
  })

  it('shows an error, and loads again', async () => {
    const page = await openPage()
    await page.route('**/v1/tokens?*', (route) => route.abort())
    await button(page, 'All').click()
    await page.getByText('The service does not respond.').waitFor()
    await page.unroute('**/v1/tokens?*')
    await button(page, 'Retry').click()
    await row(page, 'token 3').waitFor()
  })

  it('needs the scope manage, without which nothing leads to it', async () => {
    me.scopes = ['run', 'read']
    const page = await openPage()
    await page.getByText(/This page needs a token with the scope/).waitFor()
    expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0)
    expect(await button(page, 'Create token…').count()).toBe(0)
  })

  it.each([390, 820])('fits a screen of %i pixels: only the table scrolls sideways', async (width) => {
    tokens = [aToken(1, { name: 'x'.repeat(100), agents: ['a'.repeat(64)], tenantId: 't'.repeat(128) })]
    const page = await openPage('#/tokens', { isPhone: width === 390 })
    await page.setViewportSize({ width, height: 844 })
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0)
    await button(page, 'Create token…').click()
    await page.getByText('Limits', { exact: true }).last().click()
    expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0)
  })
})

describe('creating a token', () => {
  async function create(page: Page) {
    await button(page, 'Create token…').click()
    await dialog(page, 'Create a token').getByLabel('Name').fill('deploy')
    await button(page, 'Create token').click()
    return dialog(page, 'The new token')
  }

  it('sends what was chosen', async () => {
    const page = await openPage()
    await button(page, 'Create token…').click()
    const form = dialog(page, 'Create a token')
    await form.getByLabel('Name').fill(' deploy ')
    await form.getByLabel(/^manage/).check()
    await form.getByLabel(/^run/).uncheck()
    await form.getByLabel('Days until it expires').fill('30')
    await form.getByText('Limits', { exact: true }).click()
    await form.getByLabel('Agents').fill('echo, counted\nthird')
    await form.getByLabel('Tenant').fill('acme')
    await form.getByLabel('Requests per second').fill('7')
    await button(page, 'Create token').click()
    await dialog(page, 'The new token').waitFor()
    const body = sent[0]?.body ?? {}
    expect(body).toEqual({
      ...{ name: 'deploy', scopes: ['read', 'manage'], agents: ['echo', 'counted', 'third'] },
      ...{ tenantId: 'acme', rate: 7, expiresAt: expect.any(String) },
    })
    expect(Math.round((Date.parse(String(body.expiresAt)) - Date.now()) / DAY_MS)).toBe(30)
  })

  it('sends the scopes run and read, 90 days and no limits by itself, and no end for an empty field', async () => {
    const page = await openPage()
    await create(page)
    await dialog(page, 'The new token').getByLabel('I have stored the token').check()
    await button(page, 'Close').click()
    await button(page, 'Create token…').click()
    const form = dialog(page, 'Create a token')
    await form.getByLabel('Name').fill('forever')
    await form.getByLabel('Days until it expires').fill('')
    await button(page, 'Create token').click()
    await dialog(page, 'The new token').getByText('never expires').waitFor()
    expect(sent.map(({ body }) => body)).toEqual([
      { name: 'deploy', scopes: ['run', 'read'], expiresAt: expect.stringMatching(/^20/) },
      { name: 'forever', scopes: ['run', 'read'], expiresAt: null },
    ])
  })

  it('shows the token until the user says that it is stored: no key, click or page loses it', async () => {
    const page = await openPage()
    const shown = await create(page)
    await shown.getByText(TEXT).waitFor()
    for (let count = 0; count < 3; count++) await page.keyboard.press('Escape')
    await page.mouse.click(2, 2)
    expect(await button(page, 'Close').isDisabled()).toBe(true)
    expect(
      await page.evaluate(`!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))`),
      'leaving the page asks',
    ).toBe(true)
    await page.evaluate(`location.hash = '#/runs'`)
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await page.goBack()
    await shown.getByText(TEXT).waitFor()
    expect(await page.evaluate(KEPT)).not.toContain(TEXT.slice(4))
    await shown.getByLabel('I have stored the token').check()
    await button(page, 'Close').click()
    await shown.waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain(TEXT)
    await row(page, 'deploy').waitFor()
  })

  it('copies the token', async () => {
    const page = await openPage()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const shown = await create(page)
    await shown.getByRole('button', { name: 'Copy the token' }).click()
    await shown.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(TEXT)
  })

  it('forgets the token when the user signs out', async () => {
    const page = await openPage()
    await (await create(page)).waitFor()
    await page.evaluate(
      `[...document.querySelectorAll('.sidebar button')].find((each) => each.textContent === 'Sign out').click()`,
    )
    await page.getByLabel('API token').fill('y')
    await button(page, 'Sign in').click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.evaluate(`location.hash = '#/tokens'`)
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor()
    expect(await dialog(page, /token/).count()).toBe(0)
    expect(await page.content()).not.toContain(TEXT)
  })

  it('offers only what the token that is signed in may grant', async () => {
    me = { ...me, scopes: ['read', 'manage'], agents: ['echo', 'counted'], tenantId: 'acme', rate: 20 }
    const page = await openPage()
    await button(page, 'Create token…').click()
    const form = dialog(page, 'Create a token')
    expect(await form.getByRole('checkbox').count()).toBe(2)
    expect(await form.getByLabel('Tenant').getAttribute('readonly')).not.toBeNull()
    expect(await form.getByLabel('Requests per second').getAttribute('max')).toBe('20')
    await form.getByLabel('Name').fill('less')
    await form.getByLabel('Agents').fill('echo')
    await button(page, 'Create token').click()
    await dialog(page, 'The new token').waitFor()
    expect(sent[0]?.body).toMatchObject({ scopes: ['read'], agents: ['echo'], tenantId: 'acme', rate: 20 })
  })

  it('lets a person who signed in choose at most 366 days, also for the new token of one without an end', async () => {
    me = { ...me, subject: 'auth0|1' }
    tokens = [aToken(1)]
    const page = await openPage()
    const days = page.getByLabel('Days until it expires')
    await button(page, 'Create token…').click()
    expect(await days.inputValue()).toBe('90')
    await days.fill('367')
    const invalid = page.locator('[name=days]:invalid')
    expect(await invalid.count()).toBe(1)
    await days.fill('')
    expect(await invalid.count()).toBe(1)
    await page.getByText('At most 366').waitFor()
    await page.keyboard.press('Escape')
    await row(page, 'token 1').getByRole('button', { name: 'Rotate…' }).click()
    expect(await days.inputValue()).toBe('366')
  })

  it('asks for a scope, and shows what the service refuses with what was typed', async () => {
    const page = await openPage()
    await button(page, 'Create token…').click()
    const form = dialog(page, 'Create a token')
    await form.getByLabel('Name').fill('deploy')
    for (const scope of [/^run/, /^read/]) await form.getByLabel(scope).uncheck()
    await button(page, 'Create token').click()
    await form.getByText('Choose at least one scope.').waitFor()
    expect(sent).toEqual([])
    await form.getByLabel(/^read/).check()
    refused.create = problem(403, '/expiresAt must be at most 2026-11-27T09:00:00.000Z.')
    await button(page, 'Create token').click()
    await form.getByText('“Days until it expires” must be at most').waitFor()
    expect(await form.getByLabel('Name').inputValue()).toBe('deploy')
  })

  it('works with the keyboard only', async () => {
    const page = await openPage()
    await tabTo(page, 'Create token…')
    await page.keyboard.press('Enter')
    await dialog(page, 'Create a token').waitFor()
    await page.keyboard.type('keys')
    await page.keyboard.press('Enter')
    const shown = dialog(page, 'The new token')
    await shown.waitFor()
    await tabTo(page, 'I have stored the token')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shown.waitFor({ state: 'detached' })
    await expect.poll(() => focusedText(page)).toBe('Create token…')
  })
})

describe('rotating a token', () => {
  async function rotate(page: Page, name: string, overlap?: string) {
    await row(page, name).getByRole('button', { name: 'Rotate…' }).click()
    if (overlap)
      await dialog(page, 'Rotate this token?').getByLabel('Overlap').selectOption({ label: overlap })
    await button(page, 'Rotate token').click()
    return dialog(page, 'The new token')
  }

  it('makes a token that may do the same, ends the old one after the overlap, and shows both ends', async () => {
    const page = await openPage()
    const shown = await rotate(page, 'token 2', '1 hour')
    await shown.getByText(TEXT).waitFor()
    await shown.getByText(/The new token is valid until/).waitFor()
    await shown.getByText(/The old token is valid until/).waitFor()
    const { name, scopes, agents, tenantId, rate } = tokens[2] ?? aToken(0)
    expect(sent).toEqual([
      { name: 'create', body: { name, scopes, agents, tenantId, rate, expiresAt: expect.any(String) } },
      { name: 'revoke', id: aToken(2).id, query: { afterSeconds: '3600' } },
    ])
    await shown.getByLabel('I have stored the token').check()
    await button(page, 'Close').click()
    await expect.poll(() => row(page, 'token 2').count()).toBe(2)
  })

  it('keeps a token without an end without one, and revokes the old one without an overlap', async () => {
    tokens = [aToken(1)]
    const page = await openPage()
    const shown = await rotate(page, 'token 1', 'none: it is revoked at once')
    await shown.getByText('The new token never expires.').waitFor()
    await shown.getByText(/The old token was revoked at/).waitFor()
    expect(sent).toMatchObject([{ body: { expiresAt: null } }, { query: {} }])
  })

  it('says that the old one has no new end if that fails, and repeats only that', async () => {
    refused.revoke = problem(503, 'A service that this request depends on did not respond.')
    const page = await openPage()
    const shown = await rotate(page, 'ci')
    await shown.getByText('The old token could not be ended.').waitFor()
    await shown.getByText(TEXT).waitFor()
    refused.revoke = undefined
    await shown.getByRole('button', { name: 'Retry' }).click()
    await shown.getByText(/The old token is valid until/).waitFor()
    expect(sent.map(({ name }) => name)).toEqual(['create', 'revoke', 'revoke'])
  })

  it('is offered only for tokens that the one that is signed in could create', async () => {
    me.rate = 5
    tokens = [
      aToken(1, { rate: 5 }),
      aToken(2, { rate: 6 }),
      aToken(3),
      aToken(5, { rate: 1, scopes: ['approve'] }),
    ]
    const page = await openPage()
    const offered = await page.getByRole('row').filter({ hasText: 'Rotate…' }).allTextContents()
    expect(offered).toEqual([expect.stringContaining('token 1')])
    expect(await button(page, 'Revoke…').count()).toBe(4)
  })

  it('of the token that is signed in needs an overlap', async () => {
    tokens = [aToken(1, { id: me.tokenId, scopes: ['manage'] })]
    const page = await openPage()
    await row(page, 'token 1').getByText('this session').waitFor()
    await row(page, 'token 1').getByRole('button', { name: 'Rotate…' }).click()
    const form = dialog(page, 'Rotate this token?')
    expect(await form.getByRole('option').allTextContents()).toEqual([
      '1 hour',
      '24 hours',
      '7 days',
      '30 days',
    ])
    await form.getByText(/sign in with the new one before it ends/).waitFor()
  })
})

describe('revoking a token', () => {
  it('asks first, and shows the end', async () => {
    const page = await openPage()
    await row(page, 'ci').getByRole('button', { name: 'Revoke…' }).click()
    await button(page, 'Keep token').click()
    expect(sent).toEqual([])
    await row(page, 'ci').getByRole('button', { name: 'Revoke…' }).click()
    await dialog(page, 'Revoke this token?')
      .getByText(/This cannot be undone/)
      .waitFor()
    await button(page, 'Revoke token').click()
    await row(page, 'ci').getByText('Revoked').waitFor()
    expect(sent).toEqual([{ name: 'revoke', id: aToken(1).id, query: {} }])
    expect(await row(page, 'ci').getByRole('button').count()).toBe(0)
  })

  it('says that it signs out if it is the token that is signed in', async () => {
    tokens = [aToken(1, { id: me.tokenId })]
    const page = await openPage()
    await row(page, 'token 1').getByRole('button', { name: 'Revoke…' }).click()
    await dialog(page, 'Revoke this token?')
      .getByText(/you will be signed out/)
      .waitFor()
  })
})
