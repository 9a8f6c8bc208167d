import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { HttpResponse } from '../../lib/http/event.ts'
import {
  AGENT_ID,
  aMe,
  anAgentRecord,
  anExecutionRecord,
  aVersionRecord,
  aVersionWithDocument,
  idOf,
  VERSION_ID,
} from './stub/records.ts'
import { problem } from './stub/responses.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { aLimitsRecord, aUsageRow } from './stub/usage.ts'
import { findViolations } from './support/axe.ts'
import { useBrowser } from './support/browser.ts'
import { getOverflow } from './support/page.ts'

const { open } = useBrowser()

const RUN = idOf(1_000_000)
const [BATCH, TRIAL, WEBHOOK, OLD_VERSION, UNKNOWN] = [10, 11, 12, 13, 99].map(idOf) as [
  string,
  string,
  string,
  string,
  string,
]
const APPROVAL = '4b227777d4dd1fc61c6f884f48641d02'
const OTHER_AGENT = idOf(6)
const HOSTILE = '<img src=x onerror=alert(1)>\u202egnp.exe'

let stub: Stub
let me: object
let requested: string[]
let isInterrupted: boolean

const found = (id: string | undefined, wanted: string, body: object): HttpResponse => {
  requested.push(String(id))
  return isInterrupted ? problem(500) : id === wanted ? { status: 200, body } : problem(404)
}

beforeAll(async () => {
  const agents = [
    anAgentRecord(),
    anAgentRecord({
      id: OTHER_AGENT,
      slug: 'redact-pii',
      title: `Redact ${HOSTILE}`,
      currentVersionId: idOf(7),
    }),
  ]
  stub = await startStub({
    'check-health': () => ({ status: 200, body: { success: true } }),
    'get-me': () => ({ status: 200, body: me }),
    'list-agents': () => ({ status: 200, body: agents }),
    'get-agent': ({ pathParameters }) =>
      pathParameters?.agentId === 'triage-ticket'
        ? { status: 200, body: agents[0] }
        : found(pathParameters?.agentId, AGENT_ID, agents[0] ?? {}),
    'list-versions': () => ({ status: 200, body: [aVersionRecord()] }),
    'get-version': ({ pathParameters }) =>
      pathParameters?.agentId === OTHER_AGENT
        ? found(pathParameters?.versionId, OLD_VERSION, aVersionWithDocument({ id: OLD_VERSION }))
        : problem(404),
    'list-executions': ({ queryStringParameters }) => {
      const { from, fields, status } = queryStringParameters ?? {}
      if (status) return { status: 200, body: [] }
      requested.push(`${from} ${fields}`)
      return isInterrupted
        ? problem(500)
        : { status: 200, body: [anExecutionRecord(1), anExecutionRecord(0)] }
    },
    'list-agent-executions': () => ({ status: 200, body: [] }),
    'get-execution': () => ({ status: 200, body: anExecutionRecord(0) }),
    'list-steps': () => ({ status: 200, body: [] }),
    'get-usage': () => ({
      status: 200,
      body: [
        aUsageRow({
          start: new Date().toISOString(),
          agentId: AGENT_ID,
          tenantId: 'acme',
          errors: { ModelTimeout: 2 },
        }),
      ],
    }),
    'list-limits': () => ({ status: 200, body: [aLimitsRecord('globex')] }),
    'get-batch': ({ pathParameters }) =>
      found(pathParameters?.batchId, BATCH, { documentId: AGENT_ID, status: 'ENDED', lines: 1 }),
    'get-trial': ({ pathParameters }) =>
      found(pathParameters?.trialId, TRIAL, { documentId: AGENT_ID, status: 'IN_PROGRESS', lines: 200 }),
    'get-webhook': ({ pathParameters }) =>
      found(pathParameters?.webhookId, WEBHOOK, { url: 'https://hooks.example/aes' }),
    'list-approvals': () => ({
      status: 200,
      body: [{ id: APPROVAL, executionId: RUN, title: HOSTILE, name: 'refund' }],
    }),
  })
})
afterAll(() => stub?.stop())

beforeEach(() => {
  me = aMe()
  requested = []
  isInterrupted = false
})

