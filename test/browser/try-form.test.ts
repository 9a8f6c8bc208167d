import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { parseCases } from '../../authoring/cases/case-file.ts'
import { createToken } from '../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { useBrowser } from './support/browser.ts'
import type { PageOptions } from './support/launch.ts'

const { open } = useBrowser()

const COUNTRIES = Array.from({ length: 60 }, (_, index) => `Country ${index + 1}`)
const OTHERS = Object.fromEntries(
  Array.from({ length: 33 }, (_, index) => [`detail${index + 1}`, { type: 'string', maxLength: 100 }]),
)

const INPUT_SCHEMA = {
  type: 'object',
  required: ['destination', 'country', 'departure', 'passengers', 'insured'],
  properties: {
    destination: { type: 'string', title: 'Destination', maxLength: 100 },
    country: { enum: COUNTRIES },
    departure: { type: 'string', format: 'date', title: 'Day of departure' },
    meeting: { type: 'string', format: 'date-time' },
    alarm: { type: 'string', format: 'time' },
    passengers: { type: 'integer', minimum: 1, maximum: 9 },
    insured: { type: 'boolean' },
    note: { type: ['string', 'null'] },
    address: {
      type: 'object',
      title: 'Home address',
      properties: { city: { type: 'string', maxLength: 5 } },
    },
    ...OTHERS,
  },
}

const DOCUMENT = `---
title: Book travel
slug: book-travel
code: true
input: ${JSON.stringify(INPUT_SCHEMA)}
output: { summary: { type: string } }
---
`
const CODE = `export default async function run(input) {
  if (input.destination === 'Nowhere') throw new Error('There is no way to get there.')
  return { summary: input.destination + ' # ' + input.departure }
}
`
const VALID = {
  destination: 'Oslo',
  country: 'Country 7',
  departure: '2026-03-01',
  passengers: 2,
  insured: true,
}

let org: TestOrganization
beforeAll(async () => {
  org = await newOrganization()
  const { status, json } = await org.call('POST', '/v1/agents', { body: { document: DOCUMENT, code: CODE } })
  expect(status, JSON.stringify(json)).toBe(201)
})

const CONSOLE = `${inject('service')}/console`
const TRY = `${CONSOLE}#/agents/book-travel/try`

async function openTry(query = '', options: PageOptions = {}): Promise<Page> {
  const page = await open(`${CONSOLE}#token=${org.token}`, options)
  await page.goto(TRY + query)
  await form(page).waitFor()
  return page
}

const form = (page: Page) => page.getByRole('heading', { level: 2, name: 'Input', exact: true })
const result = (page: Page) => page.getByRole('region', { name: /^Result/ })
const summary = (page: Page) => page.getByRole('region', { name: /^\d+ errors?$/ })
const focused = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const element = document.activeElement
    return (element.labels?.[0] ?? element.querySelector(':scope > legend') ?? element).textContent.trim()
  })()`)

async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    if (name.test(await focused(page))) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${name}; it is at ${await focused(page)}`)
}

/** The value as JSON. */
async function jsonOf(page: Page): Promise<Record<string, unknown>> {
  await page.getByRole('button', { name: 'JSON', exact: true }).click()
  const text = await page.getByRole('textbox', { name: 'Input as JSON' }).inputValue()
  await page.getByRole('button', { name: 'Form', exact: true }).click()
  return JSON.parse(text)
}

async function fillJson(page: Page, value: object): Promise<void> {
  await page.getByRole('button', { name: 'JSON', exact: true }).click()
  await page.getByRole('textbox', { name: 'Input as JSON' }).fill(JSON.stringify(value))
  await page.getByRole('button', { name: 'Form', exact: true }).click()
}

