import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { TokenLimits } from '../../lib/core/access.ts'
import type { AuditEntry } from '../../lib/core/audit.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import { auditStore } from '../../lib/dynamodb/audit-store.ts'
import { system } from '../../lib/system.ts'
import { createToken } from '../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { HIDDEN_STRINGS, HOSTILE_STRINGS } from './stub/hostile-strings.ts'
import { findViolations } from './support/axe.ts'
import { useBrowser } from './support/browser.ts'
import { focusedText } from './support/page.ts'

const { open } = useBrowser()
const service = inject('service')

async function openPage(org: { token: string }, hash = '#/audit', options = {}): Promise<Page> {
  const page = await open(`${service}/console#token=${org.token}`, options)
  await page.goto('about:blank')
  await page.goto(`${service}/console${hash}`)
  await settle(page)
  return page
}

async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('.spinner').first().waitFor({ state: 'detached' })
}

/** As a change of the organization is stored, `ageMs` ago. */
function anEntry({ id: organizationId }: { id: string }, overrides: Partial<AuditEntry> = {}, ageMs = 0) {
  const entry: AuditEntry = {
    ...{ id: system.newId(), organizationId, at: new Date(Date.now() - ageMs).toISOString() },
    actor: { kind: 'token', id: system.newId(), name: 'ci' },
    source: { interface: 'HTTP', ip: '203.0.113.9', userAgent: 'curl/8.14.1' },
    ...{ action: 'limits.put', target: { kind: 'tenant', id: 'acme' } },
    ...{ changes: { maxOpenExecutions: 3 }, result: 'SUCCEEDED' },
    ...overrides,
  }
  return entry
}

async function store(...entries: AuditEntry[]): Promise<void> {
  const { begin } = auditStore(sharedTable())
  for (const entry of entries) await begin({ entry, isMarked: false })
}

const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('rowheader') })
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Change', exact: true })
const facts = async (page: Page): Promise<string> =>
  (await dialog(page).locator('.facts').textContent()) ?? ''

