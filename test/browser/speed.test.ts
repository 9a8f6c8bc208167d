import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordUsage } from './demo/record-usage.ts'
import { startDemo } from './demo/start-demo.ts'
import {
  AGENT_ID,
  aMe,
  anAgentRecord,
  anExecutionRecord,
  aStepRecord,
  aVersionRecord,
  idOf,
} from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aUsageRow } from './stub/usage.ts'
import { useBrowser } from './support/browser.ts'
import { measureTransfer } from './support/metrics.ts'
import { traceWork, type Work } from './support/trace.ts'

const MAX_TASK_MS = 200
const MAX_FIRST_VIEW_BYTES = 100_000
const MAX_FIRST_VIEW_SCRIPT_MS = 300
const RUNS = 10_000
const LARGE_BYTES = 5_000_000

/** Other processes of the machine disturb a measurement, but never make it better. */
const ATTEMPTS = 3

const { open } = useBrowser()
let stub: Stub

/** About 5 MB of JSON: many small values, and a long text. */
const large = {
  rows: Array.from({ length: 34_000 }, (_, id) => ({
    id,
    name: `Customer ${id}`,
    tags: ['a', 'b'],
    note: 'x'.repeat(40),
  })),
  text: 'All work and no play makes Jack a dull boy.\n'.repeat(35_000),
}

/** A day by hour, of 40 groups. */
const usageOf = ({ from, groupBy }: Partial<Record<string, string>>) =>
  Array.from({ length: 24 }, (_, hour) => {
    const start = new Date(Date.parse(from ?? '') + hour * 3_600_000).toISOString()
    return Array.from({ length: groupBy ? 40 : 1 }, (_, index) =>
      aUsageRow({
        start,
        agentId: idOf(index + 2),
        tenantId: `tenant-${index}`,
        errors: { TimedOut: index },
      }),
    )
  }).flat()

beforeAll(async () => {
  expect(JSON.stringify(large).length).toBeGreaterThan(LARGE_BYTES)
  const run = anExecutionRecord(0, { input: large, output: large, logs: 'a log line\n'.repeat(1_400) })
  stub = await startStub({
    'get-me': () => ({ status: 200, body: aMe() }),
    'list-agents': () => ({ status: 200, body: [anAgentRecord()] }),
    'get-agent': () => ({ status: 200, body: anAgentRecord() }),
    'list-versions': () => ({ status: 200, body: [aVersionRecord()] }),
    'list-executions': ({ queryStringParameters }) => {
      const limit = Number(queryStringParameters?.limit ?? 50)
      const start = Number(queryStringParameters?.cursor ?? 0)
      const body = Array.from({ length: Math.min(limit, RUNS - start) }, (_, index) =>
        anExecutionRecord(start + index),
      )
      const next = `</v1/agent_executions?limit=${limit}&cursor=${start + limit}>; rel="next"`
      return { status: 200, body, ...(start + limit < RUNS && { headers: { Link: next } }) }
    },
    'get-usage': ({ queryStringParameters }) => ({ status: 200, body: usageOf(queryStringParameters ?? {}) }),
    'get-execution': () => ({ status: 200, body: run }),
    'list-steps': () => ({
      status: 200,
      body: [
        aStepRecord(1, {
          toolCalls: [{ id: 'c', name: 'export', input: {}, result: large, durationMs: 90 }],
        }),
      ],
    }),
  })
})
afterAll(() => stub?.stop())

/** A page that is signed in, and shows nothing yet. */
async function openBlank(): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goto('about:blank')
  return page
}

/** @returns the best of several measurements, which end as soon as one is good enough */
async function best(max: number, name: keyof Work, measure: () => Promise<Work>): Promise<number> {
  const found: number[] = []
  while (found.length < ATTEMPTS && !found.some((value) => value <= max)) found.push((await measure())[name])
  console.log(`${expect.getState().currentTestName}: ${found.join(', ')} ms`)
  return Math.min(...found)
}

describe('the first view', () => {
  it('transfers at most 100 kB', async () => {
    const page = await open(`${stub.url}/console`)
    const bytes = await measureTransfer(page, async () => {
      await page.goto(`${stub.url}/console`)
      await page.getByLabel('API token').waitFor()
      await page.waitForLoadState('networkidle')
    })
    console.log(`first view: ${bytes} bytes`)
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThanOrEqual(MAX_FIRST_VIEW_BYTES)
  })

  it('takes at most 300 ms of script, up to the charts of the overview', async () => {
    const ms = await best(MAX_FIRST_VIEW_SCRIPT_MS, 'scriptMs', async () => {
      const page = await openBlank()
      return traceWork(page, async () => {
        await page.goto(`${stub.url}/console`)
        await page.getByRole('link', { name: 'tenant-0', exact: true }).waitFor()
      })
    })
    expect(ms).toBeLessThanOrEqual(MAX_FIRST_VIEW_SCRIPT_MS)
  })
})

