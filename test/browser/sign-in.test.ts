import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { acceptLink, useBrowser } from './support/browser.ts'

const { open, openLink } = useBrowser()
const console = `${inject('service')}/console`

let org: TestOrganization
let other: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  other = await newOrganization()
})

const overview = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor()
const signInPage = (page: Page) => page.getByLabel('API token').waitFor()
const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' }).click()

/** Another tab of the same browser. */
async function openTab(page: Page, url = console): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(url)
  return tab
}

/** With all tabs closed in between. */
async function reopen(page: Page): Promise<Page> {
  const tab = await page.context().newPage()
  await page.close()
  await tab.goto(console)
  return tab
}

/** Tokens; not the hashes of those that were signed out. */
const stored = (page: Page) =>
  page.evaluate(`({
    tab: Object.values(sessionStorage),
    device: Object.entries(localStorage).flatMap(([key, value]) => (key.endsWith(' signed-out') ? [] : [value])),
  })`)

describe('signing in', () => {
  it('rejects a wrong token, keeps a pasted one until all tabs are closed, and survives a reload', async () => {
    const page = await open(console)
    await page.getByLabel('API token').fill('aes_wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The service does not know this token').waitFor()
    await page.getByLabel('API token').fill(org.token)
    await page.keyboard.press('Enter')
    await overview(page)
    await page.getByTitle(org.id).waitFor()
    expect(await stored(page)).toEqual({ tab: [org.token], device: [] })
    await page.reload()
    await overview(page)
    await signInPage(await reopen(page))
  })

  it('with a link removes the token from the URL, and asks before it uses it', async () => {
    const page = await open(`${console}#token=${org.token}`)
    const question = page.getByRole('dialog', { name: 'Sign in with the token of the link?' })
    await question.getByText(org.id).waitFor()
    expect(page.url()).not.toContain(org.token)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Do not sign in')
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await signInPage(page)
    expect(await stored(page)).toEqual({ tab: [], device: [] })
    await page.evaluate(`location.hash = '#token=${org.token}'`)
    await acceptLink(page)
    await overview(page)
    const dialog = page.getByRole('dialog', { name: 'Sign in with another token?' })
    await page.evaluate(`location.hash = '#token=${other.token}'`)
    await dialog.waitFor()
    expect(page.url()).not.toContain(other.token)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Keep my token')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await stored(page)).toEqual({ tab: [org.token], device: [] })
    await page.goto(`${console}?again#token=${other.token}`)
    await dialog.getByText(other.id).waitFor()
    await dialog.getByRole('button', { name: 'Use the token of the link' }).click()
    await page.getByTitle(other.id).waitFor()
    const wrong = await open(`${console}#token=wrong`)
    await wrong.getByText('The service does not know this token').waitFor()
    expect(await wrong.getByRole('button', { name: 'Use the token of the link' }).isDisabled()).toBe(true)
    expect(await stored(wrong)).toEqual({ tab: [], device: [] })
  })

  it('holds for further tabs, which are signed out together, also while they show another page', async () => {
    const page = await openLink(`${console}#token=${org.token}`)
    await overview(page)
    const second = await openTab(page)
    await overview(second)
    const third = await openTab(page)
    await overview(third)
    await third.getByRole('link', { name: 'Documentation', exact: true }).click()
    await third.waitForURL(/docs\.html/)
    await signOut(page)
    await signInPage(second)
    expect(await stored(second)).toEqual({ tab: [], device: [] })
    await third.goBack()
    await signInPage(third)
  })
})
