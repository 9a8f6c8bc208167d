import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { startProxy } from './stub/start-proxy.ts'
import { useBrowser } from './support/browser.ts'

const { open } = useBrowser()

let org: TestOrganization
const stops: (() => Promise<void>)[] = []
beforeAll(async () => {
  org = await newOrganization()
  await org.publish('echo')
  for (let run = 0; run < 3; run++) await org.run('echo', { text: 'a' })
})
afterAll(async () => {
  for (const stop of stops) await stop()
})

describe.each(['/prod', '/agents/v1', '/console'])('under the base path %s', (basePath) => {
  it('every page works', async () => {
    const { url, stop } = await startProxy(inject('service'), basePath)
    stops.push(stop)
    const page = await open(`${url}/console#token=${org.token}`)
    for (const name of ['Runs', 'Agents', 'Tenants', 'Overview']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
    }
    await page.goto(`${url}/console#/runs`)
    await page.getByRole('link', { name: 'Echo' }).first().waitFor()
    expect(await page.getByRole('link', { name: 'OpenAPI' }).getAttribute('href')).toBe(
      `${new URL(url).pathname}/v1/openapi.json`,
    )
  })
})

describe('the address', () => {
  it.each(['/', '/console/', '/?utm_source=mail'])(
    '%s leads to the console, with its fragment',
    async (path) => {
      const page = await open(`${inject('service')}${path}#token=${org.token}`)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/console')
    },
  )

  it('survives a reload, and "back"', async () => {
    const page = await open(`${inject('service')}/console#token=${org.token}`)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('link', { name: /^01/ }).first().click()
    const title = page.getByRole('heading', { level: 1 })
    const text = await title.textContent()
    await page.reload()
    expect(await title.textContent()).toBe(text)
    await page.goBack()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
  })
})
