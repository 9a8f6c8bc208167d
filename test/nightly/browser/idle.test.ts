import { Readable } from 'node:stream'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toBill, totalOf } from '../../../bench/costs/prices.ts'
import { ownMilliseconds } from '../../../bench/costs/usage.ts'
import { getFunctionSettings } from '../../../infra/functions/function-settings.ts'
import { functionOf } from '../../../lib/contract/routes.ts'
import { plainAnswers } from '../../browser/stub/plain-answers.ts'
import {
  AGENT_ID,
  aBatch,
  aMe,
  anAgentRecord,
  anApproval,
  anExecutionRecord,
  aUsageRow,
  idOf,
} from '../../browser/stub/records.ts'
import { type Stub, startStub } from '../../browser/stub/start-stub.ts'
import { loadPage, useBrowser } from '../../browser/support/browser.ts'
import { measureTransfer } from '../../browser/support/metrics.ts'
import { addressOf, PAGES, STUB_IDS } from '../../browser/support/pages.ts'
import { findOperation } from '../../support/service/documented-headers.ts'

const MAX_DOLLARS = 1
const SECOND = 1_000
const MINUTE = 60 * SECOND
const MINUTES_PER_MONTH = 30 * 24 * 60

/** The time in which polls become fewer, and the time that is measured. */
const BEFORE_MINUTES = 20
const MEASURED_MINUTES = 20
const STEP_MS = 10 * SECOND
const ROUND_TRIPS = 2
const STATUS_AND_HEADER_BYTES = 600

/** Of a page of 50, of a list to which nothing was added, and of runs in progress: list-costs of test/dynamodb. */
const [PAGE_UNITS, NOTHING_UNITS, OPEN_UNITS] = [58, 5, 25]
/** Of other requests, as the service has read them in a table with 100 runs. */
const OTHER_UNITS = 15

const { openLink } = useBrowser()
let stub: Stub

const [RUNNING, WAITING] = [idOf(990_000), idOf(980_000)]
const open1 = { finishedAt: null, output: null, status: 'IN_PROGRESS' } as const
const running = { ...anExecutionRecord(10_000, open1), id: RUNNING }
const waiting = {
  ...anExecutionRecord(20_000, open1),
  ...{ id: WAITING, waitingFor: [{ kind: 'time', name: 'pause', since: running.createdAt, until: null }] },
}
const OPEN_BATCH = aBatch(7, { status: 'IN_PROGRESS', endedAt: null })
const STREAM = { 'Content-Type': 'text/event-stream' }
const silent = () => ({ status: 200, stream: new Readable({ read: () => undefined }), headers: STREAM })

beforeAll(async () => {
  const runs = Array.from({ length: 100 }, (_, number) => anExecutionRecord(number))
  const list = ({ queryStringParameters }: { queryStringParameters: Record<string, unknown> | null }) => {
    const { from, status, limit } = queryStringParameters ?? {}
    const isRecent = from !== undefined && Date.parse(String(from)) > Date.now() - 2 * MINUTE
    if (status === 'IN_PROGRESS') return { status: 200, body: [running, waiting] }
    return { status: 200, body: isRecent ? [] : [running, waiting, ...runs].slice(0, Number(limit)) }
  }
  const [approval, usage] = [anApproval(1), aUsageRow({ start: new Date().toISOString(), agentId: AGENT_ID })]
  stub = await startStub({
    ...plainAnswers,
    // The same each time.
    'list-approvals': () => ({ status: 200, body: [approval] }),
    'get-usage': () => ({ status: 200, body: [usage] }),
    'get-me': () => ({
      status: 200,
      body: { ...aMe(), scopes: ['run', 'read', 'manage', 'review', 'approve'] },
    }),
    'list-executions': list as never,
    'list-agent-executions': list as never,
    'get-agent': () => ({
      status: 200,
      body: anAgentRecord({
        rollout: {
          ...{ versionId: idOf(4), percent: 5, key: 'tenant' },
          ...{ startedAt: new Date().toISOString(), updatedAt: new Date().toISOString() },
        },
      }),
    }),
    'get-execution': ({ pathParameters }) => {
      const id = pathParameters?.executionId
      return { status: 200, body: id === RUNNING ? running : id === WAITING ? waiting : anExecutionRecord(0) }
    },
    'stream-events': ({ pathParameters }) =>
      pathParameters?.executionId === WAITING
        ? {
            ...{ status: 200, headers: STREAM },
            stream: `event: waiting\ndata: ${JSON.stringify({ id: WAITING, waitingFor: waiting.waitingFor })}\n\n`,
          }
        : silent(),
    'get-batch': ({ headers, pathParameters }) =>
      headers.Accept === 'text/event-stream' || headers.accept === 'text/event-stream'
        ? silent()
        : { status: 200, body: pathParameters?.batchId === OPEN_BATCH.id ? OPEN_BATCH : aBatch(1) },
    'list-batches': () => ({ status: 200, body: [OPEN_BATCH, aBatch(1)] }),
  })
})
afterAll(() => stub?.stop())