describe('the audit log', () => {
  let own: TestOrganization
  let versions: string[]
  let executionId: string
  const agentId = () => agentIdOf(own.id, 'echo')

  beforeAll(async () => {
    own = await newOrganization()
    versions = [(await own.publish('echo')).id, (await own.publish('echo', { draft: true, title: 'New' })).id]
    executionId = (await own.run('echo', { text: 'a' })).headers.get('x-execution-id') ?? ''
    await own.call('POST', `/v1/agents/echo/versions/${versions[1]}/promote`)
    await own.call('PUT', '/v1/tenants/acme/limits', { body: { maxOpenExecutions: 0 } })
    await own.call('PUT', '/v1/agents/echo/limits', { body: { maxOpenExecutions: 5 } })
    await own.call('DELETE', `/v1/agent_executions/${executionId}`)
  })

  it('lists who changed what, newest first, with its result and a link to what was changed', async () => {
    const page = await openPage(own)
    await rows(page).nth(3).waitFor()
    const shown = await rows(page).allTextContents()
    expect(shown.map((text) => /Delete run|Set limits|Promote version/.exec(text)?.[0])).toEqual([
      'Delete run',
      'Set limits',
      'Set limits',
      'Promote version',
    ])
    for (const text of shown) expect(text).toMatch(/test \(you\).*127\.0\.0\.1$/)
    expect(shown.map((text) => /Succeeded|Failed: \w+/.exec(text)?.[0])).toEqual([
      'Succeeded',
      'Succeeded',
      expect.stringMatching(/^Failed: \w+/),
      'Succeeded',
    ])
    const hrefs = async (row: number) =>
      Promise.all((await rows(page).nth(row).locator('td a').all()).map((link) => link.getAttribute('href')))
    expect(await hrefs(0), 'a deleted run has no page').toEqual([])
    await rows(page).nth(1).getByRole('link', { name: 'New' }).waitFor()
    expect(await hrefs(1)).toEqual(['#/agents/echo'])
    expect(await hrefs(2)).toEqual(['#/tenants/acme'])
    expect(await hrefs(3)).toEqual([`#/agents/${agentId()}/versions/${versions[1]}`, '#/agents/echo'])
    await rows(page).nth(3).getByRole('link').nth(1).click()
    await page.getByRole('heading', { level: 1, name: /^Version/ }).waitFor()
  })

  it('says of one change what it was before, from where it came, and what else is like it', async () => {
    const page = await openPage(own)
    await page.getByRole('link', { name: 'Promote version' }).click()
    const change = dialog(page).getByRole('row', { name: /currentVersionId/ })
    expect(await change.textContent()).toBe(`currentVersionId${versions.join('')}`)
    expect(await facts(page)).toMatch(/HTTP API.*127\.0\.0\.1.*User agentnode.*version\.promote/)
    await dialog(page).getByRole('link', { name: 'Everything about this' }).click()
    await dialog(page).waitFor({ state: 'detached' })
    await expect.poll(() => rows(page).count()).toBe(1)
    expect(page.url()).toContain(`#/audit?target=${versions[1]}`)
  })

  it('keeps its filters in the URL, and agents have the changes of their versions', async () => {
    const page = await openPage(own)
    await page.getByLabel('What', { exact: true }).fill(agentId())
    await page.keyboard.press('Enter')
    await expect.poll(() => rows(page).count()).toBe(2)
    await page.getByLabel('Action').selectOption('Promote version')
    await expect.poll(() => rows(page).count()).toBe(1)
    await page.getByLabel('Time').selectOption('Last 24 h')
    await page.reload()
    await settle(page)
    expect(await page.getByLabel('What', { exact: true }).inputValue()).toBe(agentId())
    expect(await page.getByLabel('Action').inputValue()).toBe('version.promote')
    expect(await page.getByLabel('Time').inputValue()).toBe('24h')
    expect(await rows(page).count()).toBe(1)
    await page.getByLabel('By', { exact: true }).fill('nobody')
    await page.keyboard.press('Enter')
    await page.getByText('No change matches these filters.').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(() => rows(page).count()).toBe(4)
    expect(new URL(page.url()).hash).toBe('#/audit')
    await page.getByLabel('Time').selectOption('From – to')
    await page.getByLabel('To', { exact: true }).fill('2026-01-01T10:00')
    await page.getByText('No change matches these filters.').waitFor()
    expect(page.url()).toContain('to=2026-01-01T10%3A00')
  })

  it('is read with the keyboard only', async () => {
    const page = await openPage(own)
    const focused = () => focusedText(page)
    await page.getByLabel('Time').focus()
    for (let tabs = 0; (await focused()) !== 'Delete run' && tabs < 9; tabs++)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await dialog(page).waitFor()
    expect(await facts(page)).toContain(executionId)
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    expect(new URL(page.url()).hash).toBe('#/audit')
    await expect.poll(focused).toBe('Delete run')
  })

  it.each([
    ['with the scope read', { scopes: ['read', 'run'] }, 'scope manage'],
    ['of a tenant', { tenantId: 'acme' }, /tenant/],
    ['that is limited to agents', { agents: ['echo'] }, 'limited to agents'],
  ] as [string, Partial<TokenLimits>, string | RegExp][])(
    'is not offered to a token %s',
    async (_, limits, reason) => {
      const token = await createToken(sharedTable(), own.id, limits)
      const page = await openPage({ token })
      await page.locator('main').getByText(reason).first().waitFor()
      await page.locator('.sidebar .pending').first().waitFor({ state: 'detached' })
      const navigation = page.getByRole('navigation', { name: 'Pages' })
      expect(await navigation.getByText('Audit log').count()).toBe(0)
      expect(await rows(page).count()).toBe(0)
      const other = await openPage(own)
      await other.getByRole('navigation', { name: 'Pages' }).getByText('Audit log').waitFor()
    },
  )

  it('is shown without names of agents to a token that may not read them', async () => {
    const page = await openPage({ token: await createToken(sharedTable(), own.id, { scopes: ['manage'] }) })
    await rows(page).nth(3).waitFor()
    expect(await rows(page).nth(1).textContent()).toContain(`Agent ${agentId().slice(0, 8)}…`)
  })

  it('says what failed, and tries again', async () => {
    const page = await openPage(own, '#/runs')
    await page.route('**/v1/audit?**', (route) => route.abort())
    await page.evaluate(`location.hash = '#/audit'`)
    await page.getByRole('alert').getByText('The service does not respond.').waitFor()
    await page.unroute('**/v1/audit?**')
    await page.getByRole('button', { name: 'Retry' }).click()
    await expect.poll(() => rows(page).count()).toBe(4)
  })
})

