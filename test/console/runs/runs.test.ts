import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SentEvent } from '../../../clients/typescript/src/runs/sse.ts'
import { append } from '../../../console/api/use-list.ts'
import { hrefOf } from '../../../console/components/filters.ts'
import { toLocalText } from '../../../console/components/range.ts'
import { followRun } from '../../../console/run/follow-run.ts'
import {
  changeFilters,
  FILTERS,
  isSearch,
  NO_FILTERS,
  parseFilters,
  toApiRequest,
} from '../../../console/runs/filters.ts'
import { type Retry, retryRuns } from '../../../console/runs/retry.ts'
import { findUnknown, mergeNewest, patchRuns, type Run } from '../../../console/runs/run-list.ts'
import { firstLineOf } from '../../../console/runs/run-rows.tsx'
import { visibleRange } from '../../../console/runs/use-visible-range.ts'
import { parseHash } from '../../../console/state/location.ts'
import { anExecutionRecord } from '../../browser/stub/records.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const aRun = (number: number, overrides: Partial<Run> = {}): Run => anExecutionRecord(number, overrides)
const idsOf = (runs: Run[]) => runs.map(({ id }) => id)

describe('the filters of the list of runs', () => {
  const filtersOf = (query: string) => parseFilters(new URLSearchParams(query))

  it('are the query of the API', () => {
    const { path, query } = toApiRequest(filtersOf('status=ERROR&tenantId=acme&period=1h'), NOW)
    expect(path).toBe('/v1/agent_executions')
    expect(Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))).toEqual({
      ...{ status: 'ERROR', tenantId: 'acme', from: '2026-11-22T11:00:00.000Z', fields: 'summary' },
    })
  })

  it('include what no index has', () => {
    const filters = filtersOf('version=v&source=BATCH&model=m&errorCode=TimedOut&errorText=%20a%20b%20')
    expect(isSearch(filters)).toBe(true)
    expect(toApiRequest(filters, NOW).query).toMatchObject({
      ...{ version: 'v', source: 'BATCH', model: 'm', errorCode: 'TimedOut', errorText: 'a b' },
      status: 'ERROR',
    })
    expect(isSearch(filtersOf('status=ERROR&agent=a&tenantId=t&period=1h'))).toBe(false)
  })

  it('that exclude each other: the last one counts', () => {
    expect(filtersOf('status=SUCCESS&errorText=x').status).toBe('ERROR')
    const failed = changeFilters({ ...NO_FILTERS, status: 'SUCCESS' }, { errorCode: 'TimedOut' })
    expect(failed).toMatchObject({ status: 'ERROR', errorCode: 'TimedOut' })
    expect(changeFilters(failed, { status: 'SUCCESS' })).toMatchObject({ status: 'SUCCESS', errorCode: '' })
    expect(changeFilters(failed, { tenantId: 'a' }).errorCode).toBe('TimedOut')
  })

  it('are as short as the service accepts', () => {
    const filters = filtersOf(`errorText=${'x'.repeat(5_000)}&source=PARROT&version=${'1'.repeat(99)}`)
    expect([filters.errorText.length, filters.source, filters.version.length]).toEqual([200, '', 36])
  })

  it('choose the list of an agent, and are local times of the browser', () => {
    expect(toApiRequest(filtersOf('agent=a/b'), NOW).path).toBe('/v1/agents/a%2Fb/executions')
    const time = new Date(2026, 10, 1, 10, 30)
    expect(toLocalText(time.getTime())).toBe('2026-11-01T10:30')
    expect(toApiRequest(filtersOf('from=2026-11-01T10:30'), NOW).query.from).toBe(time.toISOString())
  })

  it('are ignored where they make no sense', () => {
    const filters = filtersOf('status=DONE&period=toString&from=yesterday&to=2026-99-99T00:00')
    expect(Object.values(filters).join('')).toBe('')
  })

  it('survive the URL', () => {
    const filters = filtersOf(
      'status=ERROR&agent=wait&tenantId=a%26b&from=2026-11-01T10:00&errorText=%26x&source=API&model=a%2Fb',
    )
    expect(parseFilters(parseHash(hrefOf('/runs', FILTERS, filters)).query)).toEqual(filters)
  })
})