describe('mistakes in a form of 40 fields', () => {
  it('are counted, named by their labels, and links to their fields', async () => {
    const page = await openTry()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await summary(page).waitFor()
    expect(await summary(page).getByRole('heading').textContent()).toBe('5 errors')
    await page.locator('.try-bar').getByRole('button', { name: '5 errors' }).waitFor()
    expect(await summary(page).getByRole('listitem').allTextContents()).toEqual([
      'Destination Enter a value.',
      'country Choose a value.',
      'Day of departure Enter a date.',
      'passengers Enter a number.',
      'insured Choose a value.',
    ])
    await summary(page).getByRole('button', { name: 'passengers' }).click()
    expect(await focused(page)).toMatch(/^passengers/)
    await page.keyboard.type('12')
    await summary(page).getByText('Enter 9 or less.').waitFor()
    await fillJson(page, { ...VALID, address: { city: 'Trondheim' } })
    await summary(page).getByRole('button', { name: 'Home address › city' }).waitFor()
    expect(await summary(page).getByRole('heading').textContent()).toBe('1 error')
  })

  it('are corrected, and the result is read, with the keyboard alone', async () => {
    const page = await openTry()
    await tabTo(page, /^Destination/)
    await page.keyboard.press('Control+Enter')
    await summary(page).waitFor()
    await expect.poll(() => focused(page)).toMatch(/^Destination/)
    await page.keyboard.type('Oslo')
    await tabTo(page, /^country/)
    await page.keyboard.type('Country 7')
    await tabTo(page, /^Day of departure/)
    await page.keyboard.type('03032026')
    await tabTo(page, /^passengers/)
    await page.keyboard.type('2')
    await tabTo(page, /^insured/)
    await page.keyboard.type('t')
    await summary(page).waitFor({ state: 'detached' })
    await tabTo(page, /^Run/)
    await page.keyboard.press('Enter')
    await result(page).getByText('Success', { exact: true }).waitFor()
    expect(await focused(page)).toMatch(/^Result/)
    expect(await result(page).getByRole('status').allTextContents()).toEqual([
      expect.stringMatching(/^The run succeeded/),
    ])
    expect(await result(page).getByRole('alert').count()).toBe(0)
    await result(page).getByText('"Oslo # 2026-03-03"').waitFor()
    await tabTo(page, /^Edit input/)
    await page.keyboard.press('Enter')
    expect(await focused(page)).toMatch(/^Run/)
  })

  it('of a run are announced once', async () => {
    const page = await openTry()
    await fillJson(page, { ...VALID, destination: 'Nowhere' })
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await result(page).getByText('There is no way to get there.').first().waitFor()
    expect(await result(page).getByRole('status').allTextContents()).toEqual([
      expect.stringMatching(/^The run failed.*: AgentFailed\.$/),
    ])
    expect(await result(page).getByRole('alert').count()).toBe(0)
  })

  it.each([
    ['at 1280 px', {}],
    ['on a phone', { isPhone: true }],
  ])('do not make one look for the button that runs, which covers no field %s', async (_, options) => {
    const page = await openTry('', options)
    const run = page.getByRole('button', { name: 'Run', exact: true })
    const isInView = `(() => {
      const { top, bottom } = document.querySelector('.try-bar').getBoundingClientRect()
      return top >= 0 && bottom <= window.innerHeight
    })()`
    await run.waitFor()
    // On a phone, what is above the form has the first screen.
    await page.getByLabel('Destination').scrollIntoViewIfNeeded()
    expect(await page.evaluate(isInView)).toBe(true)
    await page.getByLabel('Destination').focus()
    const covered: string[] = []
    for (let presses = 0; presses < 150 && !/^Options/.test(await focused(page)); presses++) {
      await page.keyboard.press('Tab')
      const isCovered = await page.evaluate(`(() => {
        const { bottom } = document.activeElement.getBoundingClientRect()
        return bottom > document.querySelector('.try-bar').getBoundingClientRect().top + 1
      })()`)
      if (isCovered) covered.push(await focused(page))
    }
    expect(covered).toEqual([])
    expect(await focused(page)).toMatch(/^Options/)
    expect(await page.evaluate(isInView)).toBe(true)
  })
})

