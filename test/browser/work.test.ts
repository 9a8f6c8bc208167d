import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { newDemo } from './demo/new-demo.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedText, heading, link } from './support/pages.ts'

const { openPage } = useBrowser()
const demo = await newDemo()

describe('approvals', () => {
  /** A run that waits for an approval. */
  async function ask(usd: number, tenantId: string): Promise<string> {
    const input = { orderId: `A-${usd}`, usd }
    const id = await demo.run('refund-order', input, `execMode=async&tenantId=${tenantId}`)
    await expect
      .poll(async () => (await demo.call('GET', `/v1/agent_executions/${id}`)).json.waitingFor)
      .toHaveLength(1)
    return id
  }
  const titleOf = (usd: number) => `Refund ${usd} dollars of order A-${usd}?`
  const outputOf = async (id: string) =>
    (await demo.call('GET', `/v1/agent_executions/${id}`, { headers: { Prefer: 'wait=20' } })).json.output
  const approvalIdOf = async (id: string) =>
    (await demo.call('GET', `/v1/agent_executions/${id}/steps`)).json[0].wait.id

  it('are approved with another input and rejected, and the next one has the focus', async () => {
    const [first, second] = [await ask(201, 'mouse'), await ask(202, 'mouse')]
    const page = await openPage(demo, '#/approvals?tenantId=mouse')
    await page.getByRole('link', { name: /^Approvals\s*2/ }).waitFor()
    await page.getByRole('link', { name: titleOf(201) }).click()
    const title = (usd: number) => page.getByRole('heading', { level: 2, name: titleOf(usd) })
    await title(201).waitFor()
    await button(page, 'Edit input').click()
    const editor = page.getByRole('textbox', { name: 'Input as JSON' })
    await editor.fill('{"usd": }')
    await page.getByText(/Line 1, column/).waitFor()
    expect(await button(page, 'Approve with changes').isDisabled()).toBe(true)
    await editor.fill('{"orderId": "A-201", "usd": 150}')
    await page.getByLabel('Note').fill('Half of it.')
    await button(page, 'Approve with changes').dblclick()
    await title(202).waitFor()
    await expect.poll(() => focusedText(page)).toBe(titleOf(202))
    expect(await outputOf(first)).toMatchObject({ usd: 150, reason: expect.stringContaining('Half of it.') })
    await button(page, 'Reject').click()
    await page.getByText('No open approval matches these filters.').waitFor()
    expect(await outputOf(second)).toMatchObject({ refunded: false })
    await page.goto(`${demo.url}/console#/approvals?item=${first}.${await approvalIdOf(first)}`)
    await page.getByText(/^Approved with changes by/).waitFor()
  })

  it('are decided once at any speed of clicking, and can be taken back for a moment', async () => {
    const ids: string[] = []
    for (const usd of [501, 502, 503, 504]) ids.push(await ask(usd, 'clicks'))
    const page = await openPage(demo, '#/approvals?tenantId=clicks')
    const decided = page.getByRole('list', { name: 'Your decisions' }).getByRole('listitem')
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
    const box = await button(page, 'Approve').boundingBox()
    const [x, y] = [(box?.x ?? 0) + 9, (box?.y ?? 0) + 9]
    for (const pause of [0, 0, 0, 20, 60, 150, 400, 700, 900, 0, 0]) {
      await page.mouse.click(x, y)
      await page.waitForTimeout(pause)
    }
    expect(await decided.count()).toBe(1)
    await button(page, 'Undo').click()
    await expect.poll(() => decided.count()).toBe(0)
    await page.waitForTimeout(6_000)
    expect(sent).toEqual([])
    await page.getByRole('heading', { level: 2, name: titleOf(504) }).waitFor()

    // The page is left before the time is over: in the console, then by closing it.
    await button(page, 'Approve').click()
    await link(page, 'Schedules').first().click()
    await expect.poll(async () => (await outputOf(ids[3] ?? '')).refunded).toBe(true)
    await page.goto(`${demo.url}/console#/approvals?tenantId=clicks`)
    await page.getByRole('heading', { level: 2, name: titleOf(503) }).waitFor()
    await button(page, 'Reject').click()
    await decided.getByText(titleOf(503)).waitFor()
    await page.close({ runBeforeUnload: true })
    await expect.poll(async () => (await outputOf(ids[2] ?? '')).refunded).toBe(false)

    const again = await openPage(demo, '#/approvals/decided?tenantId=clicks')
    await expect.poll(() => again.getByRole('row').count()).toBe(3)
    await link(again, titleOf(503)).click()
    await again.getByText(/^Rejected by/).waitFor()
  })

  it('that ask for the same as before say so', async () => {
    const first = await ask(601, 'same')
    const path = `/v1/agent_executions/${first}/approvals/${await approvalIdOf(first)}`
    await demo.call('POST', path, { body: { decision: 'approve' } })
    const second = await ask(601, 'same')
    const page = await openPage(demo, `#/runs/${second}`)
    await link(page, 'decide on refund').click()
    await page.getByText('The same was decided before').waitFor()
    await page.getByText(/^Approved by/).waitFor()
  })

  it('that somebody else decides meanwhile say by whom', async () => {
    const id = await ask(401, 'another')
    const page = await openPage(demo, '#/approvals?tenantId=another')
    await page.getByRole('heading', { level: 2, name: titleOf(401) }).waitFor()
    const path = `/v1/agent_executions/${id}/approvals/${await approvalIdOf(id)}`
    await demo.call('POST', path, { body: { decision: 'reject', note: 'Too late.' } })
    await button(page, 'Approve').click()
    await page.getByText('Rejected by').waitFor()
    await page.getByText('Too late.').waitFor()
  })
})

