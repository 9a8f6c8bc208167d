import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TrialItemRecord, TrialRecord } from '../../lib/api/schemas/trial-record.ts'
import { TrialNotFound } from '../../lib/core/errors.ts'
import type { Gate } from '../../lib/core/trial.ts'
import type { HttpResponse } from '../../lib/http/event.ts'
import { anItem, aTrial, TRIAL_ID, TRIED_VERSION } from '../support/a-trial.ts'
import {
  AGENT_ID,
  aMe,
  anAgentRecord,
  anExecutionRecord,
  aVersionRecord,
  aVersionWithDocument,
  idOf,
} from './stub/records.ts'
import { failure, ok, pageOf, problem } from './stub/responses.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedText, region, settle } from './support/page.ts'

const { open } = useBrowser()
let stub: Stub
let me: object
let trials: TrialRecord[]
let items: TrialItemRecord[]
let gate: Gate | undefined
let asked: Partial<Record<string, string>>[]
let sent: { name: string; id: string | undefined; body?: unknown; key?: string | undefined }[]
/** Instead of the usual answers to changes. */
let answer: HttpResponse | null
let reads: number

const findTrial = ({ pathParameters }: APIGatewayProxyEvent) =>
  trials.find(({ id }) => id === pathParameters?.trialId)

const change =
  (name: string, act: (event: APIGatewayProxyEvent) => HttpResponse) =>
  (event: APIGatewayProxyEvent): HttpResponse => {
    const { trialId, versionId } = event.pathParameters ?? {}
    const key = event.headers['Idempotency-Key'] ?? event.headers['idempotency-key']
    sent.push({
      name,
      id: trialId ?? versionId,
      ...(event.body && { body: JSON.parse(event.body) }),
      ...(name === 'start' && { key }),
    })
    return answer ?? act(event)
  }

const tools = [
  { name: 'get_order', readOnly: true, http: {} },
  { name: 'refund', http: {} },
]

beforeAll(async () => {
  stub = await startStub({
    'get-me': () => ok(me),
    'list-agents': () => ok([anAgentRecord({ draftVersionId: TRIED_VERSION })]),
    'get-agent': () => ok(anAgentRecord({ draftVersionId: TRIED_VERSION })),
    'list-versions': () =>
      ok([aVersionRecord({ id: TRIED_VERSION, status: 'DRAFT', message: 'Be brief' }), aVersionRecord()]),
    'get-version': ({ pathParameters }) =>
      ok(
        aVersionWithDocument({
          id: pathParameters?.versionId ?? '',
          ...{ tools, toolNames: ['get_order', 'refund'] },
          execution: { ...aVersionRecord().execution, ...(gate && { promotion: gate }) },
        }),
      ),
    'get-usage': () => ok([]),
    'list-executions': () => ok([]),
    'get-execution': () => ok(anExecutionRecord(1)),
    'list-steps': () => ok([]),
    'list-trials': ({ queryStringParameters }) => {
      asked.push(queryStringParameters ?? {})
      return ok(trials)
    },
    'get-trial': (event) => {
      reads += 1
      const found = findTrial(event)
      return found ? ok(found) : failure(new TrialNotFound())
    },
    'list-trial-items': (event) => {
      const { verdict } = event.queryStringParameters ?? {}
      return pageOf(
        items.filter((item) => verdict === undefined || item.verdict === verdict),
        event,
      )
    },
    'start-trial': change('start', () => {
      trials = [running()]
      return { status: 202, body: running() }
    }),
    'cancel-trial': change('cancel', () => {
      trials = trials.map((trial) => ({ ...trial, status: 'CANCELLING' as const }))
      return { status: 202, body: trials[0] ?? {} }
    }),
    'delete-trial': change('delete', () => {
      trials = []
      return { status: 204, body: null }
    }),
  })
})
afterAll(() => stub?.stop())

const COUNTS = { SAME: 3, CHANGED: 2, CORRECTED: 1, REGRESSED: 1, DIVERGED: 1, ERROR: 1 }

