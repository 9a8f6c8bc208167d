import { v7 } from 'uuid'
import { type Execution, newExecution } from '../../lib/core/execution.ts'
import { toItem } from '../../lib/dynamodb/execution-item.ts'
import { organizationStore } from '../../lib/dynamodb/organization-store.ts'
import type { Table } from '../../lib/dynamodb/table/table.ts'
import { tokenStore } from '../../lib/dynamodb/token-store.ts'
import { system } from '../../lib/system.ts'
import { newToken } from '../../lib/tokens/token.ts'
import { generateLoad, interleave, timed } from '../harness/rounds.ts'
import { NO_OP } from '../harness/runs.ts'
import { publish, type Service, startService } from '../harness/service.ts'
import { percentile, toRatio } from '../harness/statistics.ts'
import type { Workspace } from '../harness/workspace.ts'
import { formatNumber, formatSpread, type PartContext, type PartResult } from '../report.ts'

const FULL = { rounds: 9, durationMs: 1_000, sizes: [1_000, 10_000, 100_000] }
const QUICK = { rounds: 3, durationMs: 300, sizes: [1_000, 10_000] }
/** The default page size. */
const PAGE = 50

const PAGES = {
  'of the organization': () => '/v1/agent_executions',
  'of an agent': (agentId: string) => `/v1/agents/${agentId}/executions`,
  'with status=ERROR': () => '/v1/agent_executions?status=ERROR',
}
type PageName = keyof typeof PAGES

/** The first page of a list, in organizations with more and more executions. */
export async function listing({ workspace, quick, log }: PartContext): Promise<PartResult> {
  const { rounds, durationMs, sizes } = quick ? QUICK : FULL
  const service = await startService(workspace)
  const pages = Object.keys(PAGES) as PageName[]
  const operations = []
  for (const size of sizes) {
    log(`storing ${size} executions`)
    const { agentId, token } = await createOrganization(workspace, service.table, size)
    for (const page of pages) {
      const operation = timed(() => readPage(service, PAGES[page](agentId), token))
      operations.push({ name: `${page} ${size}`, operation })
    }
  }
  log('warm-up')
  for (const { operation } of operations) await generateLoad({ concurrency: 1, durationMs, operation })
  log(`${rounds} rounds`)
  const contenders = operations.map(({ name, operation }) => ({
    name,
    measure: () => generateLoad({ concurrency: 1, durationMs, operation }),
  }))
  const loads = await interleave(contenders, rounds)
  const p50s = (page: PageName, size = 0) => loads[`${page} ${size}`]?.map(({ p50 }) => p50) ?? []
  const rows = pages.flatMap((page) =>
    sizes.map((size) => {
      const latencies = loads[`${page} ${size}`]?.flatMap((load) => load.latencies) ?? []
      return {
        page,
        'stored executions': size,
        'p50 ms': formatNumber(percentile(latencies, 0.5)),
        'p99 ms': formatNumber(percentile(latencies, 0.99)),
        [`p50 / at ${sizes[0]}`]: formatSpread(toRatio(p50s(page, size), p50s(page, sizes[0]))),
      }
    }),
  )
  return { figures: {}, details: { title: `The first ${PAGE} executions of a list, 1 in flight`, rows } }
}

async function readPage(service: Service, path: string, token: string): Promise<void> {
  const { body } = await service.request('GET', path, { status: 200, token })
  const { length } = JSON.parse(body) as unknown[]
  if (length !== PAGE) throw new Error(`${path} returned ${length} executions, expected ${PAGE}.`)
}

/** As many as the emulator takes at once. */
const BATCH = 100
const AGENTS = 10
const TENANTS = 20
const INTERVAL_MS = 100
const DAY_MS = 24 * 60 * 60 * 1000

/** An organization with `size` stored executions of ten agents, one of which is published. */
async function createOrganization(workspace: Workspace, table: Table, size: number) {
  const organizationId = system.newId()
  const createdAt = new Date().toISOString()
  await organizationStore(table).create({ organization: { id: organizationId, name: 'Listing', createdAt } })
  const creator = { organizationId, name: 'bench', createdBy: organizationId }
  const { token, text } = newToken({ system, ...creator, lifetimeMs: null })
  await tokenStore(table).create({ token })
  const { agentId } = await publish(workspace, table, { ...NO_OP, organizationId })
  const agentIds = [agentId, ...Array.from({ length: AGENTS - 1 }, () => system.newId())]
  const firstAt = system.now() - size * INTERVAL_MS
  for (let done = 0; done < size; done += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, size - done) }, (_, i) => done + i)
    const items = await Promise.all(
      numbers.map((number) => {
        const agentId = agentIds[Math.floor(number / 3) % AGENTS] ?? ''
        const now = firstAt + number * INTERVAL_MS
        return toItem(table, createExecution({ organizationId, agentId, number, now }))
      }),
    )
    await table.writeMany(items.map((put) => ({ put })))
  }
  return { token: text, agentId }
}

type Details = { organizationId: string; agentId: string; number: number; now: number }

/** Of 100 executions, 90 succeeded, 9 failed, and 1 is in progress with a lease that the sweeper leaves alone. */
function createExecution({ organizationId, agentId, number, now }: Details): Execution {
  const started = newExecution({
    id: v7({ msecs: now }),
    organizationId,
    agentId,
    versionId: agentId,
    tenantId: number % 2 === 0 ? `tenant-${(number / 2) % TENANTS}` : null,
    input: { text: `Ticket ${number}: nothing has worked since this morning, please help.` },
    options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
    now,
    deadlineMs: DAY_MS,
    lease: { owner: organizationId, expiresAt: system.now() + DAY_MS },
  })
  const percentile = (number * 37) % 100
  if (percentile === 0) return started
  const finishedAt = new Date(now + 900).toISOString()
  const finished = { ...started, finishedAt, lease: null, openUntil: null, steps: 2 }
  return percentile < 10
    ? { ...finished, status: 'ERROR', error: { code: 'AgentFailed', message: 'The agent threw an error.' } }
    : { ...finished, status: 'SUCCESS', output: { summary: `Ticket ${number}`, urgent: false } }
}
