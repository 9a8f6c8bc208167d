import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseCases } from '../../authoring/cases/case-file.ts'
import { pdfOf } from '../support/data/files.ts'
import { newDemo } from './demo/new-demo.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedName } from './support/pages.ts'

const INPUT_SCHEMA = {
  type: 'object',
  required: ['destination', 'departure', 'passengers', 'insured'],
  properties: {
    destination: { type: 'string', title: 'Destination', maxLength: 100 },
    departure: { type: 'string', format: 'date', title: 'Day of departure' },
    meeting: { type: 'string', format: 'date-time' },
    passengers: { type: 'integer', minimum: 1, maximum: 9 },
    insured: { type: 'boolean' },
    items: { type: 'array', items: { type: 'object', properties: { article: { type: 'string' } } } },
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
const FILES = `---
title: Measure files
slug: measure-files
code: true
input: { scan: { type: file, mediaTypes: [application/pdf] } }
output: { bytes: { type: integer } }
---
`
const CODE = `export default async function run({ destination, scan }) {
  if (destination === 'Nowhere') throw new Error('There is no way to get there.')
  return scan ? { bytes: Buffer.from(scan.data, 'base64').length } : { summary: destination + ' # 1' }
}
`
const VALID = { destination: 'Oslo', departure: '2026-03-01', passengers: 2, insured: true }

const { openPage } = useBrowser()
const demo = await newDemo()
beforeAll(async () => {
  for (const document of [DOCUMENT, FILES]) {
    const { status, text } = await demo.call('POST', '/v1/agents', { body: { document, code: CODE } })
    expect(status, text).toBe(201)
  }
})

const openTry = (agent = 'book-travel', query = '') => openPage(demo, `#/agents/${agent}/try${query}`)
const result = (page: Page) => page.getByRole('region', { name: /^Result/ })
const summary = (page: Page) => page.getByRole('region', { name: /^\d+ errors?$/ })
const editor = (page: Page) => page.getByRole('textbox', { name: 'Input as JSON' })
const destination = (page: Page) => page.getByLabel('Destination')
const newest = async () => (await demo.call('GET', '/v1/agent_executions?limit=1')).json[0]

async function fillJson(page: Page, value: object): Promise<void> {
  await button(page, 'JSON').click()
  await editor(page).fill(JSON.stringify(value))
  await button(page, 'Form').click()
}

describe('the form', () => {
  it('counts mistakes, leads to their fields, and is corrected and sent with the keyboard', async () => {
    const page = await openTry()
    await destination(page).press('Control+Enter')
    await summary(page).waitFor()
    expect(await summary(page).getByRole('listitem').allTextContents()).toEqual([
      'Destination Enter a value.',
      'Day of departure Enter a date.',
      'passengers Enter a number.',
      'insured Choose a value.',
    ])
    await expect.poll(() => focusedName(page)).toMatch(/^Destination/)
    await page.keyboard.type('Oslo')
    await summary(page).getByRole('button', { name: 'Day of departure' }).click()
    await page.keyboard.type('03032026')
    await summary(page).getByRole('button', { name: 'passengers' }).click()
    await page.keyboard.type('12')
    await summary(page).getByText('Enter 9 or less.').waitFor()
    await page.getByLabel('passengers').fill('2')
    await page.getByLabel('insured').selectOption('true')
    await summary(page).waitFor({ state: 'detached' })
    await page.keyboard.press('Control+Enter')
    await result(page).getByText('"Oslo # 1"').waitFor()
    await expect
      .poll(() => result(page).getByRole('status').allTextContents())
      .toEqual([expect.stringMatching(/^The run succeeded/)])
    expect((await newest()).input).toMatchObject({ departure: '2026-03-03', passengers: 2, insured: true })
  })

  it('has one value as a form and as JSON, whose mistakes are named with their lines', async () => {
    const page = await openTry('wait')
    await page.getByLabel('seconds').fill('0')
    await button(page, 'JSON').click()
    expect(JSON.parse(await editor(page).inputValue())).toEqual({ seconds: 0 })
    await editor(page).fill('{"seconds": 0, "note": 123456789012345678901234567890}')
    await button(page, 'Form').click()
    await page.getByText('is not in the schema').waitFor()
    await button(page, 'JSON').click()
    expect(await editor(page).inputValue()).toContain('123456789012345678901234567890')
    await editor(page).fill('{\n  "seconds": 1,\n}')
    await page.getByText('Remove the comma before the closing brace.').first().waitFor()
    await editor(page).fill('{\n  "seconds": [true]\n}')
    await page
      .getByText(/line 2/i)
      .first()
      .waitFor()
  })

  it('shows what the service rejects at its field', async () => {
    const page = await openTry()
    const message = '/destination is not known to us.'
    await page.route(/\/executions(\?|$)/, (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      return route.fulfill({
        ...{ status: 422, contentType: 'application/problem+json' },
        json: {
          ...{ title: 'Refused', status: 422, code: 'InputSchemaMismatch', detail: message },
          errors: [{ path: '/destination', message }],
        },
      })
    })
    await fillJson(page, VALID)
    await button(page, 'Run').click()
    await expect.poll(() => destination(page).getAttribute('aria-invalid')).toBe('true')
    await page.getByText('Is not known to us.').first().waitFor()
  })

  it('sends files, and shows their type and size in place of base64', async () => {
    const page = await openTry('measure-files')
    const scan = page.getByLabel('scan')
    await scan.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no document') })
    await page.getByText('a.png is not one of application/pdf.').waitFor()
    const buffer = Buffer.from(pdfOf(40_000), 'base64')
    await scan.setInputFiles({ name: 'may.pdf', mimeType: 'application/pdf', buffer })
    await page.getByText('application/pdf, 40.0 kB').waitFor()
    await button(page, 'Run').click()
    await result(page).getByText('40000').first().waitFor()
    expect((await page.content()).includes('JVBERi0')).toBe(false)
  })
})

describe('what is typed', () => {
  const restored = (page: Page) => page.getByText('What you typed here before is restored.').waitFor()

  it('is there after Back and a reload, until it is reset', async () => {
    const page = await openTry()
    await destination(page).fill('Bergen')
    await page.goto(`${demo.url}/console#/agents`)
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
    await page.goBack()
    await restored(page)
    await page.reload()
    await restored(page)
    expect(await destination(page).inputValue()).toBe('Bergen')
    await button(page, 'Reset').click()
    expect(await destination(page).inputValue()).toBe('')
    await button(page, 'Undo').click()
    expect(await destination(page).inputValue()).toBe('Bergen')
    await button(page, 'Reset').click()
    await expect
      .poll(() => page.evaluate('Object.values(sessionStorage).join().includes("Bergen")'))
      .toBe(false)
  })
})

describe('a run of the form', () => {
  it('shows its steps, sends options, and can be cancelled', async () => {
    const page = await openTry('import-contacts')
    await page.getByLabel('count').fill('40')
    await page.getByLabel('pauseMs').fill('60000')
    await page.getByText('Options').click()
    await page.getByLabel('Tenant').fill('acme & sons')
    await button(page, 'Run').click()
    await result(page).getByText('In progress', { exact: true }).waitFor()
    await button(page, 'Cancel run').click()
    await result(page).getByText('Cancelled').first().waitFor()
    expect(await newest()).toMatchObject({ tenantId: 'acme & sons', error: { code: 'Cancelled' } })
  })

  it('becomes a test case that `npx agent-execution test` reads, and code without the token', async () => {
    const id = await demo.run('book-travel', VALID)
    const page = await openTry('book-travel', `?from=${id}`)
    expect(await destination(page).inputValue()).toBe('Oslo')
    const samples = page.getByRole('region', { name: 'Request as code' })
    for (const language of ['curl', 'TypeScript', 'Python']) {
      await samples.getByRole('button', { name: language, exact: true }).click()
      const sample = (await samples.locator('pre').textContent()) ?? ''
      expect(sample).toContain('Oslo')
      expect(sample).not.toContain(demo.token)
    }
    await button(page, 'Run').click()
    await button(page, 'As test case…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name of the case').fill('goes to Oslo: always')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Copy the test case').click()
    await dialog.getByText('Copied').waitFor()
    const yaml = String(await page.evaluate('navigator.clipboard.readText()'))
    const expected = {
      name: 'goes to Oslo: always',
      input: VALID,
      expect: { equals: { summary: 'Oslo # 1' } },
    }
    expect(parseCases(yaml, 'cases.yaml')).toEqual({ problems: [], cases: [expected] })
  })
})
