import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Retry, retryRuns } from '../../../console/runs/retry.ts'

type Answer = { status: number; body: object; headers?: Record<string, string> }

const NOW = Date.parse('2026-11-26T04:00:00Z')
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
afterEach(() => {
  vi.unstubAllGlobals()
})

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