const running = (overrides: Partial<TrialRecord> = {}) =>
  aTrial(COUNTS, {
    ...{ status: 'IN_PROGRESS', lines: 20, sums: null, endedAt: null },
    counts: { IN_PROGRESS: 11, SUCCESS: 7, ERROR: 2 },
    documentId: AGENT_ID,
    ...overrides,
  })

function ended(): TrialRecord {
  const trial = aTrial(COUNTS, { documentId: AGENT_ID, ignore: ['/at'], tenantId: 'acme' })
  const side = (median: number, p95: number) => ({ median, p95 })
  const sums = {
    ...(trial.sums as NonNullable<TrialRecord['sums']>),
    compared: 7,
    schemaViolations: 2,
    costUsd: { original: side(0.02, 0.05), trial: side(0.03, 0.06), originalTotal: 0.2, trialTotal: 0.3 },
    runTimeMs: { original: side(1_000, 4_000), trial: side(1_500, 5_000) },
    steps: { original: side(3, 5), trial: side(3, 6) },
  }
  return { ...trial, sums }
}

const itemOf = (number: number, ...args: Parameters<typeof anItem>): TrialItemRecord => ({
  ...anItem(...args),
  originalExecutionId: idOf(2_000 + number),
  executionId: idOf(3_000 + number),
})

beforeEach(() => {
  me = aMe()
  trials = [ended()]
  items = [
    itemOf(1, 'SAME'),
    itemOf(2, 'CHANGED', [
      { path: '/total', original: 12.5, trial: 13 },
      { path: '/new', trial: true },
      { path: '/lines/0', original: { a: 1 } },
      { path: '/text', original: 'a\u202Eb', trial: '<b>x</b>' },
    ]),
    itemOf(3, 'DIVERGED', [], {
      error: { code: 'Diverged', message: 'The original did not call refund with {"orderId":"A-1"}.' },
    }),
  ]
  gate = undefined
  asked = []
  sent = []
  answer = null
  reads = 0
})

async function openPage(hash: string): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`)
  await page.goto('about:blank')
  await page.goto(`${stub.url}/console${hash}`)
  await settle(page)
  return page
}

const PAGE = `#/trials/${TRIAL_ID}`

