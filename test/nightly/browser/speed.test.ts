import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { omitLargeStepValues, omitLargeValues } from '../../../lib/contract/omit-values.ts'
import { recordUsage } from '../../browser/demo/fill-demo.ts'
import { connectDemo } from '../../browser/demo/start-demo.ts'
import { pageOf } from '../../browser/stub/plain-answers.ts'
import {
  AGENT_ID,
  aMe,
  anAgentRecord,
  anExecutionRecord,
  aStepRecord,
  aUsageRow,
  aVersionRecord,
  idOf,
} from '../../browser/stub/records.ts'
import { type Stub, startStub } from '../../browser/stub/start-stub.ts'
import { useBrowser } from '../../browser/support/browser.ts'
import { measureTransfer } from '../../browser/support/metrics.ts'

const MAX_FIRST_VIEW_BYTES = 100_000
/** The elements of a page do not grow with the values, runs or steps that it shows. */
const MAX_ELEMENTS = 3_000
const RUNS = 10_000
const LARGE_BYTES = 5_000_000

const { open, openLink } = useBrowser()
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

const runs = Array.from({ length: RUNS }, (_, number) => anExecutionRecord(number))

const MANY_STEPS = idOf(999_999)
const manySteps = Array.from({ length: 500 }, (_, index) =>
  aStepRecord(index + 1, {
    text: `I look up the order ${index}.`,
    toolCalls: [
      { id: 'a', name: 'lookup', input: { index }, result: { found: true }, durationMs: 90 },
      { id: 'b', name: 'notify', input: { index }, error: 'no address', durationMs: 20 },
    ],
  }),
)
const largeStep = () => ({
  status: 200,
  body: [
    aStepRecord(1, { toolCalls: [{ id: 'c', name: 'export', input: {}, result: large, durationMs: 90 }] }),
  ],
})

const LARGE_VALUES = idOf(999_998)
const value = { text: 'x'.repeat(3_000_000) }
const withValues = anExecutionRecord(2, { input: value, output: value })
const valueStep = aStepRecord(1, {
  toolCalls: [{ id: 'c', name: 'export', input: {}, result: value, durationMs: 90 }],
})

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
    'list-executions': (event) => pageOf(runs, event),
    'get-usage': ({ queryStringParameters }) => ({ status: 200, body: usageOf(queryStringParameters ?? {}) }),
    'get-execution': ({ pathParameters, queryStringParameters }) => ({
      status: 200,
      body:
        pathParameters?.executionId === LARGE_VALUES
          ? omitLargeValues(withValues, maxBytesOf(queryStringParameters))
          : pathParameters?.executionId === MANY_STEPS
            ? { ...anExecutionRecord(1), steps: 500 }
            : run,
    }),
    'list-steps': (event) => {
      const { pathParameters, queryStringParameters } = event
      if (pathParameters?.executionId === LARGE_VALUES)
        return { status: 200, body: [omitLargeStepValues(valueStep, maxBytesOf(queryStringParameters))] }
      return pathParameters?.executionId === MANY_STEPS ? pageOf(manySteps, event) : largeStep()
    },
    'stream-events': () => ({
      status: 200,
      stream: `id: 1\nevent: step\ndata: ${JSON.stringify(valueStep)}\n\n`,
      headers: { 'Content-Type': 'text/event-stream' },
    }),
  })
})
afterAll(() => stub?.stop())

const maxBytesOf = (query: { maxValueBytes?: string | undefined } | null) =>
  query?.maxValueBytes === undefined ? undefined : Number(query.maxValueBytes)

/** A page that is signed in, and shows nothing yet. */
async function openBlank(): Promise<Page> {
  const page = await openLink(`${stub.url}/console#token=x`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goto('about:blank')
  return page
}

const countElements = (page: Page) => page.evaluate<number>('document.querySelectorAll("*").length')

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
})

/** Of the token, its agents, the runs in progress, and usage: in all, by agent, by tenant. */
const MAX_REQUESTS = 6
/** The sidebar counts approvals, once it is known that the token may see them. */
const isOfOverview = (url: string) => /\/v1\/(?!approvals)/.test(url) && !isOfAttention(url)

/** What needs attention is asked for once it is known what the token may see. */
const MAX_OF_ATTENTION = 6
const isOfAttention = (url: string) =>
  /\/v1\/(webhooks|batches|limits|usage\?groupBy=(tenant&interval=day|agent(,|%2C)version&interval=hour)|agent_executions\?.*SCHEDULE)/.test(
    url,
  )

