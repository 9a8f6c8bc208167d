import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExecutionRecord, StepRecord } from '../../lib/api/schemas/execution-record.ts'
import { aMe, anAgentRecord, anExecutionRecord, aStepRecord, idOf } from './stub/records.ts'
import { pageOf } from './stub/responses.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { useBrowser } from './support/browser.ts'

const { open } = useBrowser()

const call = (name: string, overrides = {}) => ({
  ...{ id: name, name, input: { orderId: 'A-1' }, result: { found: true }, durationMs: 90 },
  ...overrides,
})

const MARKDOWN =
  '# Refund\n\n**Approved** for [the order](https://shop.example/A-1), not [this](javascript:alert(1)).'

/** Seven responses with calls, and long values in all of them. */
const steps: StepRecord[] = Array.from({ length: 7 }, (_, index) =>
  aStepRecord(index + 1, {
    text: index === 3 ? MARKDOWN : `I look at part ${index + 1}. `.repeat(60),
    attempt: index > 4 ? 2 : 1,
    toolCalls: [
      call('get_order', { id: 'a', result: { rows: Array.from({ length: 40 }, (_, row) => ({ row })) } }),
      call('get_shipment', {
        id: 'b',
        ...(index === 2 && { result: undefined, error: 'There is no shipment of A-1.' }),
      }),
    ],
  }),
)
const run = anExecutionRecord(0, {
  ...{
    steps: 7,
    attempts: 2,
    draft: true,
    source: 'TRIAL',
    trialId: idOf(70),
    originalExecutionId: idOf(71),
  },
  input: { text: 'x'.repeat(3_000), lines: Array.from({ length: 200 }, (_, line) => ({ line })) },
  output: { lines: Array.from({ length: 200 }, (_, line) => ({ line })) },
})

const CANCELLED = idOf(11)
const CODE = idOf(12)
const LIVE = idOf(13)
const codeSteps = Array.from({ length: 200 }, (_, index) => {
  const { text, toolCalls, stopReason, usage, costUsd, ...step } = aStepRecord(index + 1)
  return { ...step, name: `page ${index + 1}`, result: index }
})
const others: Record<string, Partial<ExecutionRecord>> = {
  [CANCELLED]: {
    ...{ status: 'ERROR', output: null, steps: 0, source: 'AGENT', parentExecutionId: idOf(71) },
    error: { code: 'Cancelled', message: 'The execution was cancelled on request.' },
  },
  [CODE]: {
    ...{ status: 'ERROR', output: null, steps: 200, model: null, costUsd: 0 },
    error: { code: 'AgentFailed', message: 'The address book is locked.' },
  },
  [LIVE]: { status: 'IN_PROGRESS', output: null, finishedAt: null, steps: 0, model: null, costUsd: 0 },
}

/** Grows by a step for each stream that is opened. */
let liveSteps = 0
const liveEvents = () => {
  liveSteps += 30
  const sent = Array.from({ length: liveSteps }, (_, index) =>
    aStepRecord(index + 1, { model: 'openai/gpt-5' }),
  )
  return sent.map((step) => `id: ${step.number}\nevent: step\ndata: ${JSON.stringify(step)}\n\n`).join('')
}

let stub: Stub
beforeAll(async () => {
  stub = await startStub({
    'get-me': () => ({ status: 200, body: aMe() }),
    'list-agents': () => ({ status: 200, body: [anAgentRecord({ draftVersionId: idOf(3) })] }),
    'get-execution': ({ pathParameters }) => {
      const id = pathParameters?.executionId ?? ''
      return {
        status: 200,
        body: { ...run, id, ...(others[id] && { ...anExecutionRecord(1), id, ...others[id] }) },
      }
    },
    'list-steps': (event) => {
      const id = event.pathParameters?.executionId ?? ''
      return pageOf(id === CODE ? codeSteps : others[id] ? [] : steps, event)
    },
    'stream-events': () => ({
      status: 200,
      stream: liveEvents(),
      headers: { 'Content-Type': 'text/event-stream' },
    }),
  })
})
afterAll(() => stub?.stop())

const RUN = `#/runs/${idOf(10)}`

