import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ApprovalRecord } from '../../lib/api/schemas/execution-record.ts'
import type { HttpResponse } from '../../lib/http/event.ts'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { aMe, anAgentRecord, anExecutionRecord, aStepRecord } from './stub/records.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { anApproval } from './stub/work.ts'
import { useBrowser } from './support/browser.ts'
import { button, focusedText, tabTo } from './support/page.ts'

const { open } = useBrowser()

const title = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 2, name })

/** The first run of an agent takes long on a busy machine. */
const RUN_TIMEOUT_MS = 150_000

describe('approvals of runs', { timeout: RUN_TIMEOUT_MS }, () => {
  let demo: Demo
  beforeAll(async () => {
    demo = await startDemo()
  })
  afterAll(() => demo?.stop())

  /** A run that waits for an approval. */
  const ask = (usd: number, tenantId: string) =>
    demo.run('refund-order', { orderId: `A-${usd}`, usd }, `execMode=async&tenantId=${tenantId}`)
  const titleOf = (usd: number) => `Refund ${usd} dollars of order A-${usd}?`

  async function openInbox(tenantId: string): Promise<Page> {
    const page = await open(`${demo.url}/console#token=${demo.token}`)
    await page.goto(`${demo.url}/console#/approvals?tenantId=${tenantId}`)
    return page
  }

  const ended = async (id: string) => {
    const path = `/v1/agent_executions/${id}`
    return (await demo.call('GET', path, { headers: { Prefer: 'wait=20' } })).json
  }
  /** The development token may decide on everything; so may this test. */
  const waiting = async (id: string) =>
    expect
      .poll(async () => (await demo.call('GET', `/v1/agent_executions/${id}`)).json.waitingFor, {
        timeout: 50_000,
      })
      .toHaveLength(1)

  it('are counted, shown, and approved with another input', async () => {
    const [first, second] = [await ask(201, 'mouse'), await ask(202, 'mouse')]
    await waiting(first)
    await waiting(second)
    const page = await openInbox('mouse')
    await page.getByRole('link', { name: /^Approvals\s*2/ }).waitFor()
    await page.getByRole('link', { name: titleOf(201) }).click()
    await title(page, titleOf(201)).waitFor()
    expect(page.url()).toContain(`item=${first}.`)
    await button(page, 'Edit input').click()
    const editor = page.getByRole('textbox', { name: 'Input as JSON' })
    await editor.fill('{"orderId": "A-201", "usd": 150}')
    await page.getByLabel('Note').fill('Half of it.')
    await button(page, 'Approve with changes').click()
    // The other one is next, and has the focus.
    await title(page, titleOf(202)).waitFor()
    await expect.poll(() => focusedText(page)).toBe(titleOf(202))
    expect((await ended(first)).output).toMatchObject({
      ...{ refunded: true, usd: 150, reason: expect.stringContaining('Half of it.') },
    })
    await page.getByRole('link', { name: /^Approvals\s*1/ }).waitFor()
    await button(page, 'Reject').click()
    await page.getByText('No open approval matches these filters.').waitFor()
    expect((await ended(second)).output).toMatchObject({ refunded: false })
    await expect.poll(() => focusedText(page)).toMatch(/^No open approval/)

    // What became of the first one is at its address.
    await page.goto(`${demo.url}/console#/runs`)
    await page.goto(`${demo.url}/console#/approvals?item=${first}.${await approvalIdOf(first)}`)
    await page.getByText(/^Approved with changes by/).waitFor()
    await page.getByText('Half of it.').waitFor()
  })

  const approvalIdOf = async (id: string) =>
    (await demo.call('GET', `/v1/agent_executions/${id}/steps`)).json[0].wait.id

  it('are approved with the keyboard only', async () => {
    const id = await ask(301, 'keyboard')
    await waiting(id)
    const page = await openInbox('keyboard')
    await title(page, titleOf(301)).waitFor()
    await tabTo(page, titleOf(301))
    await page.keyboard.press('Enter')
    await tabTo(page, 'Note')
    await page.keyboard.type('By keyboard.')
    await tabTo(page, 'Approve')
    await page.keyboard.press('Enter')
    await page.getByText('No open approval matches these filters.').waitFor()
    expect((await ended(id)).output).toMatchObject({ usd: 301, reason: expect.stringContaining('keyboard') })
  })

  it('that somebody else decides meanwhile show by whom', async () => {
    const id = await ask(401, 'another')
    await waiting(id)
    const page = await openInbox('another')
    await title(page, titleOf(401)).waitFor()
    const path = `/v1/agent_executions/${id}/approvals/${await approvalIdOf(id)}`
    const body = { decision: 'reject', note: 'Too late.' }
    expect((await demo.call('POST', path, { body })).status).toBe(200)
    await button(page, 'Approve').click()
    await page.getByText('Rejected by').waitFor()
    await page.getByText('Too late.').waitFor()
    await expect.poll(() => focusedText(page)).toBe(titleOf(401))
  })
})