/** What pages have asked for. `gigabyteSeconds`: of streams, which take a function as long as they are open. */
type Asked = { requests: Request[]; gigabyteSeconds: number }

const memoryOf = (request: Request): number => {
  const operation = findOperation(request.method(), request.url())
  return operation ? getFunctionSettings(functionOf(operation)).memoryMb : 0
}

function unitsOf(request: Request): number {
  const { pathname, searchParams } = new URL(request.url())
  if (!pathname.endsWith('executions')) return OTHER_UNITS
  if (searchParams.get('status') === 'IN_PROGRESS') return OPEN_UNITS
  return searchParams.has('from') ? NOTHING_UNITS : PAGE_UNITS
}

const isStream = (request: Request) => request.headers().accept === 'text/event-stream'

/** Some minutes of a clock of its own, in which nobody does anything. */
async function idle(page: Page, minutes: number, watched: ReturnType<typeof watch>): Promise<void> {
  for (let passed = 0; passed < minutes * MINUTE; passed += STEP_MS) {
    await page.clock.runFor(STEP_MS)
    await expect.poll(() => watched.countPending(), { interval: 5 }).toBe(0)
    watched.addStreams(STEP_MS / SECOND)
  }
}

/** Follows the requests of a page to the API. */
function watch(page: Page) {
  const pending = new Set<Request>()
  const asked: Asked = { requests: [], gigabyteSeconds: 0 }
  page.on('request', (request) => {
    if (!request.url().includes('/v1/')) return
    pending.add(request)
    asked.requests.push(request)
  })
  page.on('requestfinished', (request) => pending.delete(request))
  page.on('requestfailed', (request) => pending.delete(request))
  return {
    countPending: () => [...pending].filter((request) => !isStream(request)).length,
    addStreams(seconds: number) {
      for (const request of pending)
        if (isStream(request)) asked.gigabyteSeconds += seconds * (memoryOf(request) / 1_024)
    },
    take(): Asked {
      const { requests, gigabyteSeconds } = asked
      asked.requests = []
      asked.gigabyteSeconds = 0
      return { requests, gigabyteSeconds }
    },
  }
}

/** Dollars of a month of minutes like these. */
function priceOf({ requests, gigabyteSeconds }: Asked, bodyBytes: number): number {
  const gigabyteSecondsOf = (request: Request) => {
    const memoryMb = memoryOf(request)
    const ms = memoryMb && ownMilliseconds({ memoryMb, roundTrips: ROUND_TRIPS })
    return (memoryMb / 1_024) * (ms / SECOND)
  }
  const bill = toBill({
    ...{ apiRequests: requests.length, invocations: requests.length },
    readUnits: requests.reduce((sum, request) => sum + unitsOf(request), 0),
    ...{ writeUnits: 0, queueRequests: 0, messages: 0 },
    gigabyteSeconds: requests.reduce((sum, request) => sum + gigabyteSecondsOf(request), gigabyteSeconds),
    logBytes: requests.length * 900,
    traces: requests.length * 0.05,
    sentBytes: bodyBytes + requests.length * STATUS_AND_HEADER_BYTES,
  })
  return (totalOf(bill) * MINUTES_PER_MONTH) / MEASURED_MINUTES
}

async function openIdle(hash: string): Promise<Page> {
  const page = await openLink(`${stub.url}/console#token=x`)
  await page.clock.install()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await loadPage(page, stub.url, hash)
  return page
}

const ROWS: [string, string][] = [
  ...PAGES.map(([name, hash]): [string, string] => [name, addressOf(hash, STUB_IDS)]),
  ['overview of an hour', '#/?period=1h'],
  ['runs of a search', '#/runs?errorText=e'],
  ['run that never ends', `#/runs/${RUNNING}`],
  ['run that waits', `#/runs/${WAITING}`],
  ['batch that never ends', `#/batches/${OPEN_BATCH.id}`],
]

describe('a tab that nobody looks at costs at most $1 a month', () => {
  it.each(ROWS)('%s', { timeout: 240_000 }, async (name, hash) => {
    const page = await openIdle(hash)
    const watched = watch(page)
    await idle(page, BEFORE_MINUTES, watched)
    watched.take()
    const bytes = await measureTransfer(page, () => idle(page, MEASURED_MINUTES, watched))
    const asked = watched.take()
    const dollars = priceOf(asked, bytes)
    const perHour = (amount: number) => Math.round((amount * 60) / MEASURED_MINUTES)
    console.log(
      `${name}: ${perHour(asked.requests.length)} requests and ${perHour(bytes)} bytes an hour, $${dollars.toFixed(2)} a month`,
    )
    expect(dollars).toBeLessThanOrEqual(MAX_DOLLARS)
  })
})
