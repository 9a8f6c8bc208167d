import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import {
  AUDIENCE,
  CLIENT_ID,
  type IdentityProvider,
  startIdentityProvider,
} from '../support/identity/start-identity-provider.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { useBrowser } from './support/browser.ts'

const PEOPLE = { ada: { org: 'acme', name: 'Ada' }, ben: { org: 'unknown' } }
const MAPPING = {
  organization: { claim: 'org', values: { acme: DEVELOPMENT_ORGANIZATION.id } },
  scopes: ['run', 'read', 'manage', 'approve'],
}

const services = temporaryServices()
let idp: IdentityProvider
let console: string
const issuers: string[] = []
const { open } = useBrowser(() => issuers)

beforeAll(async () => {
  idp = await startIdentityProvider(PEOPLE)
  issuers.push(idp.issuer)
  const { url } = await services.start(services.newFolder(), {
    OIDC_ISSUER: idp.issuer,
    OIDC_AUDIENCE: AUDIENCE,
    OIDC_MAPPING: JSON.stringify(MAPPING),
    OIDC_CLIENT_ID: CLIENT_ID,
  })
  console = `${url}/console`
  idp.register(console)
})
afterAll(() => idp?.stop())
beforeEach(() => {
  Object.assign(idp.knobs, { tokenSeconds: 3_600, allowsOrigins: true })
})

const button = (page: Page) => page.getByRole('button', { name: /^Sign in with 127/ })
const overview = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor()
const nameField = (page: Page) => page.getByLabel('Name')

/** Clicks through the provider. */
async function enterAs(page: Page, name: string): Promise<void> {
  await nameField(page).fill(name)
  await page.getByRole('button', { name: 'Continue' }).click()
}

async function signInAs(page: Page, name: string): Promise<void> {
  await button(page).click()
  await enterAs(page, name)
}

/** Everything that outlives the page, and what its user can see of its address. */
const traces = (page: Page): Promise<string> =>
  page.evaluate(`JSON.stringify([
    Object.entries(sessionStorage), Object.entries(localStorage), document.cookie, location.href,
    history.state, navigation.entries().map(({ url }) => url),
  ])`)

describe('sign-in at an identity provider', () => {
  it('takes the code from the address at once, and keeps the token nowhere', async () => {
    const page = await open(`${console}#/runs?status=ERROR`)
    const policy = (await page.request.get(console)).headers()['content-security-policy']
    expect(policy).toContain(`connect-src 'self' ${idp.issuer};`)
    let urlAtExchange = ''
    await page.route(`${idp.issuer}/token`, async (route) => {
      urlAtExchange = page.url()
      await route.continue()
    })
    const response = page.waitForResponse(`${idp.issuer}/token`)
    await signInAs(page, 'ada')
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    await page.getByTitle(DEVELOPMENT_ORGANIZATION.id).waitFor()
    expect([urlAtExchange, page.url()]).toEqual([
      `${console}#/runs?status=ERROR`,
      `${console}#/runs?status=ERROR`,
    ])
    const { access_token: token, id_token: idToken } = await (await response).json()
    const verifier = new URLSearchParams((await response).request().postData() ?? '').get('code_verifier')
    const left = await traces(page)
    for (const secret of [token, idToken, token.split('.')[2], verifier, 'code='])
      expect(left).not.toContain(secret)
    expect(await page.evaluate('Object.values(sessionStorage)')).toEqual(['yes'])
  })

  it('is handed over to further tabs, and ends in all of them', async () => {
    const page = await open(console)
    await signInAs(page, 'ada')
    await overview(page)
    const second = await page.context().newPage()
    await second.goto(console)
    await overview(second)
    expect(await traces(second)).not.toContain('eyJ')
    await second.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, second]) await button(tab).waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    // The provider still knows who was here.
    await button(page).click()
    await nameField(page).waitFor()
  })

  it('expires while somebody types, and returns to what was typed', async () => {
    idp.knobs.tokenSeconds = 4
    const page = await open(`${console}#/agents/redact-pii/try`)
    const response = page.waitForResponse(`${idp.issuer}/token`)
    await signInAs(page, 'ada')
    await page.getByLabel('content').fill('Write to ada@example.com')
    const { access_token: token } = await (await response).json()
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
    await expect.poll(() => Date.now() / 1_000).toBeGreaterThan(exp)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Your sign-in has expired').waitFor()
    idp.knobs.tokenSeconds = 3_600
    expect(await page.evaluate('JSON.stringify(Object.entries(sessionStorage))')).not.toContain('eyJ')
    await button(page).click()
    await page.getByText('What you typed here before is restored').waitFor()
    expect(page.url()).toBe(`${console}#/agents/redact-pii/try`)
    expect(await page.getByLabel('content').inputValue()).toBe('Write to ada@example.com')
  })
})

describe('a response that was not asked for', () => {
  it('signs nobody in, and is not sent on', async () => {
    const query = `error=access_denied&error_description=${encodeURIComponent('Call +1 555 0100')}&state=y`
    const before = idp.requests.length
    const page = await open(`${console}?${query}#/runs`)
    await page.getByText('was not begun in this tab').waitFor()
    expect(page.url()).toBe(`${console}#/runs`)
    expect(await page.getByText('555 0100').count()).toBe(0)
    expect(idp.requests.length).toBe(before)
    await signInAs(page, 'ada')
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  })
})

describe('a provider that fails', () => {
  it('may refuse, and its reason is shown as text', async () => {
    const page = await open(console)
    await button(page).click()
    await page.getByLabel('Reason').fill('<img src=x onerror=alert(1)>')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('refused the sign-in, or you cancelled it').waitFor()
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    expect(await page.locator('.sign-in img').count()).toBe(0)
    expect(page.url()).toBe(`${console}#/`)
    await signInAs(page, 'ada')
    await overview(page)
  })
})

describe('somebody whom the service does not know', () => {
  it('is told why and what to do, and can use another account', async () => {
    const page = await open(console)
    await signInAs(page, 'ben')
    await page.getByText('you have no access to this service').waitFor()
    await page.getByText('The claim "org" gives the token no organization').waitFor()
    expect(await traces(page)).not.toContain('eyJ')
    await page.getByRole('button', { name: 'Use another account' }).click()
    await enterAs(page, 'ada')
    await overview(page)
  })
})

it('without an issuer nothing of it is loaded', async () => {
  const page = await open(`${inject('service')}/console`)
  await page.getByLabel('API token').waitFor()
  expect(await button(page).count()).toBe(0)
  const scripts = await page.evaluate(
    `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js')).length`,
  )
  expect(scripts).toBe(1)
  expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0)
})