describe('changes', () => {
  it('without a result are in progress, and later of unknown outcome; an error can leave a part made', async () => {
    const org = await newOrganization()
    await store(
      anEntry(org, { result: 'STARTED', action: 'webhook.rotate' }, 600_000),
      anEntry(org, { result: 'FAILED', error: 'InternalError', action: 'agent.publish' }),
      anEntry(org, { result: 'STARTED' }),
    )
    const page = await openPage(org)
    await rows(page).nth(2).waitFor()
    const [inProgress = '', failed = '', unknown = ''] = await rows(page).allTextContents()
    expect(inProgress).toContain('In progress')
    expect(failed).toContain('Failed: InternalError')
    expect(unknown).toContain('Outcome unknown')
    await page.getByRole('link', { name: 'Publish agent' }).click()
    await dialog(page).getByText('A part of it may have been made.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Rotate secret of webhook' }).click()
    await dialog(page).getByText('it may have been made').waitFor()
  })

  it('of people, of commands and over MCP say who it was', async () => {
    const org = await newOrganization()
    const arn = 'arn:aws:sts::123456789012:assumed-role/Admin/ada'
    const actor = { kind: 'subject', id: system.newId(), name: 'Ada', subject: 'auth0|ada' } as const
    await store(
      anEntry(org, { actor: { kind: 'cli', id: arn }, source: { interface: 'CLI', host: 'ada-laptop' } }),
      anEntry(org, { actor, source: { interface: 'MCP', ip: '203.0.113.9' }, action: 'approval.decide' }),
    )
    const page = await openPage(org)
    await rows(page).nth(1).waitFor()
    const [person, command] = await rows(page).allTextContents()
    expect(person).toMatch(/Ada.*MCP 203\.0\.113\.9$/)
    expect(command).toMatch(/assumed-role\/Admin\/ada.*Command line ada-laptop$/)
    await page.getByRole('link', { name: 'Decide on approval' }).click()
    expect(await facts(page)).toMatch(/Identity provider.*auth0\|ada/)
    await dialog(page).getByRole('link', { name: 'Everything by the same' }).click()
    await expect.poll(() => rows(page).count()).toBe(1)
    expect(await page.getByLabel('By', { exact: true }).inputValue()).toBe('auth0|ada')
    await page.evaluate(`location.hash = '#/audit?actor=${encodeURIComponent(arn)}'`)
    await page.getByRole('link', { name: 'Set limits' }).click()
    expect(await facts(page)).toContain(arn)
  })

  it('come a page at a time; the one of a link is found wherever it is', async () => {
    const org = await newOrganization()
    const entries = Array.from({ length: 60 }, (_, index) =>
      anEntry(org, { target: { kind: 'tenant', id: `tenant-${index}` } }),
    )
    await store(...entries)
    const page = await openPage(org, `#/audit?entry=${entries[0]?.id}`)
    await dialog(page).getByText('tenant-0').first().waitFor()
    await page.keyboard.press('Escape')
    expect(await rows(page).count()).toBe(50)
    await page.getByText('50 newest changes').waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('60 changes').waitFor()
    expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0)
    for (const id of [system.newId(), 'x'.repeat(40)]) {
      await page.evaluate(`location.hash = '#/audit?entry=${id}'`)
      await dialog(page).getByText('The log has no such change.').waitFor()
    }
  })

  it('that are new appear by themselves, and get their results, with the price of the last minute', async () => {
    const org = await newOrganization()
    const started = anEntry(org, { result: 'STARTED' })
    await store(started)
    const page = await open(`${service}/console#token=${org.token}`)
    await page.clock.install()
    await page.goto(`${service}/console#/audit`)
    await rows(page).getByText('In progress').waitFor()
    const asked: URLSearchParams[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/v1/audit') asked.push(searchParams)
    })
    await store(anEntry(org, { action: 'webhook.delete' }))
    await auditStore(sharedTable()).end({ entry: { ...started, result: 'SUCCEEDED' } })
    await page.clock.runFor(31_000)
    await page.getByRole('link', { name: 'Delete webhook' }).waitFor()
    expect(await rows(page).getByText('Succeeded').count()).toBe(2)
    expect(asked).toHaveLength(1)
    expect(Date.parse(asked[0]?.get('from') ?? '')).toBeGreaterThan(Date.now() - 180_000)
  })
})

