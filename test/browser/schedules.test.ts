import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ScheduleRecord } from '../../lib/api/schemas/schedule-record.ts'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { AGENT_ID, aMe, anAgentRecord, idOf } from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aSchedule } from './stub/work.ts'
import { useBrowser } from './support/browser.ts'
import { button } from './support/page.ts'

const { open } = useBrowser()

describe('a schedule', () => {
  let demo: Demo
  beforeAll(async () => {
    demo = await startDemo()
  })
  afterAll(() => demo?.stop())

  it('is created with a preview, corrected, run, paused, edited and deleted', async () => {
    const page = await open(`${demo.url}/console#token=${demo.token}`)
    await page.goto(`${demo.url}/console#/schedules`)
    await page.getByText('No agent has a schedule yet.').waitFor()
    await button(page, 'Create a schedule…').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Agent').fill('import-contacts')
    await dialog.getByLabel('Name').fill('nightly')
    await dialog.getByLabel('Times (cron)').fill('30 25 * * *')
    await dialog.getByText('The next times appear here').waitFor()
    await dialog.getByLabel('Time zone').fill('America/New_York')
    const editor = dialog.getByRole('textbox', { name: 'Input as JSON' })
    await editor.fill('{"count": 4}')
    await button(page, 'Create schedule').click()
    await dialog.getByText('The hour "25" is invalid.').waitFor()
    await dialog.getByLabel('Times (cron)').fill('30 2 * * *')
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(5)
    await button(page, 'Create schedule').click()

    await page.getByRole('heading', { level: 1, name: 'nightly' }).waitFor()
    const next = page.getByRole('table', { name: 'Next runs' })
    await next
      .getByText(/0?2:30/)
      .first()
      .waitFor()
    await next.getByRole('columnheader', { name: 'America/New_York' }).waitFor()
    expect(await next.getByRole('row').count()).toBe(6)

    await button(page, 'Pause…').click()
    await button(page, 'Pause').click()
    await page.getByText('It is paused: no run is due.').waitFor()
    await button(page, 'Edit…').click()
    await dialog.getByLabel('After an outage, run the last missed time').selectOption('Up to a day late')
    await button(page, 'Save schedule').click()
    await page.getByText('Up to a day late').waitFor()
    await page.getByText('Paused', { exact: true }).waitFor()

    const address = page.url()
    await button(page, 'Run now…').click()
    await button(page, 'Run now').click()
    await page.waitForURL(/#\/runs\//)
    await page.goto(address)
    await button(page, 'Delete…').click()
    await button(page, 'Delete schedule').click()
    await page.getByText('No agent has a schedule yet.').waitFor()
  })

  it('is created with the keyboard only', async () => {
    const page = await open(`${demo.url}/console#token=${demo.token}`)
    await page.goto(`${demo.url}/console#/schedules?agent=redact-pii`)
    await page.getByText('This agent has no schedule.').waitFor()
    await button(page, 'Create a schedule…').focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('Name').focus()
    await page.keyboard.type('typed')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('@daily')
    await page.getByRole('textbox', { name: 'Input as JSON' }).focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('{"content": "Ada"}')
    await button(page, 'Create schedule').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'typed' }).waitFor()
    await page.getByText('@daily').waitFor()
  })
})

describe('schedules', () => {
  let stub: Stub
  let me: object
  let schedules: ScheduleRecord[]
  let asked: string[]
  let openRequests = 0
  let most = 0
  const agents = Array.from({ length: 30 }, (_, index) =>
    anAgentRecord({ id: idOf(50 + index), slug: `agent-${index}` }),
  )

  beforeAll(async () => {
    stub = await startStub({
      'get-me': () => ({ status: 200, body: me }),
      'list-agents': () => ({ status: 200, body: agents }),
      'get-agent': () => ({ status: 200, body: anAgentRecord() }),
      'list-schedules': ({ pathParameters }) => {
        const agent = pathParameters?.agentId ?? ''
        asked.push(agent)
        const body = schedules.filter(({ documentId }) => documentId === agent)
        return { status: 200, body }
      },
      'get-schedule': () => ({ status: 200, body: schedules[0] }),
    })
  })
  afterAll(() => stub?.stop())
  beforeEach(() => {
    me = aMe()
    asked = []
    openRequests = 0
    most = 0
    schedules = [
      aSchedule({ documentId: idOf(53), enabled: false, nextRunAt: null, nextRuns: [], name: 'paused' }),
      aSchedule({ documentId: idOf(70) }),
    ]
  })

  async function openPage(hash: string): Promise<Page> {
    const page = await open(`${stub.url}/console#token=x`)
    await page.goto('about:blank')
    page.on('request', (request) => {
      if (!request.url().includes('/schedules?')) return
      openRequests += 1
      most = Math.max(most, openRequests)
    })
    page.on('requestfinished', (request) => {
      if (request.url().includes('/schedules?')) openRequests -= 1
    })
    await page.goto(`${stub.url}/console${hash}`)
    return page
  }

  it('of all agents are asked for a few at a time, and the page says so', async () => {
    const page = await openPage('#/schedules')
    await page.getByText('2 schedules of 30 agents. The service lists them by agent: 4 are asked').waitFor()
    expect(asked.length).toBe(30)
    expect(most).toBeLessThanOrEqual(4)
    const rows = await page.getByRole('row').allInnerTexts()
    expect(rows.map((text) => /nightly|paused/.exec(text)?.[0])).toEqual([undefined, 'nightly', 'paused'])
    await page.getByText(/0?2:30/).waitFor()
  })

  it('show what became of their times, and offer only what the token may do', async () => {
    me = { ...aMe(), scopes: ['read'] }
    schedules = [
      aSchedule({
        firings: [
          { scheduledFor: '2026-11-26T07:30:00.000Z', status: 'STARTED', executionId: idOf(9), code: null },
          {
            ...{ scheduledFor: '2026-11-25T07:30:00.000Z', status: 'FAILED', executionId: null },
            code: 'AgentArchived',
          },
        ],
      }),
    ]
    const page = await openPage(`#/agents/${AGENT_ID}/schedules/nightly`)
    await page.getByText('Failed to start: AgentArchived').waitFor()
    await page
      .getByRole('link', { name: /^01a20000/ })
      .first()
      .waitFor()
    expect(await button(page, /^(Run now|Pause|Edit|Delete)…$/).count()).toBe(0)
    me = { ...aMe(), tenantId: 'acme' }
    const other = await openPage('#/agents')
    await other.getByText('acme').waitFor()
    expect(await other.getByRole('link', { name: 'Schedules' }).count()).toBe(0)
  })
})