describe('fields', () => {
  it('of dates and times keep zones and seconds', async () => {
    const page = await openTry()
    const exact = {
      meeting: '2026-03-01T09:30:15.250-05:00',
      alarm: '06:45:10+05:45',
      departure: '2026-03-01',
    }
    await fillJson(page, exact)
    const meeting = page.getByLabel('meeting', { exact: true })
    expect(await meeting.getAttribute('type')).toBe('datetime-local')
    expect(await meeting.inputValue()).toMatch(/^2026-03-01T09:30:15\.250?$/)
    expect(await page.getByLabel('Time zone of meeting').inputValue()).toBe('-05:00')
    expect(await page.getByLabel('alarm', { exact: true }).inputValue()).toBe('06:45:10')
    expect(await jsonOf(page)).toEqual(exact)
    await meeting.fill('2026-07-01T10:00')
    await page.getByLabel('Time zone of alarm').selectOption('Z')
    await page.getByLabel('Day of departure').fill('2026-04-02')
    expect(await jsonOf(page)).toEqual({
      meeting: '2026-07-01T10:00:00-05:00',
      alarm: '06:45:10Z',
      departure: '2026-04-02',
    })
  })

  it('of dates and times begin in the zone of the browser', async () => {
    const page = await openTry()
    const meeting = page.getByLabel('meeting', { exact: true })
    await meeting.fill('2026-07-01T10:00')
    expect((await jsonOf(page)).meeting).toBe('2026-07-01T10:00:00+02:00')
    await meeting.fill('2026-12-01T10:00')
    expect((await jsonOf(page)).meeting).toBe('2026-12-01T10:00:00+01:00')
  })

  it('of dates and times are text for what a picker cannot show', async () => {
    const page = await openTry()
    const leap = { ...VALID, meeting: '2016-12-31T23:59:60Z' }
    await fillJson(page, leap)
    const meeting = page.getByLabel('meeting', { exact: true })
    expect(await meeting.getAttribute('type')).toBe('text')
    expect(await jsonOf(page)).toEqual(leap)
    await meeting.fill('2026-03-01T09:30:15.123456Z')
    expect((await jsonOf(page)).meeting).toBe('2026-03-01T09:30:15.123456Z')
    await meeting.fill('2026-03-01T09:30:15Z')
    expect(await meeting.getAttribute('type')).toBe('text')
    await page.getByRole('button', { name: 'Picker for meeting' }).click()
    expect(await meeting.getAttribute('type')).toBe('datetime-local')
    expect(await page.evaluate('document.activeElement.type')).toBe('datetime-local')
    expect((await jsonOf(page)).meeting).toBe('2026-03-01T09:30:15Z')
  })

  it('that are begun and not complete are mistakes', async () => {
    const page = await openTry()
    await fillJson(page, { ...VALID, departure: undefined })
    await page.getByLabel('Day of departure').focus()
    await page.keyboard.type('01')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Complete it, or clear it.').first().waitFor()
    expect(await page.getByRole('region', { name: /^Result/ }).count()).toBe(0)
  })

  it('with many choices are searched, and name what is none', async () => {
    const page = await openTry()
    await fillJson(page, VALID)
    await page.getByLabel('country').fill('Atlantis')
    await page
      .getByText(/^Choose one of /)
      .first()
      .waitFor()
    await page.getByLabel('country').fill('Country 12')
    expect((await jsonOf(page)).country).toBe('Country 12')
  })

  it('keep the focus when they become null, or are added and removed', async () => {
    const page = await openTry()
    await page.getByRole('button', { name: 'null for note' }).focus()
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('null for note')
    expect((await jsonOf(page)).note).toBeNull()
    await page.getByRole('button', { name: 'null for note' }).focus()
    await page.keyboard.press('Enter')
    expect(await focused(page)).toMatch(/^note/)
    await page.getByRole('button', { name: 'Add address' }).focus()
    await page.keyboard.press('Enter')
    expect(await focused(page)).toMatch(/^city/)
    await page.getByRole('button', { name: 'Remove address' }).focus()
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Add address')
  })

  it('of options are those that the agent has', async () => {
    const page = await openTry()
    await page.getByText('Options', { exact: true }).click()
    expect(await page.getByLabel('Cache').count()).toBe(1)
    for (const label of ['Model', 'Reasoning', 'Steps at most', 'Tokens at most', 'US dollars at most'])
      expect(await page.getByLabel(label, { exact: true }).count(), label).toBe(0)
  })
})