describe('approvals', () => {
  let stub: Stub
  let me: object
  let approvals: ApprovalRecord[]
  let listed: Record<string, string | undefined>[]
  let sent: { path: Record<string, string | undefined>; body: unknown }[]
  let answer: HttpResponse

  beforeAll(async () => {
    stub = await startStub({
      'get-me': () => ({ status: 200, body: me }),
      'list-agents': () => ({ status: 200, body: [anAgentRecord()] }),
      'list-approvals': ({ queryStringParameters }) => {
        const query = queryStringParameters ?? {}
        listed.push(query)
        const body = approvals.filter(({ tenantId }) => !query.tenantId || tenantId === query.tenantId)
        return { status: 200, body }
      },
      'decide-approval': ({ pathParameters, body }) => {
        sent.push({ path: pathParameters ?? {}, body: JSON.parse(body ?? '') })
        return answer
      },
      'get-execution': () => ({ status: 200, body: anExecutionRecord(0) }),
      'list-steps': () => ({ status: 200, body: [aStepRecord(1)] }),
    })
  })
  afterAll(() => stub?.stop())
  beforeEach(() => {
    me = { ...aMe(), scopes: ['read', 'approve'] }
    approvals = [anApproval(1), anApproval(2, { tenantId: 'acme' }), anApproval(3)]
    listed = []
    sent = []
    answer = { status: 200, body: {} }
  })

  async function openInbox(query = ''): Promise<Page> {
    const page = await open(`${stub.url}/console#token=x`)
    await page.goto('about:blank')
    listed = []
    await page.goto(`${stub.url}/console#/approvals${query}`)
    await page.getByText(/open approval/).waitFor()
    return page
  }

  it('keep their filters in the URL', async () => {
    const page = await openInbox()
    await page.getByLabel('Tenant').fill('acme')
    await page.keyboard.press('Enter')
    await page.getByText('1 open approval').waitFor()
    expect(page.url()).toContain('tenantId=acme')
    await page.reload()
    await title(page, 'Refund 2?').waitFor()
    await page.getByLabel('Title', { exact: true }).fill('nothing')
    await page.getByText('No open approval matches these filters.').waitFor()
  })

  it('say why a token cannot decide, instead of offering it', async () => {
    approvals = [anApproval(1, { mayDecide: false })]
    const page = await openInbox()
    await page.getByText('Your token started this run').waitFor()
    expect(await button(page, 'Approve').count()).toBe(0)
    me = { ...aMe(), scopes: ['read'] }
    const other = await openInbox()
    await other.getByText('Deciding needs a token with the scope approve').waitFor()
    expect(await button(other, 'Approve').count()).toBe(0)
    expect(await other.locator('.nav-count').count()).toBe(0)
  })

  it('check an edited input against the schema of the tool', async () => {
    const inputSchema = { type: 'object', properties: { usd: { type: 'number', maximum: 300 } } }
    approvals = [anApproval(1, { inputSchema })]
    const page = await openInbox()
    await button(page, 'Edit input').click()
    const editor = page.getByRole('textbox', { name: 'Input as JSON' })
    await editor.fill('{"usd": 500}')
    await page.getByText(/Line 1, column/).waitFor()
    expect(await button(page, 'Approve with changes').isDisabled()).toBe(true)
    await editor.fill('{"usd": 12345678901234567890}')
    await button(page, 'Discard changes').click()
    await button(page, 'Approve').click()
    await expect.poll(() => sent.length).toBe(1)
    expect(sent[0]?.body).toEqual({ decision: 'approve' })
  })

  it('are decided once, however often the button is clicked', async () => {
    const page = await openInbox()
    await title(page, 'Refund 1?').waitFor()
    await button(page, 'Approve').dblclick()
    await title(page, 'Refund 2?').waitFor()
    expect(sent.map(({ path }) => path.executionId)).not.toContain(approvals[2]?.executionId)
    expect(sent.filter(({ path }) => path.executionId === approvals[0]?.executionId)).toHaveLength(1)
  })

  it('keep what was typed after a look at the run', async () => {
    const page = await openInbox(`?item=${approvals[1]?.executionId}.${approvals[1]?.id}`)
    await title(page, 'Refund 2?').waitFor()
    await page.getByLabel('Note').fill('I look first.')
    await page.locator('.approval').getByRole('link', { name: /^01/ }).last().click()
    await page.getByRole('heading', { level: 1, name: /Run|Triage/ }).waitFor()
    await page.goBack()
    await title(page, 'Refund 2?').waitFor()
    expect(await page.getByLabel('Note').inputValue()).toBe('I look first.')
  })

  it('show an input of 100 kB and a title that would reverse the line', async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => ({ index, text: 'x'.repeat(30) }))
    approvals = [anApproval(1, { title: 'Pay \u202e001 usd\u202c?', input: { rows } })]
    const page = await openInbox()
    await title(page, /^Pay/).waitFor()
    expect(await title(page, /^Pay/).locator('bdi').count()).toBe(1)
    await page.getByRole('button', { name: /^Text$/ }).click()
    await button(page, 'Approve').click()
    await expect.poll(() => sent.length).toBe(1)
    expect(sent[0]?.body).toEqual({ decision: 'approve' })
  })

  it('are asked for without their inputs while the inbox is open', async () => {
    const page = await openInbox()
    await title(page, 'Refund 1?').waitFor()
    approvals = [anApproval(2), anApproval(4)]
    await page.getByRole('link', { name: 'Refund 4?' }).waitFor({ timeout: 25_000 })
    expect(await page.getByRole('link', { name: 'Refund 3?' }).count()).toBe(0)
    expect(listed.filter(({ fields }) => fields === 'summary').length).toBeGreaterThan(1)
    expect(listed.filter(({ fields }) => fields !== 'summary').length).toBe(2)
  })
})
