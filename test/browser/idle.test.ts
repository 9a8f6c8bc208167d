import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toBill, totalOf } from '../../bench/costs/prices.ts'
import { ownMilliseconds } from '../../bench/costs/usage.ts'
import { getFunctionSettings } from '../../infra/functions/function-settings.ts'
import { aMe, anAgentRecord, anExecutionRecord } from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { useBrowser } from './support/browser.ts'
import { measureTransfer } from './support/metrics.ts'

const MAX_DOLLARS = 1
const MINUTE = 60_000
const MINUTES_PER_MONTH = 30 * 24 * 60

/** Read units of a page of 50, and of a list to which nothing was added: see test/dynamodb/executions/list-costs. */
const [PAGE_UNITS, NOTHING_UNITS, OPEN_UNITS] = [58, 5, 25]
const STATUS_AND_HEADER_BYTES = 600

const { open } = useBrowser()
let stub: Stub
let hasOpenRun = false
const openRun = anExecutionRecord(5_000, { status: 'IN_PROGRESS', finishedAt: null, output: null })

beforeAll(async () => {
  stub = await startStub({
    'get-me': () => ({ status: 200, body: aMe() }),
    'list-agents': () => ({ status: 200, body: [anAgentRecord()] }),
    'list-executions': ({ queryStringParameters }) => {
      const { from, status, limit } = queryStringParameters ?? {}
      const isRecent = from !== undefined && Date.parse(from) > Date.now() - 2 * MINUTE
      const all = Array.from({ length: Number(limit) }, (_, number) => anExecutionRecord(number))
      if (status === 'IN_PROGRESS') return { status: 200, body: [openRun] }
      if (isRecent) return { status: 200, body: [] }
      return { status: 200, body: hasOpenRun && limit === '100' ? [...all, openRun] : all }
    },
  })
})
afterAll(() => stub?.stop())

type Asked = { units: number }

/** What the page asks for in some minutes of a clock of its own, in which nobody does anything. */
async function idle(page: Page, minutes: number, asked: Asked[]): Promise<void> {
  let pending = 0
  page.on('request', (request) => {
    pending += 1
    const { searchParams } = new URL(request.url())
    const isOpen = searchParams.get('status') === 'IN_PROGRESS'
    asked.push({ units: isOpen ? OPEN_UNITS : searchParams.has('from') ? NOTHING_UNITS : PAGE_UNITS })
  })
  const finish = () => {
    pending -= 1
  }
  page.on('requestfinished', finish)
  page.on('requestfailed', finish)
  for (let passed = 0; passed < minutes * MINUTE; passed += 3_000) {
    await page.clock.runFor(3_000)
    await expect.poll(() => pending, { interval: 5 }).toBe(0)
  }
}

async function openRuns(): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`)
  await page.clock.install()
  await page.goto(`${stub.url}/console#/runs`)
  await page.getByText(/^10[01] runs/).waitFor()
  return page
}

/** Dollars of a month, of so many minutes like these. */
function priceOf(asked: Asked[], bodyBytes: number, minutes: number): number {
  const requests = asked.length
  const seconds = ownMilliseconds(2) / 1_000
  const bill = toBill({
    ...{ apiRequests: requests, invocations: requests, writeUnits: 0, queueRequests: 0, messages: 0 },
    gigabyteSeconds: (requests * seconds * getFunctionSettings('list-executions').memoryMb) / 1_024,
    readUnits: asked.reduce((sum, { units }) => sum + units, 0),
    logBytes: requests * 900,
    traces: requests * 0.05,
    sentBytes: bodyBytes + requests * STATUS_AND_HEADER_BYTES,
  })
  return (totalOf(bill) * MINUTES_PER_MONTH) / minutes
}

describe('a tab that nobody looks at costs at most $1 a month', () => {
  it.each([
    ['in which nothing happens', false],
    ['with a run that never ends', true],
  ])('the list of runs, %s', { timeout: 180_000 }, async (name, isOpen) => {
    hasOpenRun = isOpen
    const page = await openRuns()
    await idle(page, 3, [])
    const asked: Asked[] = []
    const minutes = 20
    const bytes = await measureTransfer(page, () => idle(page, minutes, asked))
    const dollars = priceOf(asked, bytes, minutes)
    const perHour = (amount: number) => Math.round((amount * 60) / minutes)
    console.log(
      `${name}: ${perHour(asked.length)} requests and ${perHour(bytes)} bytes an hour, $${dollars.toFixed(2)} a month`,
    )
    expect(asked.length).toBeGreaterThanOrEqual(minutes)
    expect(dollars).toBeLessThanOrEqual(MAX_DOLLARS)
  })

  it('a hidden one asks nothing, and asks at once when it is shown', async () => {
    hasOpenRun = false
    const page = await openRuns()
    const show = (isHidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    await show(true)
    const asked: Asked[] = []
    await idle(page, 10, asked)
    expect(asked).toEqual([])
    const request = page.waitForRequest(/agent_executions/)
    await show(false)
    await page.clock.runFor(10)
    await request
  })
})