describe('a batch', () => {
  const fileOf = (lines: object[]) => ({
    name: 'lines.ndjson',
    mimeType: 'application/x-ndjson',
    buffer: Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')),
  })
  const line = (customId: string, more = {}) => ({ customId, input: { count: 8, pauseMs: 0, ...more } })

  it('is checked by line, started, followed to its end, saved, retried and deleted', async () => {
    const page = await openPage(demo, '#/batches')
    await button(page, 'Start a batch…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Agent').fill('import-contacts')
    const lines = dialog.getByLabel('Inputs', { exact: true })
    await lines.setInputFiles(fileOf([line('a'), line('b', { count: 'many' })]))
    await dialog.getByLabel('Inputs that do not match the schema').selectOption('true')
    await button(page, 'Check').click()
    await dialog.getByText(/Line 2: \/input\/count/).waitFor()

    await lines.setInputFiles(fileOf([line('a'), line('b', { fail: true }), line('c', { pauseMs: 200 })]))
    await button(page, 'Check').click()
    await button(page, 'Start 3 runs').click()
    await heading(page, /^Batch 01/).waitFor()
    await page.getByText('3 of 3 ended (100%)').waitFor()
    await button(page, 'Failed').click()
    await page.getByRole('row', { name: /^b / }).waitFor()
    expect(await page.getByRole('row', { name: /^a / }).count()).toBe(0)

    const downloading = page.waitForEvent('download')
    await button(page, 'Download results').click()
    const saved = await text(await (await downloading).createReadStream())
    const ids = saved.trim().split('\n')
    expect(ids.map((each) => JSON.parse(each).customId)).toEqual(['a', 'b', 'c'])

    const versionId = await demo.publish('import-contacts', { draft: true })
    await button(page, 'Retry failed…').click()
    await page.getByRole('dialog').getByLabel('Version').selectOption(versionId)
    await button(page, 'Retry failed').click()
    await page.getByText('Retry of').waitFor()
    await page.getByRole('main').getByTitle(versionId).waitFor()
    await page.getByText('1 of 1 ended (100%)').waitFor()
    await button(page, 'Delete…').click()
    await button(page, 'Delete batch').click()
    await heading(page, 'Batches').waitFor()
  })
})

describe('a schedule', () => {
  it('is corrected, created with a preview, paused, edited, run and deleted', async () => {
    const page = await openPage(demo, '#/schedules')
    await button(page, 'Create a schedule…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Agent').fill('import-contacts')
    await dialog.getByLabel('Name').fill('nightly')
    await dialog.getByLabel('Times (cron)').fill('30 25 * * *')
    await dialog.getByLabel('Time zone').fill('America/New_York')
    await dialog.getByRole('textbox', { name: 'Input as JSON' }).fill('{"count": 4}')
    await button(page, 'Create schedule').click()
    await dialog.getByText('The hour "25" is invalid.').waitFor()
    await dialog.getByLabel('Times (cron)').fill('30 2 * * *')
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(5)
    await button(page, 'Create schedule').click()

    await heading(page, 'nightly').waitFor()
    const next = page.getByRole('table', { name: 'Next runs' })
    await next.getByRole('columnheader', { name: 'America/New_York' }).waitFor()
    expect(await next.getByRole('row').count()).toBe(6)
    await button(page, 'Pause…').click()
    await button(page, 'Pause').click()
    await page.getByText('It is paused: no run is due.').waitFor()
    await button(page, 'Edit…').click()
    await dialog.getByLabel('After an outage, run the last missed time').selectOption('Up to a day late')
    await button(page, 'Save schedule').click()
    await page.getByText('Up to a day late').waitFor()

    await link(page, 'Schedules').first().click()
    await link(page, 'nightly').click()
    await button(page, 'Run now…').click()
    await button(page, 'Run now').click()
    await page.waitForURL(/#\/runs\//)
    await page.goBack()
    await button(page, 'Delete…').click()
    await button(page, 'Delete schedule').click()
    await page.getByText('No agent has a schedule yet.').waitFor()
  })
})