async function openRun(hash: string): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`)
  await page.setViewportSize({ width: 1400, height: 900 })
  await page.goto(`${stub.url}/console${hash}`)
  await page.getByRole('tree').waitFor()
  return page
}

const row = (page: Page, name: RegExp) => page.getByRole('treeitem', { name }).first()
const selected = (page: Page) => page.locator('[role=treeitem][aria-selected=true]')

describe('the page of a run of 7 steps', () => {
  it('fits two screens, with every item of it as with the run', async () => {
    const page = await openRun(RUN)
    await row(page, /^7\./).waitFor()
    for (const step of ['', '?step=1', '?step=1.1', '?step=3.2', '?step=attempt-2']) {
      await page.evaluate(`location.hash = ${JSON.stringify(RUN + step)}`)
      await page.getByRole('region', { name: step ? /^Detail of/ : 'The run' }).waitFor()
      const height: number = await page.evaluate('document.documentElement.scrollHeight')
      expect(height, step).toBeLessThanOrEqual(1_800)
    }
  })

  it('opens what its address names', async () => {
    const page = await openRun(`${RUN}?step=4.2`)
    await page.getByRole('heading', { level: 2, name: '4.2 get_shipment' }).waitFor()
    expect(await selected(page).textContent()).toContain('get_shipment')
    const missing = await openRun(`${RUN}?step=40`)
    await missing.getByText('The run has no step 40.').waitFor()
  })

  it('leads to the first error', async () => {
    const page = await openRun(RUN)
    await page.getByRole('button', { name: 'First error' }).click()
    await page.getByText('There is no shipment of A-1.').waitFor()
    await expect.poll(() => page.url()).toContain('?step=3.2')
  })

  it('is used with the keyboard alone', async () => {
    const page = await openRun(RUN)
    await row(page, /^7\./).waitFor()
    await page.getByRole('tree').focus()
    await page.keyboard.press('End')
    await expect.poll(() => selected(page).textContent()).toMatch(/^.?7\./)
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.url()).toContain('?step=1.1')
    await page.getByRole('heading', { level: 2, name: '1.1 get_order' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => selected(page).getAttribute('aria-expanded')).toBe('false')
    expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('tree')
    const active = await page.getByRole('tree').getAttribute('aria-activedescendant')
    expect(await selected(page).getAttribute('id')).toBe(active)
  })

  it('finds names, texts and errors', async () => {
    const page = await openRun(RUN)
    await row(page, /^7\./).waitFor()
    const search = page.getByRole('searchbox', { name: 'Search this run' })
    await search.fill('no shipment')
    await search.press('Enter')
    await expect.poll(() => page.url()).toContain('?step=3.2')
    await search.fill('part 1')
    await search.press('Enter')
    await expect.poll(() => page.url()).toMatch(/\?step=1$/)
    await search.fill('get_order')
    await page.getByRole('search').getByText('7', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Next match' }).click()
    await page.getByText('1 of 7').waitFor()
    await page.getByRole('button', { name: 'Previous match' }).click()
    await page.getByText('7 of 7').waitFor()
    await search.fill('nowhere')
    await page.getByText('None', { exact: true }).waitFor()
  })

  it('shows a text as it is, as Markdown and as JSON', async () => {
    const page = await openRun(`${RUN}?step=4`)
    await page.getByText('# Refund').waitFor()
    await page.getByRole('button', { name: 'Markdown' }).click()
    await page.locator('strong', { hasText: 'Approved' }).waitFor()
    const link = page.getByRole('link', { name: 'the order' })
    expect(await link.getAttribute('href')).toBe('https://shop.example/A-1')
    expect(await link.getAttribute('rel')).toBe('noreferrer')
    expect(await page.getByRole('link', { name: 'this' }).count()).toBe(0)
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.getByText('"# Refund\\n\\n').waitFor()
  })

  it('says where it comes from', async () => {
    const page = await openRun(RUN)
    await page.getByText('Draft', { exact: true }).waitFor()
    expect(await page.locator(`a[href="#/trials/${idOf(70)}"]`).count()).toBe(1)
    expect(await page.locator(`a[href="#/runs/${idOf(71)}"]`).count()).toBe(1)
    expect(await page.locator('a[href*="/versions/"]').count()).toBe(1)
  })
})

describe('other runs', () => {
  it('are not failed if they were cancelled', async () => {
    const page = await openRun(`#/runs/${CANCELLED}`)
    await page.locator('.badge-cancelled', { hasText: 'Cancelled' }).waitFor()
    await page.getByText('Sub-agent', { exact: true }).waitFor()
    expect(await page.locator('.error-box, .badge-error, .trace-is-failed').count()).toBe(0)
  })

  it('of code agents have their steps, and end with the error', async () => {
    const page = await openRun(`#/runs/${CODE}`)
    await page.locator('dt:text-is("Steps") + dd', { hasText: '200' }).waitFor()
    await row(page, /^1\. page 1/).waitFor()
    await page.getByRole('tree').focus()
    await page.getByText('Loading more steps…').waitFor({ state: 'detached' })
    await page.keyboard.press('End')
    await expect.poll(() => page.url()).toContain('?step=error')
    await row(page, /^200\. page 200/).waitFor()
    await page.keyboard.press('Home')
    const color = await page.evaluate(
      'getComputedStyle(document.querySelector(".trace-run .trace-bar")).backgroundColor',
    )
    // `--danger`
    expect(color).toBe('rgb(177, 38, 26)')
  })

  it('in progress show their newest step until the user scrolls, and what they have used', async () => {
    liveSteps = 0
    const page = await openRun(`#/runs/${LIVE}`)
    await row(page, /^30\. Model response/).waitFor()
    await page.locator('dt:text-is("Input tokens") + dd', { hasText: '36,000' }).waitFor()
    await page.locator('dt:text-is("Model") + dd', { hasText: 'openai/gpt-5' }).waitFor()
    await row(page, /^60\. Model response/).waitFor()
    await row(page, /^1\. /).waitFor({ state: 'detached' })
    await page.evaluate('document.querySelector("[role=tree]").scrollTop = 0')
    await page.getByRole('button', { name: 'Follow' }).waitFor()
    const count = liveSteps
    await expect.poll(() => liveSteps, { timeout: 20_000 }).toBeGreaterThan(count)
    await row(page, /^1\. /).waitFor()
    await page.getByRole('button', { name: 'Follow' }).click()
    await row(page, /^1\. /).waitFor({ state: 'detached' })
  })
})