describe('what is typed', () => {
  const destination = (page: Page) => page.getByLabel('Destination')
  const isRestored = (page: Page) => page.getByText('What you typed here before is restored.')

  async function type(page: Page): Promise<void> {
    await destination(page).fill('Bergen')
    await page.getByText('Options', { exact: true }).click()
    await page.getByLabel('Tenant').fill('acme')
  }

  it('is there after Back and Forward, and after a reload, until it is reset', async () => {
    const page = await openTry()
    await type(page)
    await page.goto(`${CONSOLE}#/agents`)
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    await page.goBack()
    await isRestored(page).waitFor()
    expect(await destination(page).inputValue()).toBe('Bergen')
    await page.reload()
    await isRestored(page).waitFor()
    expect(await destination(page).inputValue()).toBe('Bergen')
    await page.getByText('Options', { exact: true }).click()
    expect(await page.getByLabel('Tenant').inputValue()).toBe('acme')
    await page.getByRole('button', { name: 'Reset' }).click()
    expect(await destination(page).inputValue()).toBe('')
    expect(await focused(page)).toBe('Undo')
    await page.keyboard.press('Enter')
    expect(await destination(page).inputValue()).toBe('Bergen')
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.reload()
    await form(page).waitFor()
    expect(await destination(page).inputValue()).toBe('')
    expect(await isRestored(page).count()).toBe(0)
    expect(await page.evaluate('Object.values(sessionStorage).join().includes("Bergen")')).toBe(false)
  })

  it('survives a token that is revoked, for tokens of the same organization and tenant only', async () => {
    const table = sharedTable()
    const [another, bound, stranger] = await Promise.all([
      createToken(table, org.id, {}),
      createToken(table, org.id, { tenantId: 'acme' }),
      newOrganization(),
    ])
    await stranger.call('POST', '/v1/agents', { body: { document: DOCUMENT, code: CODE } })
    const page = await openTry()
    await type(page)
    await page.route('**/executions?*', (route) => route.fulfill({ status: 401, body: '' }))
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: 'Run anyway' }).click()
    const token = page.getByLabel('API token')
    await page.getByText('The service rejected the token').waitFor()
    await page.unroute('**/executions?*')
    for (const [credential, value] of [
      [stranger.token, ''],
      [bound, ''],
      [another, 'Bergen'],
    ]) {
      await token.fill(credential ?? '')
      await page.keyboard.press('Enter')
      await form(page).waitFor()
      expect(await destination(page).inputValue()).toBe(value)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await token.waitFor()
    }
  })

  it('is another one for each run that the form begins with', async () => {
    const { headers } = await org.run('book-travel', VALID, 'tenantId=globex&useCache=true')
    const id = headers.get('x-execution-id')
    const page = await openTry(`?from=${id}`)
    expect(await destination(page).inputValue()).toBe('Oslo')
    await page.getByText('Options', { exact: true }).click()
    expect(await page.getByLabel('Tenant').inputValue()).toBe('globex')
    expect(await page.getByLabel('Cache').inputValue()).toBe('true')
    await destination(page).fill('Bodø')
    await page.goto(TRY)
    await page.getByText('begins with the input').waitFor({ state: 'detached' })
    await form(page).waitFor()
    expect(await destination(page).inputValue()).toBe('')
    await page.goBack()
    await isRestored(page).waitFor()
    expect(await destination(page).inputValue()).toBe('Bodø')
    await page.getByRole('button', { name: 'Reset' }).click()
    expect(await destination(page).inputValue()).toBe('Oslo')
  })

  it('does not need the run that the form was to begin with', async () => {
    const page = await openTry('?from=01a20000-0000-7000-8000-000000000000')
    await page.getByText('has been deleted').waitFor()
    expect(await destination(page).inputValue()).toBe('')
  })
})

describe('saved inputs', () => {
  it('are saved, loaded, renamed and deleted with the keyboard alone', async () => {
    const page = await openTry()
    await fillJson(page, VALID)
    await page.getByText('Saved inputs').focus()
    await page.keyboard.press('Enter')
    await tabTo(page, /^Name/)
    await page.keyboard.type('To <b>Oslo</b>')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Load To <b>Oslo</b>' }).waitFor()
    await page.reload()
    await form(page).waitFor()
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.getByText('Saved inputs (1)').click()
    await page.getByRole('button', { name: 'Load To' }).focus()
    await page.keyboard.press('Enter')
    expect(await jsonOf(page)).toEqual(VALID)
    await page.getByRole('button', { name: 'Rename To' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('North')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Load North' }).waitFor()
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Rename North')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('This cannot be undone.').waitFor()
    await page.getByRole('button', { name: 'Delete saved input' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('None yet.').waitFor()
    await expect.poll(() => focused(page)).toMatch(/^Name/)
    expect(await page.evaluate('localStorage.length')).toBe(0)
  })
})

describe('a test case', () => {
  it('of a run is read by `npm run agents -- test`', async () => {
    const page = await openTry()
    const input = {
      ...VALID,
      destination: 'Oslo: # 1',
      detail1: 'two\n  lines',
      detail2: '007',
      detail3: '\u2028😀',
    }
    await fillJson(page, input)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('button', { name: 'As test case…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name of the case').fill('goes to Oslo: always')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await dialog.getByRole('button', { name: 'Copy the test case' }).click()
    await dialog.getByText('Copied').waitFor()
    const yaml = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(parseCases(yaml, 'cases.yaml')).toEqual({
      problems: [],
      cases: [
        {
          name: 'goes to Oslo: always',
          input,
          expect: { equals: { summary: 'Oslo: # 1 # 2026-03-01' } },
        },
      ],
    })
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('As test case…')
  })
})