describe('mergeNewest and patchRuns', () => {
  it('separates new runs from the state of known ones', () => {
    const runs = [aRun(2, { status: 'IN_PROGRESS', finishedAt: null }), aRun(3)]
    const page = [aRun(1), aRun(2), aRun(3)]
    expect(mergeNewest(runs, page, true)).toMatchObject({ fresh: [aRun(1)], hasGap: false })
    const patched = patchRuns(runs, page)
    expect(patched).toEqual([aRun(2), aRun(3)])
    expect(patched[1]).toBe(runs[1])
    expect(patchRuns(patched, page)).toBe(patched)
  })

  it('reports a gap when the page does not reach the list', () => {
    expect(mergeNewest([aRun(9)], [aRun(1), aRun(2)], false).hasGap).toBe(true)
    expect(mergeNewest([], [aRun(1)], false).hasGap).toBe(false)
  })
})

it('append skips what is listed already', () => {
  expect(idsOf(append([aRun(1), aRun(2)], [aRun(2), aRun(3)]))).toEqual(idsOf([aRun(1), aRun(2), aRun(3)]))
})

it('findUnknown names the runs in progress that a page says nothing about', () => {
  const open = (number: number) => aRun(number, { status: 'IN_PROGRESS' })
  expect(findUnknown([open(1), aRun(2), open(3), open(4)], [open(1)])).toEqual([open(3), open(4)])
})

it('firstLineOf is short, and has text', () => {
  expect(firstLineOf('\n  \r\nno table\r\nat line 2')).toBe('no table')
  expect(firstLineOf('a\u2028b')).toBe('a')
  expect(firstLineOf('x'.repeat(10_000))).toHaveLength(201)
  expect(firstLineOf('')).toBe('')
})

describe('visibleRange', () => {
  const window = fc.record({
    top: fc.integer({ min: -400_000, max: 2_000 }),
    windowHeight: fc.integer({ min: 1, max: 3_000 }),
    rowHeight: fc.integer({ min: 10, max: 100 }),
    count: fc.integer({ min: 0, max: 10_000 }),
  })

  it('contains every visible row and few others, and stays the same while a few rows are scrolled', () => {
    fc.assert(
      fc.property(window, ({ top, windowHeight, rowHeight, count }) => {
        const { start, end } = visibleRange({ top, windowHeight, rowHeight, count })
        expect(0 <= start && start <= end && end <= count).toBe(true)
        expect(end - start).toBeLessThanOrEqual(windowHeight / rowHeight + 44)
        const isVisible = (row: number) =>
          top + (row + 1) * rowHeight > 0 && top + row * rowHeight < windowHeight
        for (const row of [start - 1, end]) if (row >= 0 && row < count) expect(isVisible(row)).toBe(false)
      }),
    )
    const at = (top: number) => visibleRange({ top, windowHeight: 800, rowHeight: 40, count: 10_000 })
    expect(at(-40_040)).toEqual(at(-40_120))
  })
})

type Answer = { status: number; body: object; headers?: Record<string, string> }

const started = (id: string, ageMs = 0): Answer => ({
  status: 202,
  body: { id: `new-${id}`, status: 'IN_PROGRESS', createdAt: new Date(NOW - ageMs).toISOString() },
  headers: { Date: new Date(NOW).toUTCString() },
})
const problem = (status: number, code: string, headers = {}): Answer => ({
  status,
  body: { code, title: code, status, detail: `It is ${code}.`, type: 'x', instance: 'y' },
  headers: { 'Content-Type': 'application/problem+json', ...headers },
})

let requests: { id: string; key: string | null }[]
let answer: (id: string, attempt: number) => Answer | Promise<Answer>

beforeEach(() => {
  requests = []
  vi.stubGlobal('window', { location: { pathname: '/console' } })
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const id = /\/v1\/agent_executions\/(.*)\/rerun$/.exec(url)?.[1] ?? url
    requests.push({ id, key: new Headers(init.headers).get('Idempotency-Key') })
    const { status, body, headers } = await answer(id, requests.filter((each) => each.id === id).length)
    return new Response(JSON.stringify(body), { status, ...(headers && { headers }) })
  })
})
afterEach(() => vi.unstubAllGlobals())

