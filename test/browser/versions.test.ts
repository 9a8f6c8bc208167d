import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AgentRecord } from '../../lib/api/schemas/agent-record.ts'
import { TrialFailed } from '../../lib/core/errors.ts'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { AGENT_ID, aMe, anAgentRecord, aVersionWithDocument, idOf } from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedName, getOverflow } from './support/page.ts'

const { open } = useBrowser()
const SLUG = 'order-support'

/** Moves the focus forward to a control with this name, as Tab does, and presses Enter. */
async function press(page: Page, name: RegExp): Promise<void> {
  // Some buttons can be used once something is loaded.
  await page.locator('dialog button:disabled').first().waitFor({ state: 'detached' })
  for (let tabs = 0; tabs < 80; tabs++) {
    if (name.test(await focusedName(page))) return page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
  }
  throw new Error(`No control ${name} can be reached with Tab.`)
}

const state = (page: Page, name: string) =>
  page.locator('.page-title').getByText(name, { exact: true }).waitFor()

describe('with the service', () => {
  let demo: Demo
  let texts = 0
  beforeAll(async () => {
    demo = await startDemo()
  })
  afterAll(() => demo?.stop())

  const agentOf = async (slug = SLUG): Promise<AgentRecord> =>
    (await demo.call('GET', `/v1/agents/${slug}`)).json
  const currentId = async () => (await agentOf()).currentVersionId ?? ''
  const post = (path: string) => demo.call('POST', `/v1/agents/${SLUG}/${path}`)

  /** Publishes other instructions. @returns the ID of the version */
  async function publish({ draft = true, settings = '' } = {}): Promise<string> {
    texts += 1
    const change = (document: string) =>
      document
        .replace('Look the order', `Take number ${texts}. Look the order`)
        .replace('execution: {', `execution: { ${settings}`)
    await demo.publish(SLUG, { draft, change })
    const agent = await agentOf()
    return (draft ? agent.draftVersionId : agent.currentVersionId) ?? ''
  }

  async function openPage(hash: string, options?: Parameters<typeof open>[1]): Promise<Page> {
    const page = await open(`${demo.url}/console#token=${demo.token}`, options)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goto(`${demo.url}/console${hash}`)
    return page
  }
  const openVersion = (id: string, slug = SLUG) => openPage(`#/agents/${slug}/versions/${id}`)

  describe('the page of a version', () => {
    it('shows instructions, tools, limits and schemas, and is linked from the agent', async () => {
      const draft = await publish()
      const page = await openPage(`#/agents/${SLUG}`)
      const row = page.getByRole('row', { name: /Draft/ })
      await row.getByRole('link', { name: /…/ }).click()
      await state(page, 'Draft')
      expect(page.url()).toContain(`#/agents/${SLUG}/versions/${draft}`)
      await page.getByText(`Take number ${texts}.`).waitFor()
      await page.getByRole('region', { name: 'Limits' }).getByText('at most 8').waitFor()
      await page.getByRole('region', { name: 'Tools' }).getByText('get_shipment').first().waitFor()
      await page.getByRole('region', { name: 'Input schema' }).getByText('orderId').waitFor()
      await page.getByRole('link', { name: 'Compare with the current version' }).click()
      await page.getByText(/Added: .*Take number/).waitFor()
    })

    it('shows code on request', async () => {
      const page = await openVersion(
        (await agentOf('import-contacts')).currentVersionId ?? '',
        'import-contacts',
      )
      await button(page, 'Show the code').click()
      await page.getByText('The address book is locked by another import.').waitFor()
      await page
        .getByText(/^\d.*kB, \d+ lines/)
        .or(page.getByText(/^\d+ B, \d+ lines/))
        .waitFor()
    })

    it('explains a version that does not exist', async () => {
      const page = await openVersion(idOf(1))
      await page.getByRole('alert').getByText('It may have been deleted').waitFor()
    })
  })

  describe('releases', () => {
    it('promotes a draft, and rolls back, with the keyboard only', async () => {
      const before = await currentId()
      const draft = await publish()
      const page = await openVersion(draft)
      await state(page, 'Draft')
      await press(page, /^Promote…/)
      await page.getByText(/To undo it, promote/).waitFor()
      await press(page, /^Promote$/)
      await state(page, 'Current')
      expect(await currentId()).toBe(draft)
      // Its button is gone.
      await expect.poll(() => focusedName(page)).toMatch(/^Version /)
      await page.goto(`${demo.url}/console#/agents/${SLUG}/versions/${before}`)
      await state(page, 'Superseded')
      await press(page, /^Roll back to it/)
      await button(page, 'Roll back').waitFor()
      await press(page, /^Roll back$/)
      await state(page, 'Current')
      expect(await currentId()).toBe(before)
    })

    it('changes nothing when the dialog is closed, and returns the focus', async () => {
      const before = await currentId()
      const page = await openVersion(await publish())
      await button(page, 'Promote…').click()
      await button(page, 'Promote').waitFor()
      await page.keyboard.press('Escape')
      await expect.poll(() => focusedName(page)).toBe('Promote…')
      expect(await currentId()).toBe(before)
    })

    it('tells when somebody else has promoted meanwhile, and asks again', async () => {
      const other = await publish({ draft: false })
      const draft = await publish()
      const third = await publish({ draft: false })
      const page = await openVersion(draft)
      await button(page, 'Promote…').click()
      await button(page, 'Promote').waitFor()
      await post(`versions/${other}/promote`)
      await button(page, 'Promote').click()
      await page.getByRole('alert').getByText('has become current').waitFor()
      expect(await currentId()).toBe(other)
      expect(third).not.toBe(other)
      await button(page, 'Promote').click()
      await state(page, 'Current')
      expect(await currentId()).toBe(draft)
    })

    it('explains that a trial is required, and where to start one', async () => {
      await publish({ draft: false, settings: 'promotion: { require: trial, minRuns: 5 }, ' })
      const draft = await publish()
      const page = await openVersion(draft)
      await button(page, 'Promote…').click()
      await page.getByText('The current version requires a trial with at least 5 runs.').waitFor()
      await button(page, 'Promote').click()
      await page.getByRole('alert').getByText('A trial is required').waitFor()
      const href = await page
        .getByRole('link', { name: 'Start a trial of this version' })
        .getAttribute('href')
      expect(href).toBe(`#/trials/new?agent=${SLUG}&version=${draft}`)
      await page.keyboard.press('Escape')
      // For the tests that follow: a version without a gate can come back.
      const versions = (await demo.call('GET', `/v1/agents/${SLUG}/versions`)).json
      const old = versions.at(-1).id
      expect((await post(`versions/${old}/promote`)).status).toBe(200)
    })
  })

  describe('a draft beside the current version', () => {
    it('runs on the same input, and the differences are shown, with the keyboard only', async () => {
      const draft = await publish()
      const page = await openVersion(draft)
      await state(page, 'Draft')
      await press(page, /^Try draft/)
      await page.getByLabel('orderId').focus()
      await page.keyboard.type('A-1042')
      await page.getByLabel('question').focus()
      await page.keyboard.type('Where is it?')
      await press(page, /^Run both$/)
      const sides = ['A: current version', 'B: this version'].map((name) =>
        page.getByRole('region', { name }),
      )
      for (const side of sides) await side.getByText('Your parcel is in Leipzig').waitFor()
      await page.getByText('The results are the same.').waitFor()
      const runs = (await demo.call('GET', `/v1/agents/${SLUG}/executions?limit=2&fields=summary`)).json
      const versions = runs.map(({ versionId }: { versionId: string }) => versionId)
      expect(versions.toSorted()).toEqual([await currentId(), draft].toSorted())
    })

    it('runs alone if the current version is not wanted', async () => {
      const draft = await publish()
      const page = await openPage(`#/agents/${SLUG}/versions/${draft}/try`)
      await page.getByLabel('orderId').fill('B-9')
      await page.getByLabel('question').fill('Why?')
      await page.getByLabel('Run the current version too').uncheck()
      await button(page, 'Run').click()
      await page.getByText('Error: ModelFailed').waitFor()
      expect(await page.getByRole('region', { name: 'A: current version' }).count()).toBe(0)
      const [run] = (await demo.call('GET', `/v1/agents/${SLUG}/executions?limit=1&fields=summary`)).json
      expect(run.versionId).toBe(draft)
    })
  })

  describe('retirement and deletion', () => {
    it('retires a version and makes it usable again, with the keyboard only', async () => {
      const draft = await publish()
      const page = await openVersion(draft)
      await state(page, 'Draft')
      await press(page, /^Retire…/)
      await press(page, /^Retire$/)
      await state(page, 'Retired')
      await expect.poll(() => focusedName(page)).toMatch(/^Version /)
      expect(await button(page, 'Promote…').count()).toBe(0)
      await press(page, /^Make usable again/)
      await press(page, /^Make usable$/)
      await state(page, 'Draft')
    })

    it('deletes a draft, and returns to the agent', async () => {
      const draft = await publish()
      const page = await openVersion(draft)
      await button(page, 'Delete draft…').click()
      await button(page, 'Delete draft').click()
      await page.getByRole('heading', { level: 1, name: 'Order support' }).waitFor()
      expect((await agentOf()).draftVersionId).toBeNull()
    })
  })

  describe('archiving', () => {
    it('archives an agent, lists it as archived, and restores it', async () => {
      const page = await openPage('#/agents/redact-pii')
      await button(page, 'Archive…').click()
      await button(page, 'Archive').click()
      await state(page, 'Archived')
      expect((await agentOf('redact-pii')).archivedAt).not.toBeNull()
      await page.goto(`${demo.url}/console#/agents`)
      await page.getByText(/^\d+ agents$/).waitFor()
      expect(await page.getByRole('link', { name: 'Redact PII', exact: true }).count()).toBe(0)
      await button(page, 'Archived').click()
      await page.getByText('1 agent', { exact: true }).waitFor()
      expect(page.url()).toContain('show=archived')
      await page.locator('.agents').getByRole('link').first().click()
      await button(page, 'Restore…').click()
      await button(page, 'Restore').click()
      await button(page, 'Archive…').waitFor()
      expect((await agentOf('redact-pii')).archivedAt).toBeNull()
    })
  })

  describe('a rollout', () => {
    const rollout = () => demo.call('GET', `/v1/agents/${SLUG}/rollout`)
    const card = (page: Page) => page.getByRole('region', { name: 'Rollout', exact: true })

    it('is started, changed and ended', async () => {
      const draft = await publish()
      const page = await openPage(`#/agents/${SLUG}`)
      await button(page, 'Start a rollout…').click()
      await page.getByLabel('Share of the runs').fill('12.5')
      await page.getByLabel('more than this share').fill('5')
      await button(page, 'Start rollout').click()
      await card(page).getByText('12.5% of the tenants').waitFor()
      await card(page).getByText('more than 5% of its runs have failed, after at least 20 runs').waitFor()
      expect((await rollout()).json).toMatchObject({ versionId: draft, percent: 12.5 })
      await button(page, 'Change rollout…').click()
      await expect.poll(() => page.getByLabel('more than this share').inputValue()).toBe('5')
      await page.getByLabel('Share of the runs').fill('50')
      await button(page, 'Change rollout').click()
      await card(page).getByText('50% of the tenants').waitFor()
      expect((await rollout()).json.abort).toMatchObject({ maxErrorRate: 0.05, minRuns: 20 })
      await page.getByRole('row', { name: /Rollout: 50%/ }).waitFor()
      await button(page, 'End rollout…').click()
      await button(page, 'End rollout').click()
      await card(page).getByText('All runs that name no version get the current one.').waitFor()
      expect((await rollout()).status).toBe(404)
    })

    it('is started and promoted with the keyboard only', async () => {
      const draft = await publish()
      const page = await openVersion(draft)
      await state(page, 'Draft')
      await press(page, /^Roll out…/)
      await page.getByLabel('Share of the runs').waitFor()
      await press(page, /^Start rollout$/)
      await state(page, 'Rollout: 10%')
      await press(page, /^Promote…/)
      await press(page, /^Promote$/)
      await state(page, 'Current')
      expect(await agentOf()).toMatchObject({ currentVersionId: draft, rollout: null })
    })

    it('that ends while its form is open is not started again unasked', async () => {
      const draft = await publish()
      await demo.call('PUT', `/v1/agents/${SLUG}/rollout`, { body: { versionId: draft, percent: 5 } })
      const page = await openPage(`#/agents/${SLUG}`)
      await button(page, 'Change rollout…').click()
      await page.getByLabel('Share of the runs').fill('60')
      await demo.call('DELETE', `/v1/agents/${SLUG}/rollout`)
      await button(page, 'Change rollout').click()
      await page.getByRole('alert').getByText('The rollout has ended.').waitFor()
      expect((await rollout()).status).toBe(404)
    })
  })
})

