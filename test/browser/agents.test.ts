import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VersionDetails } from '../../lib/api/schemas/agent-record.ts'
import { InputSchemaMismatch } from '../../lib/core/errors.ts'
import type { HttpResponse } from '../../lib/http/event.ts'
import { aMe, anAgentRecord, anExecutionRecord, aVersionRecord, idOf } from './stub/records.ts'
import { pageOf } from './stub/responses.ts'
import { type Stub, startStub } from './stub/start-stub.ts'
import { useBrowser } from './support/browser.ts'
import { focusedName } from './support/page.ts'

const AGENTS = 230

const inputSchema = {
  customer: {
    type: 'object',
    description: 'Who orders.',
    properties: {
      name: { type: 'string', minLength: 1 },
      number: { type: 'integer', required: false },
      note: { type: 'string', required: false },
    },
  },
  speed: { type: 'string', enum: ['slow', 'fast'], default: 'slow' },
  gift: { type: 'boolean', required: false },
  items: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      properties: { article: { type: 'string' }, count: { type: 'integer', default: 1 } },
    },
  },
}

const { open } = useBrowser()
let stub: Stub
let sent: string[] = []
let answer: (event: APIGatewayProxyEvent) => HttpResponse

const anAgent = (number: number) =>
  anAgentRecord({ id: idOf(number), slug: `agent-${number}`, title: `Agent ${number}`, inputSchema })
const agents = Array.from({ length: AGENTS }, (_, number) => anAgent(number))

function details(id: string, changes: Partial<VersionDetails>): VersionDetails {
  const record = aVersionRecord({ id, inputSchema })
  return { ...record, code: false, instructions: '', modelSettings: null, tools: [], env: [], ...changes }
}

const versions = [
  details(idOf(11), {
    model: 'openai/gpt-5',
    instructions: 'Be kind.\nBe brief.',
    message: 'A better model',
  }),
  details(idOf(10), { model: 'openai/gpt-4', instructions: 'Be kind.\nBe long.' }),
]

const succeed = (): HttpResponse => ({
  status: 200,
  headers: { 'Content-Type': 'text/event-stream', 'X-Execution-Id': idOf(99) },
  stream: `event: done\ndata: ${JSON.stringify(anExecutionRecord(1, { id: idOf(99) }))}\n\n`,
})

beforeAll(async () => {
  stub = await startStub({
    'get-me': () => ({ status: 200, body: aMe() }),
    'list-agents': (event) => pageOf(agents, event),
    'get-agent': () => ({ status: 200, body: { ...anAgent(7), currentVersionId: idOf(11) } }),
    'list-versions': () => ({ status: 200, body: versions }),
    'get-version': ({ pathParameters }) => ({
      status: 200,
      body: versions.find(({ id }) => id === pathParameters?.versionId) ?? versions[0] ?? {},
    }),
    'list-agent-executions': () => ({
      status: 200,
      body: [
        anExecutionRecord(1),
        anExecutionRecord(2),
        anExecutionRecord(3, {
          status: 'ERROR',
          output: null,
          error: { code: 'TimedOut', message: 'Too slow.' },
        }),
      ],
    }),
    'run-agent': (event) => {
      sent.push(event.body ?? '')
      return answer(event)
    },
  })
})
afterAll(() => stub?.stop())
beforeEach(() => {
  sent = []
  answer = succeed
})