async function retry(ids: string[], { signal = new AbortController().signal } = {}) {
  const states: Record<string, Retry> = {}
  const pauses: number[] = []
  await retryRuns(ids, {
    signal,
    onChange: (id, state) => void Object.assign(states, { [id]: state }),
    pause: async (ms) => void pauses.push(ms),
  })
  return { states, pauses }
}

it('runs each of them again once, with a key of its own', async () => {
  answer = started
  const ids = Array.from({ length: 20 }, (_, number) => `run-${number}`)
  const { states } = await retry(ids)
  expect(Object.values(states).map(({ state }) => state)).toEqual(Array(20).fill('started'))
  expect(requests.map(({ id }) => id).sort()).toEqual(ids.toSorted())
  await retry(ids.slice(0, 1))
  const keys = requests.filter(({ id }) => id === 'run-0').map(({ key }) => key)
  expect(keys).toEqual(['console-retry-run-0', 'console-retry-run-0'])
})

it('goes on with the others when one is rejected, and tells those that were retried before', async () => {
  answer = (id) => (id === 'b' ? problem(410, 'AgentArchived') : started(id, id === 'old' ? 3_600_000 : 900))
  const { states } = await retry(['old', 'b', 'new'])
  expect(states.b).toMatchObject({ state: 'rejected', error: { code: 'AgentArchived' } })
  expect(states).toMatchObject({ old: { isEarlier: true }, new: { isEarlier: false, id: 'new-new' } })
})

it('waits as long as the service says, and gives up in the end', async () => {
  answer = (id, attempt) =>
    id === 'busy' || attempt < 3 ? problem(429, 'TooManyRequests', { 'Retry-After': '7' }) : started(id)
  const { states, pauses } = await retry(['later'])
  expect(states.later?.state).toBe('started')
  expect(pauses).toEqual([7_000, 7_000])
  expect((await retry(['busy'])).states.busy).toMatchObject({ state: 'rejected' })
  expect(requests.filter(({ id }) => id === 'busy')).toHaveLength(6)
})

it('starts nothing more once it is stopped', async () => {
  const controller = new AbortController()
  answer = (id) => {
    if (requests.length === 3) controller.abort()
    return started(id)
  }
  const ids = Array.from({ length: 10 }, (_, number) => `run-${number}`)
  const { states } = await retry(ids, controller)
  const ends = Object.values(states).map(({ state }) => state)
  expect(ends.sort()).toEqual([...Array(3).fill('started'), ...Array(7).fill('stopped')])
  expect(requests).toHaveLength(3)
})

const sent = (event: string, data: object, id?: string): SentEvent => ({
  event,
  id,
  data: JSON.stringify(data),
})
const text = (piece: string) => sent('delta', { step: 1, try: 1, text: piece })
const call = (id: string, piece: string) =>
  sent('delta', { step: 1, try: 1, toolCall: { id, name: 'add', arguments: piece } })
const step = sent('step', { number: 1 }, '1')
const done = sent('done', { status: 'SUCCESS' })

/** What the page shows after each event. */
async function shownBy(streams: SentEvent[][]): Promise<string[]> {
  const shown: string[] = []
  await followRun({
    open: async () => {
      const events = streams.shift() ?? []
      return (async function* () {
        yield* events
      })()
    },
    signal: new AbortController().signal,
    onReconnecting: () => undefined,
    onSteps: () => undefined,
    onLive: (live) => void shown.push(live),
  })
  return shown
}

describe('followRun', () => {
  it('shows text and calls as they are written, until their step', async () => {
    const events = [
      text('I a'),
      text('dd.'),
      call('a', '{"x"'),
      call('b', '{}'),
      call('a', ':1}'),
      step,
      done,
    ]
    expect(await shownBy([events])).toEqual([
      'I a',
      'I add.',
      'I add.\nadd: {"x"',
      'I add.\nadd: {"x"\nadd: {}',
      'I add.\nadd: {"x":1}\nadd: {}',
      '',
    ])
  })

  it('begins again after a reset, in another stream, and at the end', async () => {
    const reset = sent('reset', { step: 1, try: 1 })
    const streams = [
      [text('a'), reset, text('b')],
      [text('bc'), done],
    ]
    expect(await shownBy(streams)).toEqual(['a', '', 'b', '', 'bc', ''])
  })
})