describe('with a stub', () => {
  let stub: Stub
  let scopes: string[]
  let tenantId: string | null
  const draft = aVersionWithDocument({
    ...{ id: idOf(50), status: 'DRAFT', instructions: `Sort the ticket. ${'Be thorough. '.repeat(40)}` },
    tools: [{ name: 'crm', mcp: { url: `https://crm.example/${'a'.repeat(120)}` } }],
  })
  const current = aVersionWithDocument({
    execution: { ...draft.execution, promotion: { require: 'trial', maxChanged: 0 } },
  })
  const trialId = idOf(60)
  beforeAll(async () => {
    stub = await startStub({
      'get-me': () => ({ status: 200, body: { ...aMe(), scopes, tenantId } }),
      'get-agent': () => ({ status: 200, body: anAgentRecord({ draftVersionId: draft.id }) }),
      'get-version': ({ pathParameters }) => ({
        status: 200,
        body: pathParameters?.versionId === draft.id ? draft : current,
      }),
      'list-versions': () => ({ status: 200, body: [draft, current] }),
      'list-agent-executions': () => ({ status: 200, body: [] }),
      'list-trials': () => ({ status: 200, body: [anEndedTrial] }),
      'promote-version': () => {
        throw new TrialFailed(['3 runs changed; at most 0 may (maxChanged).'], {
          ...{ trialId, runs: 12, costIncrease: 0.25, limits: { maxChanged: 0 } },
          verdicts: { SAME: 9, CHANGED: 3, CORRECTED: 0, REGRESSED: 0, DIVERGED: 0, ERROR: 0 },
        })
      },
    })
  })
  afterAll(() => stub?.stop())
  beforeEach(() => {
    scopes = ['run', 'read', 'manage']
    tenantId = null
  })

  const verdicts = { SAME: 9, CHANGED: 3, CORRECTED: 0, REGRESSED: 0, DIVERGED: 0, ERROR: 0 }
  const anEndedTrial = {
    ...{ id: trialId, documentId: AGENT_ID, versionId: draft.id, status: 'ENDED', cancelled: false },
    ...{ lines: 12, verdicts, createdAt: '2026-11-25T09:00:00.000Z', endedAt: '2026-11-25T09:01:00.000Z' },
  }

  async function openPage(hash: string, options?: Parameters<typeof open>[1]): Promise<Page> {
    const page = await open(`${stub.url}/console#token=x`, options)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goto(`${stub.url}/console${hash}`)
    return page
  }
  const draftHash = `#/agents/triage-ticket/versions/${draft.id}`

  it('explains a trial that does not meet the limits, with its figures', async () => {
    const page = await openPage(draftHash)
    await button(page, 'Promote…').click()
    const trial = page.getByLabel('Trial that has to pass')
    expect(await trial.inputValue()).toBe(trialId)
    await button(page, 'Promote').click()
    const alert = page.getByRole('alert')
    await alert.getByText('3 runs changed; at most 0 may. Nothing was changed.').waitFor()
    await alert.getByText('9 same, 3 changed').waitFor()
    await alert.getByText('25% more').waitFor()
    expect(await alert.getByRole('link', { name: 'Open the trial' }).getAttribute('href')).toBe(
      `#/trials/${trialId}`,
    )
  })

  it.each([390, 820, 1400])(
    'compares versions in words, not in columns of one character: %i px',
    async (width) => {
      const page = await openPage(`#/agents/triage-ticket/compare?before=${current.id}&after=${draft.id}`)
      await page.setViewportSize({ width, height: 844 })
      await page.getByText('Added: ').first().waitFor()
      const widths: number[] = await page.evaluate(
        "[...document.querySelectorAll('.change-side, .line-diff > div > span:last-child')].map((each) => each.clientWidth || each.getBoundingClientRect().width)",
      )
      expect(widths.length).toBeGreaterThan(3)
      expect(Math.min(...widths)).toBeGreaterThan(240)
      expect(await getOverflow(page)).toBeLessThanOrEqual(0)
    },
  )

  it('offers a token that only reads nothing to change', async () => {
    scopes = ['read']
    const page = await openPage(draftHash)
    await page.getByRole('heading', { name: 'Instructions' }).waitFor()
    await page.getByText('read', { exact: true }).waitFor()
    expect(await page.locator('main .page-header .actions').getByRole('button').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Try draft' }).count()).toBe(0)
    await page.goto(`${stub.url}/console#/agents/triage-ticket`)
    await page.getByRole('heading', { name: 'Versions' }).waitFor()
    expect(await button(page, 'Archive…').count()).toBe(0)
    expect(await button(page, 'Start a rollout…').count()).toBe(0)
  })

  it('does not link versions for a token that is bound to a tenant', async () => {
    tenantId = 'acme'
    const page = await openPage('#/agents/triage-ticket')
    await page.getByRole('row', { name: /Draft/ }).waitFor()
    await page.getByText('acme', { exact: true }).waitFor()
    expect(await page.getByRole('row', { name: /Draft/ }).getByRole('link').count()).toBe(0)
    expect(await button(page, 'Compare').count()).toBe(0)
  })
})
