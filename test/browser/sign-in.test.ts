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
  it('works with a pasted token, which stays in this tab', async () => {
    const page = await open(console)
    await page.getByLabel('API token').fill(org.token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText(org.id.slice(0, 8)).waitFor()
    expect(await page.evaluate('Object.values(sessionStorage)')).toEqual([org.token])
    expect(await page.evaluate('localStorage.length + document.cookie.length')).toBe(0)
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const other = await page.context().newPage()
    await other.goto(console)
    await other.getByLabel('API token').waitFor()
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
