import pLimit from 'p-limit'
import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution, Outcome } from '../../../lib/core/execution.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { sumTrial } from '../../../lib/engine/batches/sum-trial.ts'
import { listItems } from '../../../lib/engine/trials/list-items.ts'
import { selectOriginals } from '../../../lib/engine/trials/select-originals.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { BatchRun, success } from '../../support/batches/batch-run.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'

const TABLE_NAME = `large-trials-${system.newId()}`
const table = openTable({ TABLE_NAME, DYNAMODB_ENDPOINT: inject('dynamodb') })
const { batches, executions } = openStores(table)
let version: Version
beforeAll(async () => {
  vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', 'http://127.0.0.1:1')
  await provisionTable(inject('dynamodb'), TABLE_NAME)
  version = await aModelAgent({}, { table })
})

const RUNS = 1_000
const LARGE = 'x'.repeat(5_000_000)

async function anOriginal(agent: Version, output: { answer: string }): Promise<string> {
  const lease = { owner: system.newId(), expiresAt: Date.now() + 600_000 }
  const execution = { ...executionOf(agent, { lease }), lease } as Execution & { lease: typeof lease }
  await executions.create({ execution })
  const outcome: Outcome = { ...success(0.01), status: 'SUCCESS', output, steps: 1, model: 'a/b' } as Outcome
  await executions.finish({ execution, outcome, finishedAt: new Date().toISOString() })
  return execution.id
}

const agentOf = ({ organizationId, agentId }: Version) => ({
  organizationId,
  agentId,
  hasModel: true,
  teachers: 'all' as const,
})
const filter = { from: null, to: null, tenantId: null, feedback: null, limit: RUNS }
const accessOf = ({ organizationId }: Version) => ({
  ...{ organizationId, tokenId: '', scopes: null, agents: null, tenantId: null, rate: null },
})

describe('a trial of 1,000 originals', () => {
  it('selects, runs and sums up all of them once, and finds the few with a verdict in one request', {
    timeout: 900_000,
  }, async () => {
    const limit = pLimit(20)
    const ids = await Promise.all(
      Array.from({ length: RUNS + 5 }, () => limit(() => anOriginal(version, { answer: 'a' }))),
    )
    const { ids: originals } = await selectOriginals({ executions }, agentOf(version), filter)
    expect(originals).toEqual(ids.toSorted().toReversed().slice(0, RUNS))
    const changed = [3, 500, 999]
    const run = await BatchRun.create({
      table,
      version,
      lines: RUNS,
      lanes: 50,
      trial: { originals },
      outcomeOf: (line) => ({
        ...success(0.01),
        judgement: { verdict: changed.includes(line) ? 'CHANGED' : 'SAME', differences: [] },
      }),
    })
    expect(await run.findProblems()).toEqual([])
    expect((await run.stored())?.sums).toMatchObject({
      runs: RUNS,
      verdicts: { SAME: RUNS - changed.length, CHANGED: changed.length },
      costUsd: { originalTotal: 10, trialTotal: 10 },
    })
    const reference = { access: accessOf(version), batchId: run.batch.id, isTrial: true }
    const page = await listItems({ batches, executions }, { ...reference, query: { verdict: 'CHANGED' } })
    expect(page.next).toBeNull()
    expect(page.items.map(({ originalExecutionId }) => originalExecutionId)).toEqual(
      changed.map((line) => originals[line]),
    )
  })
})

describe('originals with outputs of 5 MB', () => {
  it('are selected, summed up and listed without their outputs', async () => {
    const agent = await aModelAgent({ organizationId: version.organizationId, slug: 'large' }, { table })
    const ids: string[] = []
    for (let count = 0; count < 20; count++) ids.push(await anOriginal(agent, { answer: LARGE }))
    const before = process.memoryUsage().rss
    const { ids: originals } = await selectOriginals({ executions }, agentOf(agent), filter)
    expect(originals).toEqual(ids.toReversed())
    const run = await BatchRun.create({
      ...{ table, version: agent, lines: ids.length, lanes: 5, trial: { originals } },
      outcomeOf: () => ({ ...success(0.01), judgement: { verdict: 'SAME', differences: [] } }),
    })
    const reads: string[] = []
    const readSummaries: typeof executions.readSummaries = (params) => {
      reads.push(...params.ids)
      return executions.readSummaries(params)
    }
    const batch = { ...run.batch }
    const sums = await sumTrial({ batches, executions: { readSummaries } }, batch)
    expect(sums.runs).toBe(0)
    expect(reads).toHaveLength(2 * ids.length)
    const growth = process.memoryUsage().rss - before
    // All outputs together have 100 MB.
    expect(growth).toBeLessThan(60_000_000)
    await run.cancel()
    expect(await run.findProblems()).toEqual([])
  })
})
