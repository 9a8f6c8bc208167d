import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AgentError, type Client, parseWebhook } from '../../../clients/typescript/src/index.ts'
import { parsePartial } from '../../../clients/typescript/src/runs/partial.ts'
import {
  type Answer,
  cut,
  drop,
  events,
  hang,
  html,
  json,
  problem,
  type Received,
  scriptedService,
} from './scripted-service.ts'

/** `clients/scenarios.json`: what clients in all languages do. `clients/python/tests` reads it too. */
type Table = {
  now: number
  scenarios: (Scenario & { each?: Partial<Scenario>[] })[]
  partial: [string, object | null][]
  webhooks: {
    name: string
    body: string
    headers: Record<string, string>
    secret: string
    reason: string | null
  }[]
}

type Scenario = {
  name: string
  client?: object
  call: { method: string; args?: unknown[]; options?: object }
  answers: (TableAnswer & { times?: number })[]
  result?: unknown
  /** Events as name and data, or items of a list. */
  items?: unknown[]
  error?: object
  told?: string[][]
  sameKey?: true
  /** Their number, or each of them as far as it is known: the method, the path, headers and the body. */
  requests?: number | (Row | { times: number; request: Row })[]
}

type TableAnswer = {
  drop?: true
  cut?: true
  hang?: true
  page?: number
  problem?: [number, string, object?]
  events?: (string | [string, unknown, number?])[]
  then?: 'end' | 'break' | 'stay'
  status?: number
  json?: unknown
  text?: string
  headers?: Record<string, string>
}

type Row = [
  method?: string | null,
  path?: string | null,
  headers?: Record<string, string | null | { match: string }> | null,
  body?: unknown,
]

const TABLE: Table = JSON.parse(readFileSync('clients/scenarios.json', 'utf8'))

const SCENARIOS = TABLE.scenarios.flatMap(({ each = [{}], ...scenario }) =>
  each.map((variant) => ({
    ...scenario,
    ...variant,
    name: `${scenario.name} ${variant.name ?? ''}`.trim(),
  })),
)

function toAnswer(answer: TableAnswer): Answer {
  const { headers } = answer
  if (answer.drop) return drop
  if (answer.cut) return cut
  if (answer.hang) return hang
  if (answer.page) return html(answer.page, headers)
  if (answer.problem) return problem(answer.problem[0], answer.problem[1], answer.problem[2], headers)
  if (answer.events) return events(answer.events.map(toBlock), answer.then, headers)
  if (answer.json !== undefined) return json(answer.status ?? 200, answer.json, headers)
  return (response) => void response.writeHead(answer.status ?? 200, headers).end(answer.text)
}

function toBlock(part: string | [string, unknown, number?]): string {
  if (typeof part === 'string') return part
  const [event, data, id] = part
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

type Method = (...args: unknown[]) => Promise<unknown> | AsyncIterable<unknown>

/** Makes the call, and returns what it has yielded and its result or error. */
async function make({ call, told }: Scenario, client: Client) {
  const [items, reports]: [unknown[], string[][]] = [[], []]
  const onWaiting = (waits: { name: string }[]) => void reports.push(waits.map(({ name }) => name))
  const options = { ...call.options, ...(told && { onWaiting }) }
  const method = (client[call.method as keyof Client] as unknown as Method).bind(client)
  const outcome = await (async () => {
    const made = method(...(call.args ?? []), ...(Object.keys(options).length > 0 ? [options] : []))
    if (!(Symbol.asyncIterator in made)) return { result: await made }
    for await (const item of made) items.push(item)
    return {}
  })().catch((error: unknown) => ({ error }))
  return { items, reports, ...outcome }
}

function checkRequests(requests: Received[], { requests: expected, sameKey }: Scenario): void {
  const posts = requests.filter(({ headers }) => 'idempotency-key' in headers)
  if (sameKey)
    expect(new Set(posts.map(({ headers, body }) => headers['idempotency-key'] + body)).size).toBe(1)
  if (expected === undefined) return
  if (typeof expected === 'number') {
    expect(requests).toHaveLength(expected)
    return
  }
  const rows = expected.flatMap((row) => (Array.isArray(row) ? [row] : Array(row.times).fill(row.request)))
  expect(requests).toHaveLength(rows.length)
  for (const [index, [method, path, headers, body]] of rows.entries()) {
    const request = requests[index] as Received
    if (method) expect(request.method).toBe(method)
    if (path) expect(request.path).toBe(path)
    for (const [name, value] of Object.entries((headers ?? {}) as NonNullable<Row[2]>))
      if (value === null || typeof value === 'string') expect(request.headers[name] ?? null).toBe(value)
      else expect(request.headers[name]).toMatch(new RegExp(value.match))
    if (typeof body === 'string') expect(request.body).toBe(body)
    else if (Array.isArray(body))
      expect(
        request.body
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual(body)
    else if (body) expect(JSON.parse(request.body)).toEqual(body)
  }
}

describe('scenarios', () => {
  // No backoff.
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
  afterEach(() => void vi.restoreAllMocks())

  it.each(SCENARIOS)('$name', async (scenario) => {
    const answers = scenario.answers.flatMap((answer) => Array(answer.times ?? 1).fill(toAnswer(answer)))
    const { client, requests } = await scriptedService(answers, scenario.client)
    const made = await make(scenario, client)
    if (scenario.error) {
      expect(made).toMatchObject({ error: scenario.error })
      expect('error' in made && made.error).toBeInstanceOf(AgentError)
    } else expect(made).not.toHaveProperty('error')
    if (scenario.result) expect(made).toMatchObject({ result: scenario.result })
    const isStream = scenario.call.method === 'stream' || scenario.call.method === 'events'
    const items = isStream
      ? (made.items as { event: string; data: unknown }[]).map(({ event, data }) => [event, data])
      : made.items
    if (scenario.items) expect(items).toEqual(scenario.items)
    expect(made.reports).toEqual(scenario.told ?? [])
    checkRequests(requests, scenario)
  })
})

describe('parsePartial', () => {
  it.each(TABLE.partial)('of %s is %j', (text, expected) =>
    expect(parsePartial(text, JSON.parse) ?? null).toEqual(expected),
  )
})

describe('parseWebhook', () => {
  beforeEach(() => void vi.useFakeTimers({ now: TABLE.now * 1000, toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  it.each(TABLE.webhooks)('$name: $reason', async ({ body, headers, secret, reason }) => {
    const parsed = parseWebhook(body, headers, secret)
    if (reason === null) expect(await parsed).toEqual(JSON.parse(body))
    else await expect(parsed).rejects.toMatchObject({ code: 'InvalidWebhook', reason })
  })
})
