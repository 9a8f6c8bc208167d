import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BatchRecord } from '../../lib/api/schemas/batch-record.ts'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { aMe, anAgentRecord, anExecutionRecord } from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aBatch } from './stub/work.ts'
import { useBrowser } from './support/browser.ts'
import { button } from './support/page.ts'

const { open } = useBrowser()

const fileOf = (lines: object[]) => ({
  name: 'lines.ndjson',
  mimeType: 'application/x-ndjson',
  buffer: Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')),
})
const line = (customId: string, input: object) => ({ customId, input })
const contacts = (customId: string, more = {}) => line(customId, { count: 8, pauseMs: 0, ...more })

describe('a batch', () => {
  let demo: Demo
  beforeAll(async () => {
    demo = await startDemo()
  })
  afterAll(() => demo?.stop())

  async function openBatches(path = '#/batches'): Promise<Page> {
    const page = await open(`${demo.url}/console#token=${demo.token}`)
    await page.goto(`${demo.url}/console${path}`)
    return page
  }

  it('is checked by line, started, followed to its end, saved, retried and deleted', async () => {
    const page = await openBatches()
    await page.getByText('There are no batches yet.').waitFor()
    await button(page, 'Start a batch…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Agent').fill('import-contacts')
    const lines = dialog.getByLabel('Inputs', { exact: true })
    await lines.setInputFiles(fileOf([contacts('a'), line('b', { count: 'many' })]))
    await dialog.getByText('Strict').click()
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog.getByText(/Line 2: \/input\/count/).waitFor()

    await lines.setInputFiles(
      fileOf([contacts('a'), contacts('b', { fail: true }), contacts('c', { pauseMs: 200 })]),
    )
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog.getByText('3 lines are valid').waitFor()
    await dialog.getByRole('button', { name: 'Start 3 runs' }).click()
    await page.getByRole('heading', { level: 1, name: /^Batch 01/ }).waitFor()
    await page.getByText('3 of 3 ended (100%)').waitFor()
    await page.getByRole('progressbar', { name: 'Lines that have ended' }).waitFor()

    await button(page, 'Failed').click()
    await page.getByRole('row', { name: /^b / }).waitFor()
    expect(page.url()).toMatch(/status=ERROR$/)
    expect(await page.getByRole('row', { name: /^a / }).count()).toBe(0)

    const downloading = page.waitForEvent('download')
    await button(page, 'Download results').click()
    const saved = await readFile(await (await downloading).path(), 'utf8')
    expect(
      saved
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text).customId),
    ).toEqual(['a', 'b', 'c'])

    const first = page.url()
    await button(page, 'Retry failed…').click()
    await button(page, 'Retry failed').click()
    await page.getByText('Retry of').waitFor()
    await page.getByText('1 of 1 ended (100%)').waitFor()
    await button(page, 'Delete…').click()
    await button(page, 'Delete batch').click()
    await page.getByRole('heading', { level: 1, name: 'Batches' }).waitFor()
    await expect.poll(() => page.getByRole('progressbar').count()).toBe(1)
    await page.goto(first)
    await page.getByText('3 of 3 ended').waitFor()
  })

  it('is started and cancelled with the keyboard only', async () => {
    const page = await openBatches('#/batches?agent=wait')
    const press = async (name: string) => {
      await button(page, name).focus()
      await page.keyboard.press('Enter')
    }
    await press('Start a batch…')
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Agent').inputValue()).toBe('wait')
    await dialog.getByLabel('Inputs', { exact: true }).setInputFiles(fileOf([line('a', { seconds: 600 })]))
    await dialog.getByLabel('Lines at the same time').focus()
    await page.keyboard.type('1')
    await page.keyboard.press('Enter')
    await dialog.getByText('1 line is valid').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('0 of 1 ended (0%)').waitFor()
    await press('Cancel…')
    await press('Cancel batch')
    await page.getByText('1 of 1 ended (100%)').waitFor()
    await page.getByText('1 (1 cancelled)').waitFor()
    await page.getByText('Ended: Cancelled').waitFor()
  })
})

describe('batches', () => {
  let stub: Stub
  let me: object
  let batches: BatchRecord[]
  let results: string[]

  beforeAll(async () => {
    stub = await startStub({
      'get-me': () => ({ status: 200, body: me }),
      'list-agents': () => ({ status: 200, body: [anAgentRecord()] }),
      'list-batches': ({ queryStringParameters }) => ({
        status: 200,
        body: batches.filter(({ tenantId }) =>
          [tenantId, undefined].includes(queryStringParameters?.tenantId),
        ),
      }),
      'get-batch': () => ({ status: 200, body: batches[0] }),
      'list-batch-executions': () => ({
        status: 200,
        body: [anExecutionRecord(0, { source: 'BATCH', customId: '\u202eevil' })],
      }),
      'list-batch-results': ({ queryStringParameters }) => {
        const page = Number(queryStringParameters?.cursor ?? 0)
        const isLast = page + 1 === results.length
        return {
          status: 200,
          headers: {
            'Content-Type': 'application/x-ndjson',
            ...(!isLast && { Link: `</v1/batches/x/results?limit=1000&cursor=${page + 1}>; rel="next"` }),
          },
          stream: results[page] ?? '',
        }
      },
    })
  })
  afterAll(() => stub?.stop())
  beforeEach(() => {
    me = aMe()
    batches = [aBatch(1), aBatch(2, { tenantId: 'acme' })]
    results = ['{"customId":"a"}\n', '{"customId":"b"}\n']
  })

  async function openPage(hash: string): Promise<Page> {
    const page = await open(`${stub.url}/console#token=x`)
    await page.goto('about:blank')
    await page.goto(`${stub.url}/console${hash}`)
    return page
  }

  it('offer only what the token may do', async () => {
    me = { ...aMe(), scopes: ['read'] }
    const page = await openPage('#/batches')
    await page.getByText('2 batches').waitFor()
    expect(await button(page, 'Start a batch…').count()).toBe(0)
    await page.getByRole('link', { name: /^01a2/ }).first().click()
    await page.getByText('10 of 10 ended').waitFor()
    expect(await button(page, /^(Retry failed|Delete)…$/).count()).toBe(0)
    await button(page, 'Download results').waitFor()
    me = { ...aMe(), scopes: ['run'] }
    const other = await openPage('#/batches')
    await other.getByText('This page needs a token with the scope').waitFor()
    expect(await other.getByRole('link', { name: 'Batches' }).count()).toBe(0)
  })

  it('keep their filters in the URL', async () => {
    const page = await openPage('#/batches')
    await page.getByLabel('Tenant').fill('acme')
    await page.keyboard.press('Enter')
    await page.getByText('1 batch', { exact: true }).waitFor()
    expect(page.url()).toMatch(/tenantId=acme$/)
  })

  it('save the results of all pages', async () => {
    const page = await openPage(`#/batches/${batches[0]?.id}`)
    const downloading = page.waitForEvent('download')
    await button(page, 'Download results').click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^results-.*\.ndjson$/)
    expect(await readFile(await download.path(), 'utf8')).toBe(results.join(''))
  })

  it('isolate the names of lines', async () => {
    const page = await openPage(`#/batches/${batches[0]?.id}`)
    await page.getByText('evil').waitFor()
    expect(await page.locator('th bdi', { hasText: 'evil' }).count()).toBe(1)
  })
})