it('the overview needs six requests, of which none waits for another', async () => {
  const demo = connectDemo(inject('demo'))
  await recordUsage(demo)
  const page = await openLink(`${demo.url}/console#token=${demo.token}`)
  await page.getByRole('link', { name: 'acme', exact: true }).waitFor()
  await page.goto('about:blank')
  const requests: string[] = []
  const ofAttention: string[] = []
  let answered = 0
  let isSequential = false
  page.on('request', (request) => {
    if (isOfAttention(request.url())) ofAttention.push(request.url())
    if (!isOfOverview(request.url())) return
    requests.push(request.url())
    isSequential ||= answered > 0
  })
  page.on('response', (response) => {
    if (isOfOverview(response.url())) answered += 1
  })
  // Without it, an answer could be there before the next request is sent.
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 },
  })
  await page.goto(`${demo.url}/console`)
  await page.getByRole('link', { name: 'acme', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Order support', exact: true }).first().waitFor()
  await page.locator('.spinner').first().waitFor({ state: 'detached' })
  expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
  expect(isSequential).toBe(false)
  expect(ofAttention.length, ofAttention.join('\n')).toBeLessThanOrEqual(MAX_OF_ATTENTION)
})

it('a run with 3 MB in and out loads them on request', async () => {
  const page = await openBlank()
  const bytes = await measureTransfer(page, async () => {
    await page.goto(`${stub.url}/console#/runs/${LARGE_VALUES}`)
    await page.getByRole('treeitem', { name: /^1\. Model response/ }).waitFor()
    await page.getByRole('button', { name: 'Load the input, 3.0 MB' }).waitFor()
  })
  expect(bytes).toBeLessThan(2 * MAX_FIRST_VIEW_BYTES)
  await page.getByRole('button', { name: 'Load the output, 3.0 MB' }).click()
  await page.getByText('"xxxx').first().waitFor()
  await page.getByRole('treeitem', { name: /^1\. Model response/ }).click()
  await page.getByRole('button', { name: 'export' }).click()
  await page.getByRole('button', { name: 'Load the result of export, 3.0 MB' }).click()
  await page.getByText('"xxxx').first().waitFor()
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

describe('a page has few elements', () => {
  it('of 10,000 runs, wherever one has scrolled to', async () => {
    const page = await openBlank()
    await page.goto(`${stub.url}/console#/runs`)
    await page.getByText(/newest runs/).waitFor()
    await page.evaluate(SCROLL)
    expect(await page.getByRole('link', { name: /^01/ }).count()).toBeLessThan(100)
    await expect.poll(() => page.evaluate(ROW_AT_CENTER)).toBe(true)
    expect(await countElements(page)).toBeLessThan(MAX_ELEMENTS)
  })

  it('with a run of 5 MB input, output and result', async () => {
    const page = await openBlank()
    await page.goto(`${stub.url}/console#/runs/${idOf(1_000_000)}`)
    await page.getByRole('heading', { level: 2, name: 'Input', exact: true }).waitFor()
    const closed = page.locator('main button[aria-expanded=false]')
    await closed.first().waitFor()
    for (const button of await closed.all()) await button.click()
    await page.evaluate('location.hash += "?step=1.1"')
    await page.getByRole('heading', { level: 3, name: 'Result' }).waitFor()
    for (const view of ['Text', 'Markdown', 'JSON'])
      await page.getByRole('button', { name: view, exact: true }).last().click()
    expect(await countElements(page)).toBeLessThan(MAX_ELEMENTS)
  })

  it('with 500 steps of a run, all open, to the last one', async () => {
    const page = await openBlank()
    await page.goto(`${stub.url}/console#/runs/${MANY_STEPS}`)
    await page.getByRole('treeitem', { name: /^1\. Model response/ }).waitFor()
    await page.getByText('Loading more steps…').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Open all' }).click()
    await page
      .getByRole('treeitem', { name: /^lookup/ })
      .first()
      .waitFor()
    await page.evaluate('document.querySelector("[role=tree]").scrollTop = 1e9')
    await page.getByRole('treeitem', { name: /^500\./ }).waitFor()
    expect(await page.getByRole('treeitem').count()).toBeLessThan(100)
  })

  it('with an input of 5 MB in the editor', async () => {
    const page = await openBlank()
    await page.goto(`${stub.url}/console#/agents/${AGENT_ID}/try?from=${idOf(1_000_000)}`)
    await page.getByRole('heading', { level: 2, name: 'Input', exact: true }).waitFor()
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor()
    expect(await countElements(page)).toBeLessThan(MAX_ELEMENTS)
  })
})