async function openPage(hash: string): Promise<Page> {
  const page = await open(`${stub.url}/console#token=x`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goto(`${stub.url}/console${hash}`)
  return page
}

const openTry = async () => {
  const page = await openPage('#/agents/agent-7/try')
  await page.getByLabel(/^name/).waitFor()
  return page
}

const editor = (page: Page) => page.getByRole('textbox', { name: 'Input as JSON' })
const showJson = (page: Page) => page.getByRole('button', { name: 'JSON', exact: true }).click()
const run = (page: Page) => page.getByRole('button', { name: /^Run/ }).click()

describe('the list of agents', () => {
  it('finds an agent of the last page', async () => {
    const page = await openPage('#/agents')
    await page.getByText(`${AGENTS} agents`).waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('AGENT 229')
    await page.getByText(`1 of ${AGENTS} agents`).waitFor()
    await page.getByRole('link', { name: 'Agent 229', exact: true }).waitFor()
    expect(page.url()).toContain('search=AGENT+229')
  })
})

describe('the page of an agent', () => {
  it('shows schemas, versions and how the recent runs went', async () => {
    const page = await openPage('#/agents/agent-7')
    const row = page.getByRole('region', { name: 'Input schema' }).getByRole('row', { name: /speed/ })
    expect(await row.first().textContent()).toContain('one of "slow", "fast"')
    await page.getByText('67% succeeded, 1 failed').waitFor()
    await page.getByRole('figure', { name: 'Durations of the last 3 runs' }).waitFor()
    await page.getByText('A better model').waitFor()
  })

  it('compares two versions', async () => {
    const page = await openPage('#/agents/agent-7')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page
      .getByRole('listitem')
      .filter({ hasText: /\/model.*gpt-4.*gpt-5/ })
      .waitFor()
    await page.getByText('Removed: Be long.').waitFor()
    await page.getByText('Added: Be brief.').waitFor()
  })
})

describe('the form of an input', () => {
  it('sends what was typed, digit by digit', async () => {
    const page = await openTry()
    await page.getByLabel(/^name/).fill("O'Neill")
    await page.getByLabel('number').fill('12345678901234567890')
    await page.getByLabel('gift').selectOption('true')
    await page.getByLabel('article').fill('tea')
    await run(page)
    await page.getByRole('heading', { name: /^Result.*Success/ }).waitFor()
    const expected =
      '{"customer":{"name":"O\'Neill","number":12345678901234567890},"speed":"slow","gift":true,"items":[{"article":"tea","count":1}]}'
    expect(sent.map((body) => body.replace(/\s+/g, ''))).toEqual([expected])
  })

  it('adds and removes items, and the focus follows', async () => {
    const page = await openTry()
    await page.getByRole('button', { name: 'Add item to items' }).click()
    expect(await focusedName(page)).toContain('article')
    await page.keyboard.type('second')
    await page.getByRole('button', { name: 'Remove items 1' }).click()
    expect(await focusedName(page)).toBe('Remove items 1')
    expect(await page.getByLabel('article').inputValue()).toBe('second')
    await page.keyboard.press('Enter')
    expect(await focusedName(page)).toBe('Add item to items')
  })

  it('leaves out a field that is emptied, and keeps what the schema does not know', async () => {
    const page = await openTry()
    await showJson(page)
    await editor(page).fill('{"customer": {"name": "a", "note": "b"}, "items": [], "extra": [1.50]}')
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    await page.getByText('is not in the schema').waitFor()
    await page.getByLabel('note').fill('')
    await showJson(page)
    expect((await editor(page).inputValue()).replace(/\s+/g, '')).toBe(
      '{"customer":{"name":"a"},"items":[],"extra":[1.50]}',
    )
  })

  it('shows what the service rejects at its field, and at its line', async () => {
    const message = '/customer/name is not known to us.'
    answer = () => {
      throw new InputSchemaMismatch([{ path: '/customer/name', message }])
    }
    const page = await openTry()
    await page.getByLabel(/^name/).fill('Nobody')
    await page.getByLabel('article').fill('tea')
    await run(page)
    const field = page.getByLabel(/^name/)
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    const [, errorId] = (await field.getAttribute('aria-describedby'))?.split(' ') ?? []
    const error = await page.locator(`[id="${errorId}"]`).textContent()
    expect(error).toBe('Is not known to us.')
    await showJson(page)
    await page.getByRole('button', { name: 'Line 3, column 5' }).waitFor()
    const shown = page.getByText('Is not known to us.')
    await expect.poll(() => shown.count()).toBe(2)
    await editor(page).fill('{"customer": {"name": "Somebody"}, "items": []}')
    await expect.poll(() => shown.count()).toBe(1)
  })
})

describe('a long input', () => {
  it('of 5 MB is checked and sent as it is, and shown shortened', async () => {
    const text = `{"customer": {"name": "a"}, "items": [{"article": "${'tea '.repeat(1_250_000)}", "count": "x"}]}`
    const page = await openTry()
    await showJson(page)
    await editor(page).fill(text)
    await page.getByText('items 1 › count: Enter a whole number.').waitFor()
    expect((await page.locator('main').textContent())?.length).toBeLessThan(20_000)
    await page.getByRole('button', { name: 'Save it as input.json' }).waitFor()
    await run(page)
    await page.getByRole('button', { name: 'Run anyway' }).click()
    await page.getByRole('heading', { name: /^Result.*Success/ }).waitFor()
    expect(sent).toEqual([text])
    await page.getByRole('button', { name: 'Clear' }).click()
    expect(await editor(page).inputValue()).toBe('{}')
  })

  it('of some thousand lines can be edited', async () => {
    const text = `{\n${Array.from({ length: 4_000 }, (_, index) => `"field${index}": ${index}`).join(',\n')}\n}`
    const page = await openTry()
    await showJson(page)
    await editor(page).fill(text)
    expect(await editor(page).inputValue()).toBe(text)
    await page.getByText('field0: Unknown field').waitFor()
  })
})