async function openConsole(hash = '#/'): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`)
  await page.getByText('read, manage').waitFor()
  await page.evaluate(`location.hash = '${hash}'`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

const field = (page: Page) => page.getByRole('combobox', { name: /^Search/ })
const options = (page: Page) => page.getByRole('option')
const note = (page: Page) => page.getByRole('dialog').getByRole('status')

async function search(page: Page, text: string): Promise<void> {
  if ((await field(page).count()) === 0) await page.keyboard.press('/')
  await field(page).waitFor()
  await field(page).fill(text)
}

describe('the search opens', () => {
  it.each([
    ['/', (page: Page) => page.keyboard.press('/')],
    ['Ctrl-K', (page: Page) => page.keyboard.press('Control+k')],
    ['its button', (page: Page) => page.getByRole('button', { name: 'Search', exact: true }).click()],
  ])('by %s, and Escape returns the focus', async (_, act) => {
    const page = await openConsole()
    const button = page.getByRole('button', { name: 'Search', exact: true })
    await button.focus()
    await act(page)
    await field(page).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('combobox')
    expect(await field(page).inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.className')).toBe('search-button')
  })

  it('not while one types "/" into a field, and not above another dialog', async () => {
    const page = await openConsole('#/agents')
    const input = page.getByRole('searchbox')
    await input.focus()
    await page.keyboard.type('a/b')
    expect(await input.inputValue()).toBe('a/b')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.evaluate(`location.hash = '#token=another'`)
    await page.getByRole('dialog', { name: 'Sign in with another token?' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.press('Control+k')
    expect(await page.getByRole('dialog').count()).toBe(1)
  })

  it('and the whole page is dimmed, to its right edge', async () => {
    const page = await openConsole('#/agents')
    await search(page, 'x')
    const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
    const pixel = (x: number) => page.screenshot({ clip: { x, y: height - 20, width: 1, height: 1 } })
    expect(await pixel(width - 1)).toEqual(await pixel(width - 40))
  })

  it('loads its script only then', async () => {
    const page = await openConsole()
    await page.waitForLoadState('networkidle')
    const scripts: string[] = []
    page.on('request', (request) => request.url().endsWith('.js') && scripts.push(request.url()))
    await page.keyboard.press('/')
    await field(page).waitFor()
    expect(scripts.length).toBeGreaterThan(0)
  })
})

describe('an ID', () => {
  it.each([
    ['run', RUN, /^Run.*Triage ticket, success/, `#/runs/${RUN}`],
    ['agent', AGENT_ID, /^Agent\s*Triage ticket/, '#/agents/triage-ticket'],
    [
      'current version',
      VERSION_ID,
      /^Version\s*Triage ticket.*current/,
      `#/agents/triage-ticket/versions/${VERSION_ID}`,
    ],
    ['older version', OLD_VERSION, /^Version\s*Redact/, `#/agents/redact-pii/versions/${OLD_VERSION}`],
    ['batch', BATCH, /^Batch.*1 line, ended/, `#/batches/${BATCH}`],
    ['trial', TRIAL, /^Trial.*200 runs, in progress/, `#/trials/${TRIAL}`],
    ['webhook', WEBHOOK, /^Webhook\s*https:\/\/hooks.example\/aes/, `#/webhooks/${WEBHOOK}`],
    ['approval', APPROVAL, /^Approval/, `#/approvals?item=${RUN}.${APPROVAL}`],
  ])('of a %s is found', async (_, id, name, href) => {
    const page = await openConsole()
    await search(page, id)
    const option = page.getByRole('option', { name })
    await option.waitFor()
    expect(await options(page).count()).toBe(1)
    expect(await option.getAttribute('href')).toBe(href)
  })

  it.each([
    ['in capitals', RUN.toUpperCase()],
    ['with spaces and quotes', ` "${RUN}" `],
    ['within a URL', `${'https://agents.example.com'}/console#/runs/${RUN}`],
  ])('works %s, with the keyboard only', async (_, text) => {
    const page = await openConsole()
    await page.keyboard.press('/')
    await field(page).and(page.locator(':focus')).waitFor()
    await page.keyboard.insertText(text)
    await page.getByRole('option', { name: /^Run/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText(RUN).first().waitFor()
    expect(page.url()).toContain(`#/runs/${RUN}`)
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
  })

  it('is looked for without reading payloads', async () => {
    const page = await openConsole()
    await search(page, RUN)
    await page.getByRole('option', { name: /^Run/ }).waitFor()
    expect(requested).toContain(`${new Date(0x01a200000000).toISOString()} summary`)
  })

  it('that is unknown says where it looked', async () => {
    const page = await openConsole()
    await search(page, UNKNOWN)
    await expect
      .poll(() => note(page).textContent())
      .toMatch(/^Not found among .*runs.*\. It may have been deleted, or this token may not see it\.$/)
    const text = (await note(page).textContent()) ?? ''
    for (const place of ['runs', 'agents', 'versions', 'batches', 'trials', 'webhooks'])
      expect(text).toContain(place)
    expect(await options(page).count()).toBe(0)
  })

  it('is looked for again after a failure', async () => {
    const page = await openConsole()
    isInterrupted = true
    await search(page, BATCH)
    await expect.poll(() => note(page).textContent()).toContain('Could not look among')
    isInterrupted = false
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('option', { name: /^Batch/ }).waitFor()
  })

  it('is looked for only where the token may read', async () => {
    me = { ...aMe(), scopes: ['read', 'manage'], tenantId: 'acme' }
    const page = await openConsole()
    await search(page, TRIAL)
    await expect.poll(() => note(page).textContent()).toMatch(/^Not found among/)
    expect(await note(page).textContent()).not.toMatch(/trials|webhooks/)
  })
})

