import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { useBrowser } from './support/browser.ts'

const { open } = useBrowser()
const console = `${inject('service')}/console`

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
})

describe('signing in', () => {
  it('works with a pasted token, which stays until all tabs are closed', async () => {
    const page = await open(console)
    await page.getByLabel('API token').fill(org.token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText(org.id.slice(0, 8)).waitFor()
    expect(await page.evaluate('Object.values(sessionStorage)')).toEqual([org.token])
    expect(await page.evaluate('localStorage.length + document.cookie.length')).toBe(0)
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const context = page.context()
    const lasting = await context.newPage()
    await page.close()
    await lasting.goto(console)
    await lasting.getByLabel('API token').waitFor()
  })

  it('works with a link, and removes the token from the URL and the history', async () => {
    const page = await open(`${console}#token=${org.token}`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(page.url()).not.toContain(org.token)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    await page.goBack()
    expect(page.url()).not.toContain(org.token)
  })

  it('works with a link, also if the page is loaded again while it looks for other tabs', async () => {
    const page = await open(`${console}#nothing`)
    await page
      .context()
      .addInitScript('if (navigator.locks) navigator.locks.query = () => new Promise(() => {})')
    await page.goto('about:blank')
    await page.goto(`${console}#token=${org.token}`)
    expect(await page.locator('h1').count(), 'it is looking').toBe(0)
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await page.evaluate('Object.values(sessionStorage)')).toEqual([org.token])
  })

  it('says that a token is wrong, and lets one try again', async () => {
    const page = await open(console)
    await page.getByLabel('API token').fill('aes_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The service does not know this token').waitFor()
    await page.getByLabel('API token').fill(org.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  it('is asked for again when the token of a link is wrong', async () => {
    const page = await open(`${console}#token=wrong`)
    await page.getByText('The service rejected the token').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })

  it('with a link asks before it replaces a token, and Escape keeps that', async () => {
    const other = await newOrganization()
    const page = await open(`${console}#token=${org.token}`)
    const overview = page.getByRole('heading', { name: 'Overview' })
    await overview.waitFor()
    const kept = () => page.evaluate('Object.values(sessionStorage)')
    const dialog = page.getByRole('dialog', { name: 'Sign in with another token?' })
    for (const keep of [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Keep my token' }).click(),
    ]) {
      await page.evaluate(`location.hash = '#token=${other.token}'`)
      await dialog.waitFor()
      expect(page.url()).not.toContain(other.token)
      expect(await dialog.textContent()).not.toContain(other.token)
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Keep my token')
      await keep()
      await dialog.waitFor({ state: 'detached' })
      expect(await kept()).toEqual([org.token])
      await page.getByText(org.id.slice(0, 8)).waitFor()
    }
    // Also when the page is loaded with the link.
    await page.goto(`${console}?again#token=${other.token}`)
    await dialog.getByRole('button', { name: 'Use the token of the link' }).click()
    await page.getByText(other.id.slice(0, 8)).waitFor()
    expect(await kept()).toEqual([other.token])
  })

  it('with a link to the token in use asks nothing', async () => {
    const page = await open(`${console}#token=${org.token}`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.evaluate(`location.hash = '#token=${org.token}'`)
    await page.waitForFunction(`!location.hash.includes('token')`)
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('ends with "Sign out", which forgets the token', async () => {
    const page = await open(`${console}#token=${org.token}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API token').waitFor()
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })

  it('says what a token may not do', async () => {
    const limited = await newOrganization()
    const page = await open(`${console}#token=${limited.token}`)
    await page.getByText('run, read, manage').waitFor()
  })
})

/** Another tab of the same browser. */
async function openTab(page: Page, url = console): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(url)
  return tab
}

const overview = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor()
const signInPage = (page: Page) => page.getByLabel('API token').waitFor()
const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' }).click()
/** Tokens; not the hashes of those that were signed out. */
const stored = (page: Page) =>
  page.evaluate(`({
    tab: Object.values(sessionStorage),
    device: Object.entries(localStorage).flatMap(([key, value]) => (key.endsWith(' signed-out') ? [] : [value])),
  })`)

/** Of an identity provider: the service of this test knows none, so that its answer is the test's. */
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

describe('further tabs', () => {
  it('are signed in without asking, also by Ctrl-click', async () => {
    const page = await open(`${console}#token=${org.token}`)
    await overview(page)
    const second = await openTab(page, `${console}#/runs`)
    await second.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Agents' })
    const [third] = await Promise.all([
      page.context().waitForEvent('page'),
      link.click({ modifiers: ['ControlOrMeta'] }),
    ])
    await third.getByRole('heading', { name: 'Agents', exact: true }).waitFor()
    await third.getByText(org.id.slice(0, 8)).waitFor()
    expect(await stored(third)).toEqual({ tab: [org.token], device: [] })
  })

  it('are signed out together, and ask again', async () => {
    const page = await open(`${console}#token=${org.token}`)
    await overview(page)
    const second = await openTab(page)
    await overview(second)
    await signOut(page)
    await signInPage(page)
    await signInPage(second)
    expect(await stored(second)).toEqual({ tab: [], device: [] })
    await signInPage(await openTab(page))
  })

  it('are signed out also when they show another page', async () => {
    const page = await open(`${console}#token=${org.token}`)
    await overview(page)
    const second = await openTab(page)
    await overview(second)
    await second.getByRole('link', { name: 'Documentation', exact: true }).click()
    await second.waitForURL(/docs\.html/)
    await signOut(page)
    await signInPage(page)
    await second.goBack()
    await signInPage(second)
  })

  it('with another token stay signed in', async () => {
    const other = await newOrganization()
    const page = await open(`${console}#token=${org.token}`)
    await overview(page)
    const second = await openTab(page)
    await overview(second)
    await second.evaluate(`location.hash = '#token=${other.token}'`)
    await second.getByRole('button', { name: 'Use the token of the link' }).click()
    await second.getByText(other.id.slice(0, 8)).waitFor()
    await signOut(second)
    await signInPage(second)
    await page.reload()
    await page.getByText(org.id.slice(0, 8)).waitFor()
  })

  it('are told when the service rejects the token', async () => {
    const page = await open(`${console}#token=${org.token}`)
    await overview(page)
    const second = await openTab(page)
    await overview(second)
    await page.route('**/v1/agents?*', (route) => route.fulfill({ status: 401 }))
    await page.evaluate(`location.hash = '#/agents'`)
    for (const tab of [page, second]) await tab.getByText('The service rejected the token').waitFor()
  })

  it('a link asks before it replaces the token of another tab', async () => {
    const other = await newOrganization()
    const page = await open(`${console}#token=${org.token}`)
    await overview(page)
    const second = await openTab(page, `${console}#token=${other.token}`)
    await second.getByRole('button', { name: 'Keep my token' }).click()
    await second.getByText(org.id.slice(0, 8)).waitFor()
  })

  it('ignore what else is sent on the channel', async () => {
    const page = await open(console)
    await signInPage(page)
    await page.evaluate(`(() => {
      const channel = new BroadcastChannel('agent-execution-service.token /console')
      channel.onmessage = ({ data: { id } }) => {
        for (const token of [1, {}, 'a b', '<img src=x onerror=alert(1)>', null])
          channel.postMessage({ kind: 'answer', id, token, usedAt: 9e15 })
        for (const message of [null, [], 'ended', { kind: 'ended', token: {} }, { kind: 'answer', id: 'x', token: 'aes_evil', usedAt: 1 }])
          channel.postMessage(message)
      }
      window.attacker = channel
    })()`)
    const second = await openTab(page)
    await signInPage(second)
    expect(await stored(second)).toEqual({ tab: [], device: [] })
    await page.evaluate(
      `window.attacker.postMessage({ kind: 'answer', id: '1', token: 'aes_evil', usedAt: 1 })`,
    )
    await second.getByLabel('API token').fill(org.token)
    await second.getByRole('button', { name: 'Sign in' }).click()
    await second.getByText(org.id.slice(0, 8)).waitFor()
  })
})

describe('"Keep me signed in on this device"', () => {
  async function signInAndKeep(): Promise<Page> {
    const page = await open(console)
    await page.getByLabel('API token').fill(org.token)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await overview(page)
    return page
  }

  /** With all tabs closed in between. */
  async function reopen(page: Page): Promise<Page> {
    const tab = await page.context().newPage()
    await page.close()
    await tab.goto(console)
    return tab
  }

  it('outlives the tabs until one signs out', async () => {
    const page = await reopen(await signInAndKeep())
    await page.getByText(org.id.slice(0, 8)).waitFor()
    await signOut(page)
    await signInPage(page)
    expect(await stored(page)).toEqual({ tab: [], device: [] })
    await signInPage(await reopen(page))
  })

  it('expires', async () => {
    const page = await signInAndKeep()
    const [entry] = Object.values(((await stored(page)) as { device: string[] }).device)
    const days = (JSON.parse(entry ?? '').expiresAt - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(7)
    await page.evaluate(`for (const [key, value] of Object.entries(localStorage))
      localStorage.setItem(key, JSON.stringify({ ...JSON.parse(value), expiresAt: Date.now() - 1 }))`)
    const next = await reopen(page)
    await signInPage(next)
    expect(await stored(next)).toEqual({ tab: [], device: [] })
  })

  it('ends when the service rejects the token', async () => {
    const page = await signInAndKeep()
    await page.route('**/v1/agents?*', (route) => route.fulfill({ status: 401 }))
    await page.evaluate(`location.hash = '#/agents'`)
    await page.getByText('The service rejected the token').waitFor()
    expect(await stored(page)).toEqual({ tab: [], device: [] })
  })

  it('reads nothing from hostile content of the storage, and removes it', async () => {
    const page = await open(console)
    await signInPage(page)
    for (const text of ['<img src=x onerror=alert(1)>', '{"token":"a b","expiresAt":9e15}', 'null', '']) {
      await page.evaluate(`for (const storage of [localStorage, sessionStorage])
        storage.setItem('agent-execution-service.token /console', ${JSON.stringify(text)})`)
      await page.reload()
      await signInPage(page)
      expect((await stored(page)) as object).toMatchObject({ device: [] })
    }
  })
})

describe('a token of an identity provider', () => {
  it('is handed over, but never stored', async () => {
    const page = await open(console)
    await page
      .context()
      .route('**/v1/**', (route) =>
        route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${org.token}` } }),
      )
    await page.getByLabel('API token').fill(JWT)
    expect(await page.getByLabel('Keep me signed in on this device').isDisabled()).toBe(true)
    await page.keyboard.press('Enter')
    await overview(page)
    const second = await openTab(page)
    await overview(second)
    for (const tab of [page, second]) expect(await stored(tab)).toEqual({ tab: [], device: [] })
    await page.close()
    await second.reload()
    await signInPage(second)
  })
})

it('a browser that blocks storage and channels signs in, until the page is reloaded', async () => {
  const page = await open(console)
  await signInPage(page)
  await page.addInitScript(`for (const name of ['sessionStorage', 'localStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError') } })
    window.BroadcastChannel = class { constructor() { throw new DOMException('denied', 'SecurityError') } }`)
  await page.goto(console)
  await page.getByLabel('API token').fill(org.token)
  await page.getByLabel('Keep me signed in on this device').check()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await overview(page)
  await signOut(page)
  await signInPage(page)
  await page.reload()
  await signInPage(page)
})
