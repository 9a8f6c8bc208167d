import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../lib/core/errors.ts'
import { hostileAnswers, withHidden } from './stub/hostile-answers.ts'
import { HOSTILE_STRINGS } from './stub/hostile-strings.ts'
import { failure, ok, plainAnswers } from './stub/plain-answers.ts'
import { aMe, anApproval } from './stub/records.ts'
import { type Answers, type Stub, startStub } from './stub/start-stub.ts'
import { useBrowser } from './support/browser.ts'
import {
  findHidden,
  findInjected,
  HOSTILE_IDS,
  HOSTILE_STATES,
  isShown,
  openAll,
  shownText,
} from './support/page-checks.ts'
import { addressOf, PAGES, STUB_IDS, settle } from './support/pages.ts'

const { openPage } = useBrowser()
let stub: Stub
let answers: Answers
let me: object
let isUnavailable: boolean

beforeAll(async () => {
  const answer = (name: keyof Answers) => (event: APIGatewayProxyEvent) => {
    if (isUnavailable) return failure(new Unavailable(null))
    return name === 'get-me' ? ok({ ...aMe(), ...me }) : (answers[name]?.(event) ?? ok([]))
  }
  const names = Object.keys({ ...plainAnswers, ...hostileAnswers }) as (keyof Answers)[]
  stub = await startStub(Object.fromEntries(names.map((name) => [name, answer(name)])))
})
afterAll(() => stub?.stop())
beforeEach(() => {
  answers = plainAnswers
  me = {}
  isUnavailable = false
})

const go = async (page: Page, hash: string) => {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
  await settle(page)
}

/** Buttons that only read. */
const READING = /^(?:Report…|More filters|.*Compare.*)$/

describe('every page', () => {
  it('shows its data, and gets the focus', async () => {
    const page = await openPage(stub, '#/agents')
    for (const [, hash, content] of PAGES) {
      await go(page, addressOf(hash, STUB_IDS))
      await content(page).first().waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
    }
  })

  it('offers a token that only reads nothing to change', async () => {
    me = { scopes: ['read'] }
    answers = { ...plainAnswers, 'list-approvals': () => ok([anApproval(1, { mayDecide: false })]) }
    const page = await openPage(stub)
    await page.getByText('read', { exact: true }).waitFor()
    for (const [name, hash] of PAGES) {
      await go(page, addressOf(hash, STUB_IDS))
      const offered = page.locator('main').getByRole('button', { name: /…$|^(?:Run|Approve|Reject)\b/ })
      const names = (await offered.allTextContents()).filter((text) => !READING.test(text))
      if (!name.startsWith('try it')) expect(names, name).toEqual([])
    }
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
    expect(await links.allTextContents()).not.toContain('Tokens')
    expect(await links.allTextContents()).not.toContain('Audit log')
  })

  it.each([
    ['without the scope read', { scopes: ['run'] }, /needs a token with the scope/],
    ['of a tenant', { tenantId: 'acme' }, /^acme$/],
  ])('is not offered to a token %s if it may not see it', async (_, overrides, sign) => {
    me = overrides
    const page = await openPage(stub)
    await page.getByText(sign).first().waitFor()
    const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
    for (const name of ['Trials', 'Webhooks', 'Audit log']) expect(links).not.toContain(name)
  })

  it('shows hostile strings as text', async () => {
    answers = hostileAnswers
    const page = await openPage(stub, '#/nowhere')
    for (const [, address] of [...PAGES, ...HOSTILE_STATES]) {
      const hash = addressOf(address, HOSTILE_IDS)
      await go(page, hash)
      await openAll(page)
      expect(await findInjected(page), hash).toEqual([])
      const text = await shownText(page)
      expect(
        HOSTILE_STRINGS.some((each) => isShown(text, each)),
        hash,
      ).toBe(true)
    }
  })

  it('with a chart shows characters that are not seen', async () => {
    answers = withHidden(hostileAnswers)
    const page = await openPage(stub, addressOf('#/agents/{agent}/versions/{version}', HOSTILE_IDS))
    await openAll(page)
    await page.locator('.chart title').first().waitFor({ state: 'attached' })
    expect(await findHidden(page)).toEqual([])
  })
})

describe('a filter', () => {
  it('that has a text does not keep Back from leaving the page', async () => {
    const page = await openPage(stub, '#/agents')
    await page.getByText('1 agent', { exact: true }).waitFor()
    await go(page, '#/batches')
    await page.getByLabel('Tenant').pressSequentially('acme')
    await expect.poll(() => page.url()).toContain('tenantId=acme')
    await page.goBack()
    await page.getByText('1 agent', { exact: true }).waitFor()
    await page.goForward()
    await expect.poll(() => page.getByLabel('Tenant').inputValue()).toBe('acme')
    await page.getByLabel('Tenant').fill('')
    await page.goBack()
    await page.getByText('1 agent', { exact: true }).waitFor()
  })
})

describe('an outage', () => {
  it('in which a page is opened ends without a click', async () => {
    const page = await openPage(stub, '#/nowhere')
    const start = await stub.interrupt()
    for (const [hash, content] of [
      ['#/schedules', page.getByText('1 schedule', { exact: true })],
      [`#/agents/${STUB_IDS.agent}`, page.getByRole('heading', { name: 'Versions' })],
    ] as const) {
      await page.evaluate(`location.hash = '${hash}'`)
      await page.getByText('The service does not respond.').first().waitFor()
      await start()
      await content.waitFor()
      if (hash === '#/schedules') await stub.interrupt()
    }
  })

  it('of the service is named, and Retry works when it is back', async () => {
    const page = await openPage(stub, '#/nowhere')
    const start = await stub.interrupt()
    await page.evaluate(`location.hash = '#/batches'`)
    const alert = page.getByRole('alert').last()
    await alert.getByText('The service does not respond.').waitFor()
    await start()
    await alert.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('1 batch', { exact: true }).waitFor()
  })
})