describe('names', () => {
  it('of agents, tenants and pages are found, and the arrows choose one', async () => {
    const page = await openConsole()
    await search(page, 'e')
    await page.getByRole('option', { name: /^Agent\s*Triage ticket/ }).waitFor()
    await page.getByRole('option', { name: /^Page\s*Overview/ }).waitFor()
    await page.getByRole('option', { name: /^Tenant\s*globex/ }).waitFor()
    const active = () => page.getByRole('option', { selected: true }).textContent()
    const all = await options(page).allTextContents()
    expect(await active()).toBe(all[0])
    await page.keyboard.press('ArrowUp')
    expect(await active()).toBe(all.at(-1))
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await active()).toBe(all[1])
    const activeId = await field(page).getAttribute('aria-activedescendant')
    expect(await page.locator(`[id="${activeId}"]`).textContent()).toBe(all[1])
    await search(page, 'ACME')
    await page.getByRole('option', { name: /^Tenant\s*acme/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'acme' }).waitFor()
  })

  it('of errors lead to the runs that failed with them', async () => {
    const page = await openConsole()
    await search(page, 'timeout')
    await page
      .getByRole('option', { name: /^Runs\s*ModelTimeout\s*Runs with this error code in the last/ })
      .click()
    await page.waitForURL(/#\/runs\?status=ERROR&errorCode=ModelTimeout&period=7d$/)
    expect(await page.getByLabel('Error code').inputValue()).toBe('ModelTimeout')
    // Of another time, too.
    await search(page, 'AgentFailed')
    await page.getByRole('option', { name: /^Runs\s*AgentFailed\s*Runs with this error code$/ }).click()
    await page.waitForURL(/#\/runs\?status=ERROR&errorCode=AgentFailed$/)
    await search(page, 'Triage')
    await page.getByRole('option', { name: /^Agent/ }).waitFor()
    expect(await page.getByRole('option', { name: /^Runs/ }).count()).toBe(0)
  })

  it('of errors are found by a token of a tenant, too', async () => {
    me = { ...aMe(), scopes: ['read', 'manage'], tenantId: 'acme' }
    const page = await openConsole()
    await search(page, 'model')
    await page.getByRole('option', { name: /^Runs\s*ModelTimeout/ }).waitFor()
  })

  it('that nothing has say where it looked', async () => {
    const page = await openConsole()
    await search(page, 'nowhere')
    await page
      .getByText('Nothing found among pages, agents, tenants and error codes of the last 7 days.')
      .waitFor()
  })

  it('a slug leads to its agent by a click', async () => {
    const page = await openConsole('#/runs')
    await search(page, 'triage-ticket')
    await options(page).first().click()
    await page.getByRole('heading', { level: 1, name: 'Triage ticket' }).waitFor()
  })

  it('opens another tab with Ctrl', async () => {
    const page = await openConsole()
    await search(page, 'triage-ticket')
    await options(page).first().waitFor()
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.keyboard.press('Control+Enter'),
    ])
    await tab.getByRole('heading', { level: 1, name: 'Triage ticket' }).waitFor()
  })

  it('of others are text, in their own direction, with what is not seen', async () => {
    const page = await openConsole()
    await search(page, 'redact')
    await options(page).first().waitFor()
    expect(await options(page).first().locator('img').count()).toBe(0)
    expect(await options(page).first().locator('bdi').first().textContent()).toContain('<img')
    await options(page).first().locator('.hidden-character').waitFor()
  })

  it('a token without the scope `read` finds pages', async () => {
    me = { ...aMe(), scopes: ['run'] }
    const page = await open(`${stub.url}/console#token=x`)
    await page.getByText('This page needs a token').waitFor()
    await search(page, 'docu')
    await page.getByRole('option', { name: /Documentation/ }).waitFor()
    await search(page, RUN)
    await page.getByText('This token may read nothing that has an ID.').waitFor()
  })
})

it.each([{ theme: 'light' }, { theme: 'dark', isPhone: true }] as const)(
  'has no violations, with %o',
  async (options) => {
    const page = await open(`${stub.url}/console#token=x`, options)
    await page.getByText('In progress').waitFor()
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await field(page).waitFor()
    expect(await findViolations(page)).toEqual([])
    await field(page).fill(RUN)
    await page.getByRole('option', { name: /^Run/ }).waitFor()
    expect(await findViolations(page)).toEqual([])
    const overflow = await getOverflow(page)
    expect(overflow).toBeLessThanOrEqual(0)
  },
)
