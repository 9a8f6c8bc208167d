import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AGENT_ID, aMe, anAgentRecord, anExecutionRecord, aVersionRecord, idOf } from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aUsageRow } from './stub/usage.ts'
import { useBrowser } from './support/browser.ts'
import { getLayoutShift, observeLayoutShift } from './support/metrics.ts'

const { open } = useBrowser()
let stub: Stub

beforeAll(async () => {
  stub = await startStub({
    'get-me': () => ({
      status: 200,
      body: { ...aMe(), scopes: ['run', 'read', 'manage', 'review', 'approve'] },
    }),
    'list-agents': () => ({ status: 200, body: [anAgentRecord()] }),
    'get-agent': () => ({ status: 200, body: anAgentRecord() }),
    'list-versions': () => ({ status: 200, body: [aVersionRecord()] }),
    'list-executions': () => ({ status: 200, body: [anExecutionRecord(0)] }),
    'list-agent-executions': () => ({ status: 200, body: [anExecutionRecord(0)] }),
    'get-execution': () => ({ status: 200, body: anExecutionRecord(0) }),
    'list-steps': () => ({ status: 200, body: [] }),
    'get-usage': () => ({ status: 200, body: [aUsageRow({ start: new Date().toISOString() })] }),
    'list-limits': () => ({ status: 200, body: [] }),
  })
})
afterAll(() => stub?.stop())

describe('with the keyboard', () => {
  it('one skips the navigation', async () => {
    const page = await open(`${stub.url}/console#token=x`)
    await page.getByText('approve').waitFor()
    await page.reload()
    await page.getByText('approve').waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    expect(new URL(page.url()).hash).not.toContain('main')
  })

  it.each([
    ['runs', '#/runs'],
    ['agents', '#/agents'],
    ['an agent, whose script is loaded', `#/agents/${AGENT_ID}`],
    ['a run, whose script is loaded', `#/runs/${idOf(1_000_000)}`],
    ['a page that does not exist', '#/nowhere'],
  ])('the focus follows to %s', async (_, hash) => {
    const page = await open(`${stub.url}/console#token=x`)
    await page.getByText('approve').waitFor()
    await page.evaluate(`location.hash = '${hash}'`)
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
  })
})

it('on a phone all links of the sidebar are in reach above the page, and nothing moves when they appear', async () => {
  const page = await open(`${stub.url}/console#token=x`, { isPhone: true })
  await page.getByText('Runs over time').waitFor()
  await observeLayoutShift(page)
  await page.goto('about:blank')
  await page.goto(`${stub.url}/console`)
  await page.getByText('Runs over time').waitFor()
  expect(await getLayoutShift(page)).toBeLessThanOrEqual(0.05)
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
  expect(links.length).toBeGreaterThanOrEqual(4)
  for (const link of links) {
    const box = await link.boundingBox()
    expect(box?.height).toBeGreaterThanOrEqual(24)
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
  }
  const title = await page.getByRole('heading', { level: 1 }).boundingBox()
  expect(title?.y).toBeLessThan(844 / 2)
})