describe('the list of trials', () => {
  it('has verdicts, progress and cost; its agent and version are in the URL', async () => {
    trials = [running(), ended()]
    const page = await openPage('#/trials')
    await page.getByText('9 of 20').waitFor()
    await page
      .getByText('3 same, 2 changed, 1 corrected, 1 regressed, 1 diverged, 1 failed')
      .first()
      .waitFor()
    await page.getByLabel('Agent').selectOption('triage-ticket')
    await expect.poll(() => page.url()).toMatch(/#\/trials\?agent=triage-ticket$/)
    await expect.poll(() => asked.at(-1)).toMatchObject({ agent: 'triage-ticket' })
    const other = await openPage(`#/trials?agent=triage-ticket&version=${TRIED_VERSION}`)
    await other.getByText('9 of 20').waitFor()
    // The first page follows its trial meanwhile.
    expect(asked).toContainEqual({ agent: 'triage-ticket', version: TRIED_VERSION, limit: '25' })
    const start = await other.getByRole('link', { name: 'Start a trial…' }).getAttribute('href')
    expect(start).toBe(`#/trials/new?agent=triage-ticket&version=${TRIED_VERSION}`)
  })

  it('follows a trial that is in progress', async () => {
    trials = [running()]
    const page = await openPage('#/trials')
    await page.getByText('9 of 20').waitFor()
    trials = [ended()]
    await page.getByText('9 of 9').waitFor()
    await page.getByRole('row').getByText('Ended', { exact: true }).last().waitFor()
  })

  it('says what to do when there are none, and only to tokens that may do it', async () => {
    trials = []
    const page = await openPage('#/trials')
    await page.getByRole('link', { name: 'Start one' }).waitFor()
    me = { ...aMe(), scopes: ['read'] }
    const reader = await openPage('#/trials')
    await reader.getByText('A token with the scope manage can start one.').waitFor()
    await expect.poll(() => reader.getByRole('link', { name: /Start/ }).count()).toBe(0)
  })

  it.each([
    ['of a tenant', { tenantId: 'acme' }],
    ['without the scope read', { scopes: ['run'] }],
  ])('is in the sidebar, except for a token %s', async (_, overrides) => {
    const page = await openPage('#/trials')
    await page.getByRole('navigation', { name: 'Pages' }).getByText('Trials').waitFor()
    me = { ...aMe(), ...overrides }
    const other = await openPage('#/runs')
    await other
      .getByText(/^acme$|^run$/)
      .first()
      .waitFor()
    expect(await other.getByRole('navigation', { name: 'Pages' }).getByText('Trials').count()).toBe(0)
  })
})

describe('a trial', () => {
  it('has counts by verdict, and costs, times and steps against the originals', async () => {
    const page = await openPage(PAGE)
    const counts = page.getByRole('list', { name: 'Runs by verdict' })
    expect(await counts.getByRole('listitem').allTextContents()).toEqual([
      'All 9',
      ...['Same 3', 'Changed 2', 'Corrected 1', 'Regressed 1', 'Diverged 1', 'Failed 1'],
    ])
    const measures = region(page, 'Against the originals')
    expect(await measures.getByRole('row').filter({ hasText: 'Cost of a run' }).textContent()).toMatch(
      /\$0\.02\$0\.05\$0\.03\$0\.06.*50% more/,
    )
    await measures.getByText('2 runs have violated a schema of the version.').waitFor()
    await measures.getByText(/Together, they cost \$0\.30, their originals \$0\.20/).waitFor()
    await region(page, 'What was tried').getByText('/at').waitFor()
  })

  it.each([
    [undefined, 'Look closer', '1 regressed, 1 diverged, 1 failed, 2 changed.'],
    [{ maxChanged: 5, maxError: 2, maxRegressed: 1 }, 'Met', null],
    [{ maxChanged: 1, maxError: 2, maxRegressed: 1 }, 'Not met', '2 runs changed; at most 1 may.'],
  ] as const)('says whether it meets the gate %o: %s', async (limits, verdict, reason) => {
    gate = limits
    const page = await openPage(PAGE)
    const card = region(page, 'Gate')
    await card.getByText(verdict, { exact: true }).waitFor()
    if (reason) await card.getByText(reason).waitFor()
    else expect(await card.getByRole('listitem').count()).toBe(0)
  })

  it('leads to the page of its version, for tokens that may promote it', async () => {
    const page = await openPage(PAGE)
    const link = page.getByRole('link', { name: 'Promote this version' })
    expect(await link.getAttribute('href')).toBe(
      `#/agents/triage-ticket/versions/${TRIED_VERSION}?trial=${TRIAL_ID}`,
    )
    me = { ...aMe(), scopes: ['read'] }
    const reader = await openPage(PAGE)
    await button(reader, 'Report…').waitFor()
    await expect.poll(() => reader.getByRole('link', { name: 'Promote this version' }).count()).toBe(0)
    expect(await button(reader, 'Delete…').count()).toBe(0)
  })

  it('shows its progress until it has ended, and reads nothing after that', async () => {
    trials = [running()]
    const page = await openPage(PAGE)
    await page.getByText('9 of 20 runs ended.').waitFor()
    await page.getByText('Judged when the trial has ended').waitFor()
    expect(await button(page, 'Report…').isDisabled()).toBe(true)
    trials = [running({ counts: { IN_PROGRESS: 5, SUCCESS: 13, ERROR: 2 } })]
    await page.getByText('15 of 20 runs ended.').waitFor()
    trials = [ended()]
    await region(page, 'Against the originals').waitFor()
    await page.getByText('Look closer').waitFor()
    const before = reads
    await page.getByText(/runs ended\./).waitFor({ state: 'detached' })
    expect(reads).toBe(before)
    expect(await page.getByRole('progressbar').count()).toBe(0)
  })

  it('that stopped at its cost limit says so', async () => {
    const error = { code: 'BudgetExceeded', message: 'The trial has cost $2.01.' }
    trials = [{ ...ended(), error }]
    const page = await openPage(PAGE)
    await page.getByText('Stopped at its cost limit').waitFor()
    await page.getByText('Not all runs were started: The trial has cost $2.01.').waitFor()
  })

  it('that is gone says so', async () => {
    trials = []
    const page = await openPage(PAGE)
    await page.getByRole('alert').getByText('It may have been deleted').waitFor()
  })

  it('is cancelled after it was asked', async () => {
    trials = [running()]
    const page = await openPage(PAGE)
    await button(page, 'Cancel trial…').click()
    await page.getByRole('dialog').getByText('This cannot be undone').waitFor()
    expect(sent).toEqual([])
    await button(page, 'Cancel trial').click()
    await page.getByText('Being cancelled').first().waitFor()
    expect(sent).toEqual([{ name: 'cancel', id: TRIAL_ID }])
    expect(await button(page, 'Cancel trial…').isDisabled()).toBe(true)
  })

  it('is deleted with the keyboard only, and leads back to the list of its agent', async () => {
    const page = await openPage(PAGE)
    await button(page, 'Delete…').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Delete this trial?' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('There are no trials of this agent or version yet.').waitFor()
    expect(page.url()).toMatch(/#\/trials\?agent=triage-ticket$/)
    expect(sent).toEqual([{ name: 'delete', id: TRIAL_ID }])
    await expect.poll(() => focusedText(page)).toBe('Trials')
  })

  it('has a report like the one of the command line', async () => {
    const page = await openPage(PAGE)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Report…').click()
    const text = await page.getByRole('textbox', { name: 'Report' }).inputValue()
    expect(text).toMatch(/^## Trial of <code>triage-ticket<\/code>\n/)
    expect(text).toContain('| <code>/total</code> | <code>12.5</code> | <code>13</code> |')
    await button(page, 'Copy Markdown').click()
    await button(page, 'Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text)
  })
})

describe('the runs of a trial', () => {
  const shown = (page: Page) => page.locator('.trial-items > li')

  it('are filtered by verdict, in the URL and with the keyboard', async () => {
    const page = await openPage(PAGE)
    await expect.poll(() => shown(page).count()).toBe(3)
    await page.getByRole('link', { name: /^Changed/ }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => shown(page).count()).toBe(1)
    expect(page.url()).toMatch(/\?verdict=CHANGED$/)
    await page.reload()
    await page.getByRole('heading', { name: 'Runs with the verdict “Changed”' }).waitFor()
    await expect.poll(() => shown(page).count()).toBe(1)
    await page.getByRole('link', { name: /^Corrected/ }).click()
    await page.getByText('No run has this verdict.').waitFor()
    await page.goBack()
    await expect.poll(() => shown(page).count()).toBe(1)
  })

  it('have their differences, and links to both runs', async () => {
    const page = await openPage(`${PAGE}?verdict=CHANGED`)
    const rows = page.locator('.difference-row')
    await expect.poll(() => rows.count()).toBe(3)
    expect(await rows.allTextContents()).toEqual(['/total12.513', '/newabsenttrue', '/lines/0{"a":1}absent'])
    await button(page, 'Show all 4').click()
    expect(await rows.nth(3).textContent()).not.toContain('\u202E')
    expect(await rows.locator('b').count()).toBe(0)
    await page.getByRole('link', { name: /^01a20000.*2002$/ }).waitFor()
    const compare = await page.getByRole('link', { name: 'Compare' }).getAttribute('href')
    expect(compare).toBe(`#/compare?a=${idOf(2_002)}&b=${idOf(3_002)}`)
    await page.getByRole('link', { name: /^01a20000.*3002$/ }).click()
    await page.getByRole('heading', { level: 2, name: 'Input', exact: true }).waitFor()
  })

  it('name the call that would have been new', async () => {
    const page = await openPage(`${PAGE}?verdict=DIVERGED`)
    await shown(page).getByText('The original did not call refund with {"orderId":"A-1"}.').waitFor()
  })

  it('are loaded page by page', async () => {
    items = Array.from({ length: 60 }, (_, number) => itemOf(number, 'SAME'))
    const page = await openPage(PAGE)
    await expect.poll(() => shown(page).count()).toBe(25)
    await button(page, 'Load more').click()
    await expect.poll(() => shown(page).count()).toBe(50)
    await button(page, 'Load more').click()
    await expect.poll(() => shown(page).count()).toBe(60)
    expect(await button(page, 'Load more').count()).toBe(0)
  })
})

describe('starting a trial', () => {
  const FORM = '#/trials/new?agent=triage-ticket'

  it('takes the draft, and asks for a cost limit because models are called', async () => {
    const page = await openPage(FORM)
    await button(page, 'Start trial').click()
    expect(sent).toEqual([])
    await page.getByLabel('Cost limit (US dollars)').fill('1.5')
    await button(page, 'Start trial').click()
    await page.getByText('9 of 20 runs ended.').waitFor()
    expect(sent).toMatchObject([
      { name: 'start', id: TRIED_VERSION, body: { limit: 100, models: 'live', maxTrialCostUsd: 1.5 } },
    ])
    expect(sent[0]?.key).toMatch(/^[0-9a-f]{32}$/)
    await expect.poll(() => focusedText(page)).toMatch(/^Trial /)
  })

  it('keeps what was entered when the page is loaded again', async () => {
    const page = await openPage('#/trials/new')
    await page.getByLabel('Agent').selectOption('triage-ticket')
    await page.getByLabel('Version that is tried').selectOption(idOf(3))
    await page.getByLabel('Runs at most').fill('25')
    await page.getByLabel('From', { exact: true }).fill('2026-11-20T09:00')
    await page.getByLabel('Tenant').fill('acme')
    await page.getByLabel('Feedback').selectOption('corrected')
    await page.getByLabel('Recorded, until').check()
    await page.getByLabel('get_order').check()
    await page.getByLabel('Not compared, optional').fill('/at\n/id')
    await page.reload()
    expect(await page.getByLabel('Runs at most').inputValue()).toBe('25')
    expect(await page.getByLabel('get_order').isChecked()).toBe(true)
    await button(page, 'Start trial').click()
    await expect.poll(() => sent.length).toBe(1)
    expect(sent[0]).toMatchObject({
      id: idOf(3),
      body: {
        ...{ limit: 25, tenantId: 'acme', feedback: 'corrected', models: 'recorded' },
        tools: { get_order: 'live' },
        ignore: ['/at', '/id'],
      },
    })
  })

  it('offers to call only tools that the document marks as read-only', async () => {
    const page = await openPage(FORM)
    await page.getByRole('group', { name: 'Tools that are called' }).waitFor()
    expect(await page.getByRole('checkbox').count()).toBe(1)
    await page.getByText(/All others give what they gave to the original: refund/).waitFor()
  })

  it('shows why the service refuses it, and can be sent again', async () => {
    const page = await openPage(`${FORM}&maxCost=1`)
    answer = problem(422, { detail: '/maxTrialCostUsd must be higher.' })
    await button(page, 'Start trial').click()
    await page.getByText('“Cost limit” must be higher.').waitFor()
    answer = null
    await button(page, 'Start trial').click()
    await page.getByText('9 of 20 runs ended.').waitFor()
    // The same trial: it is started once, also if the first answer was lost.
    expect(sent[0]?.key).toBe(sent[1]?.key)
  })

  it('sends one request on a double click', async () => {
    const page = await openPage(`${FORM}&maxCost=1`)
    await button(page, 'Start trial').dblclick()
    await page.getByText('9 of 20 runs ended.').waitFor()
    expect(sent).toHaveLength(1)
  })

  it('works with the keyboard only', async () => {
    const page = await openPage(FORM)
    await page.getByLabel('Cost limit (US dollars)').focus()
    await page.keyboard.type('2')
    await page.keyboard.press('Enter')
    await page.getByText('9 of 20 runs ended.').waitFor()
  })

  it('is refused to tokens without the scope manage', async () => {
    me = { ...aMe(), scopes: ['read'] }
    const page = await openPage(FORM)
    await page.getByText('This page needs a token with the scope manage.').waitFor()
  })
})