/** Of the issue: 400 ms and 50 kB/s. */
const SLOW_NETWORK = {
  offline: false,
  latency: 400,
  downloadThroughput: 50_000,
  uploadThroughput: 50_000,
}
const MAX_SLOW_MS = 3_000
/** Of the token, its agents, the runs in progress, and usage: in all, by agent, by tenant. */
const MAX_REQUESTS = 6
/** The sidebar counts approvals, once it is known that the token may see them. */
const isOfOverview = (url: string) => /\/v1\/(?!approvals)/.test(url)

describe('on a slow network', () => {
  it('the overview is complete within 3 s, with six requests of which none waits for another', async () => {
    const demo = await startDemo()
    try {
      await recordUsage(demo)
      const found: number[] = []
      while (found.length < ATTEMPTS && !found.some((ms) => ms <= MAX_SLOW_MS)) {
        const page = await open(`${demo.url}/console#token=${demo.token}`)
        await page.getByRole('link', { name: 'acme', exact: true }).waitFor()
        await page.goto('about:blank')
        const session = await page.context().newCDPSession(page)
        await session.send('Network.enable')
        await session.send('Network.setCacheDisabled', { cacheDisabled: true })
        await session.send('Network.emulateNetworkConditions', SLOW_NETWORK)
        const requests: string[] = []
        let answered = 0
        let isSequential = false
        page.on('request', (request) => {
          if (!isOfOverview(request.url())) return
          requests.push(request.url())
          isSequential ||= answered > 0
        })
        page.on('response', (response) => {
          if (isOfOverview(response.url())) answered += 1
        })
        const start = performance.now()
        await page.goto(`${demo.url}/console`)
        await page.getByRole('link', { name: 'acme', exact: true }).waitFor()
        await page.getByRole('link', { name: 'Order support', exact: true }).first().waitFor()
        await page.locator('.spinner').first().waitFor({ state: 'detached' })
        found.push(performance.now() - start)
        expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
        expect(isSequential).toBe(false)
        await page.close()
      }
      console.log(`overview on a slow network: ${found.map(Math.round).join(', ')} ms`)
      expect(Math.min(...found)).toBeLessThanOrEqual(MAX_SLOW_MS)
    } finally {
      await demo.stop()
    }
  })
})

/** Scrolls to the end in every frame until all runs are listed, then to places all over the list. */
const SCROLL = `new Promise((resolve) => {
  const list = document.documentElement
  let jumps = 0
  requestAnimationFrame(function step() {
    const isComplete = document.querySelector('main').textContent.includes('10,000 runs')
    if (isComplete && ++jumps > 100) return resolve()
    window.scrollTo(0, isComplete ? (list.scrollHeight * ((jumps * 37) % 100)) / 100 : list.scrollHeight)
    requestAnimationFrame(step)
  })
})`

/** Whether the window shows a run where it is after the last jump, not an empty part of the list. */
const ROW_AT_CENTER = `document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('.run-row') !== null`

describe('no task takes over 200 ms', () => {
  it('while one scrolls 10,000 runs', { timeout: 240_000 }, async () => {
    const ms = await best(MAX_TASK_MS, 'longestTaskMs', async () => {
      const page = await openBlank()
      await page.goto(`${stub.url}/console#/runs`)
      await page.getByText(/newest runs/).waitFor()
      const work = await traceWork(page, () => page.evaluate(SCROLL))
      const rows = page.getByRole('link', { name: /^01/ })
      expect(await rows.count()).toBeLessThan(100)
      await expect.poll(() => page.evaluate(ROW_AT_CENTER)).toBe(true)
      return work
    })
    expect(ms).toBeLessThanOrEqual(MAX_TASK_MS)
  })

  it('with a run of 5 MB input, output and result', async () => {
    const ms = await best(MAX_TASK_MS, 'longestTaskMs', async () => {
      const page = await openBlank()
      return traceWork(page, async () => {
        await page.goto(`${stub.url}/console#/runs/${idOf(1_000_000)}`)
        await page.getByRole('heading', { level: 2, name: 'Input', exact: true }).waitFor()
        const closed = page.locator('main button[aria-expanded=false]')
        await closed.first().waitFor()
        for (const button of await closed.all()) await button.click()
      })
    })
    expect(ms).toBeLessThanOrEqual(MAX_TASK_MS)
  })

  it('with an input of 5 MB in the editor', async () => {
    const ms = await best(MAX_TASK_MS, 'longestTaskMs', async () => {
      const page = await openBlank()
      return traceWork(page, async () => {
        await page.goto(`${stub.url}/console#/agents/${AGENT_ID}/try?from=${idOf(1_000_000)}`)
        await page.getByRole('heading', { level: 2, name: 'Input', exact: true }).waitFor()
        await page.getByRole('button', { name: 'JSON', exact: true }).click()
        await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
      })
    })
    expect(ms).toBeLessThanOrEqual(MAX_TASK_MS)
  })
})
