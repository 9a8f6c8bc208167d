import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { LOCAL_TABLE } from '../../infra/local/open-store.ts'
import { resolveVersion } from '../../lib/agents/resolve-agent.ts'
import { ambient } from '../../lib/ambient.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { cacheStore } from '../../lib/dynamodb/cache-store.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { idempotencyStore } from '../../lib/dynamodb/idempotency-store.ts'
import { stepStore } from '../../lib/dynamodb/step-store.ts'
import { openTable } from '../../lib/dynamodb/table.ts'
import { admission } from '../../lib/engine/admission.ts'
import { checkRunRequest, type RunWishes } from '../../lib/engine/check-run-request.ts'
import { runNow } from '../../lib/engine/start-execution.ts'
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts'
import { newOrganization, type TestOrganization } from '../support/organization.ts'

let own: TestOrganization
let proxy: FaultProxy

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('echo')
  proxy = await startFaultProxy({ target: inject('dynamodb'), kind: 'dynamodb', seed: 1, rate: 0 })
})
afterAll(() => proxy.stop())

/** The requests to the table that a run costs, by operation, once the process is warm. */
async function costOf(wishes: RunWishes, body: { text: string }) {
  const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })
  const [agents, executions] = [agentStore(table), executionStore(table)]
  const intake = {
    agents,
    executions,
    steps: stepStore(table),
    cache: cacheStore(table),
    idempotency: idempotencyStore(table),
    queue: { send: () => Promise.reject(new Error('nothing is to be sent')) },
    ambient,
    admit: admission({ executions, ambient }, 1_000),
    syncDeadlineMs: 60_000,
  }
  const run = async (input: { text: string }, asked: RunWishes) => {
    const version = await resolveVersion({
      store: agents,
      organizationId: own.id,
      idOrSlug: 'echo',
      versionId: undefined,
    })
    return runNow(intake, checkRunRequest(version, input, asked))
  }
  await run({ text: 'warm' }, {})
  const before = { ...proxy.counts.operations }
  const execution = await run(body, wishes)
  const after = proxy.counts.operations
  const spent = Object.entries(after).flatMap(([operation, count]) => {
    const number = count - (before[operation] ?? 0)
    return number > 0 ? [[operation, number] as const] : []
  })
  return { execution, cost: Object.fromEntries(spent) }
}

describe('a sync run', () => {
  it('costs one read and two writes', async () => {
    const { execution, cost } = await costOf({}, { text: 'plain' })
    expect(execution).toMatchObject({ status: 'SUCCESS', cached: false })
    expect(cost).toEqual({ GetItem: 1, PutItem: 1, UpdateItem: 1 })
  })

  it('that is a hit costs two reads and one write; the miss before it one read and two writes more than without', async () => {
    const body = { text: ambient.newId() }
    const miss = await costOf({ useCache: true }, body)
    expect(miss.cost).toEqual({ GetItem: 2, PutItem: 3, UpdateItem: 1 })
    const hit = await costOf({ useCache: true }, body)
    expect(hit.execution).toMatchObject({ cached: true, cachedExecutionId: miss.execution.id })
    expect(hit.cost).toEqual({ GetItem: 2, PutItem: 1 })
  })
})