describe('hostile texts', () => {
  const texts = [...HIDDEN_STRINGS, ...HOSTILE_STRINGS.filter((text) => /<|javascript:/i.test(text))]

  it('are shown as text, in the list and in the detail', async () => {
    const org = await newOrganization()
    const entries = texts.slice(0, 45).map((text) =>
      anEntry(org, {
        actor: { kind: 'subject', id: text, name: text, subject: text },
        source: { interface: 'HTTP', ip: text, userAgent: text, host: text },
        ...{ result: 'FAILED', error: text, changes: { url: text, types: [text] } },
        target: { kind: 'version', id: text, agentId: text },
      }),
    )
    await store(...entries)
    const page = await openPage(org)
    await rows(page).nth(44).waitFor()
    for (const entry of [undefined, ...entries.slice(0, 12)]) {
      if (entry) await page.evaluate(`location.hash = '#/audit?entry=${entry.id}'`)
      if (entry) await dialog(page).locator('.facts').waitFor()
      expect(
        await page.evaluate(`document.querySelectorAll('main :is(script, img, svg, iframe, style)').length`),
      ).toBe(0)
      const text: string = await page.evaluate('document.title + document.querySelector("main").textContent')
      expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/)
    }
    const hrefs: string[] = await page.evaluate(
      `[...document.querySelectorAll('main a')].map(({ href }) => href)`,
    )
    expect(hrefs.filter((href) => !href.startsWith(`${service}/console#/`))).toEqual([])
    for (const text of ['<img', 'javascript:', '"><', '\u202e']) {
      await page.evaluate(
        `location.hash = '#/audit?action=${encodeURIComponent(text)}&target=${encodeURIComponent(text)}'`,
      )
      await settle(page)
    }
  })
})

it.each([390, 820, 1400])('nothing scrolls sideways at %i px, in the dark', async (width) => {
  const org = await newOrganization()
  const long = 'x'.repeat(128)
  await store(
    anEntry(org, {
      actor: { kind: 'token', id: system.newId(), name: long },
      source: { interface: 'HTTP', ip: '2001:db8:85a3:8d3:1319:8a2e:370:7348', userAgent: 'y'.repeat(200) },
      ...{ changes: { name: long, 'maxCostUsd.day': { from: 1, to: 2 } } },
      ...{ target: { kind: 'tenant', id: long }, result: 'FAILED', error: 'InputSchemaMismatch' },
    }),
  )
  const page = await openPage(org, '#/audit?from=2026-01-01T10:00', { theme: 'dark', isPhone: width < 400 })
  await page.setViewportSize({ width, height: 800 })
  await rows(page).first().waitFor()
  for (const isOpen of [false, true]) {
    if (isOpen) await page.getByRole('link', { name: 'Set limits' }).click()
    // A phone zooms out of a page that is too wide: its window gets wider, too.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(await findViolations(page)).toEqual([])
  }
  const box = await dialog(page).boundingBox()
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width)
})
