import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { type LimitSubject, NO_LIMITS } from '../../../lib/core/usage-limits.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { acceptBatch, prepareBatch } from '../../../lib/engine/batches/accept.ts'
import { openBatchEngine } from '../../../lib/engine/batches/batch-engine.ts'
import { retryFailed } from '../../../lib/engine/batches/change.ts'
import { startLine } from '../../../lib/engine/batches/start-line.ts'
import { startFiring } from '../../../lib/engine/schedules/start-firing.ts'
import { submitAsync } from '../../../lib/engine/submit/accept.ts'
import { findCostWarnings } from '../../../lib/engine/submit/limited-models.ts'
import { prepareRun } from '../../../lib/engine/submit/run-request.ts'
import { rerunExecution } from '../../../lib/engine/trials/rerun.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { forgetLimits } from '../../../lib/limits/limits.ts'
import { system } from '../../../lib/system.ts'
import { aBatch } from '../../support/batches/a-batch.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const table = memoryTable()
const scripted = await startScriptedEngine(table)
const queue = { ...scripted.engine.queue, feed: async () => undefined, sendBatch: async () => undefined }
const stores = { ...openStores(table), queue, system }
const engine = {
  ...scripted.engine,
  ...stores,
  admit: <T>(_id: string, record: () => Promise<T>) => record(),
  syncDeadlineMs: 10_000,
}
const batchEngine = openBatchEngine(engine)

// Overrides are checked with the environment of the process.
beforeAll(() => {
  const prices = { MODEL_PRICES: '{"openai-compatible/priced*": {"input": 10, "output": 10}}' }
  Object.assign(engine.environment, prices)
  for (const [name, value] of Object.entries(engine.environment)) vi.stubEnv(name, value)
})
afterAll(() => void vi.unstubAllEnvs())

const PRICED = 'openai-compatible/priced'
const UNPRICED = 'openai-compatible/unpriced'

const tenant: LimitSubject = { kind: 'tenant', id: 'acme' }
const agentOf = ({ agentId: id }: Version): LimitSubject => ({ kind: 'agent', id })
async function limit({ organizationId }: Version, subject: LimitSubject, day: number | null = 1) {
  const limits = { ...NO_LIMITS, maxOpenExecutions: 100, maxCostUsd: { day, month: null }, updatedAt: '' }
  await stores.limits.put({ organizationId, subject, limits })
  forgetLimits(organizationId, subject)
}

const anAgent = (model = PRICED, overrides = {}) => aModelAgent({ model, ...overrides }, { table })
const accessTo = ({ organizationId }: Version) => ({ ...UNLIMITED, organizationId, tokenId: '' })
const callOf = (version: Version, model?: string, tenantId = 'acme') => ({
  access: accessTo(version),
  idOrSlug: version.slug,
  overrides: { tenantId, ...(model && { model }) },
  idempotencyKey: undefined,
})

const run = async (version: Version, model?: string, tenantId?: string) =>
  submitAsync(
    engine,
    await prepareRun({ ...stores, ...callOf(version, model, tenantId), body: { question: 'Why?' } }),
  )

const aBatchOf = async (version: Version, model?: string) =>
  acceptBatch(
    stores,
    await prepareBatch(stores, {
      ...callOf(version, model),
      received: aBatch().lines.map((value, line) => ({ value, line })) as never,
    }),
  )

const refused = (subject: string) => ({
  status: 400,
  code: 'InvalidQueryParameter',
  errors: [
    {
      path: 'model',
      message: `The model ${UNPRICED} has no price, and the ${subject} has a limit in US dollars (maxCostUsd), which would not count it. Choose a model with a price, or set it with MODEL_PRICES.`,
    },
  ],
})

describe('a model without a price', () => {
  it('cannot be chosen for a run where a cost limit of the tenant or the agent applies, as others can', async () => {
    const version = await anAgent()
    await limit(version, tenant)
    await expect(run(version, UNPRICED)).rejects.toMatchObject(refused('tenant acme'))
    await expect(run(version, `${UNPRICED}:low`)).rejects.toMatchObject({ status: 400 })
    expect(await run(version, `${PRICED}-2`)).toMatchObject({ status: 'IN_PROGRESS' })
    expect(await run(version, UNPRICED, 'other')).toMatchObject({ status: 'IN_PROGRESS' })
    await limit(version, tenant, null)
    expect(await run(version, UNPRICED)).toMatchObject({ status: 'IN_PROGRESS' })
    const limited = await anAgent()
    await limit(limited, agentOf(limited))
    await expect(run(limited, UNPRICED)).rejects.toMatchObject(refused(`agent ${limited.agentId}`))
  })

  it('cannot be chosen by a rerun, a batch, its retry, its lines, or a schedule', async () => {
    const version = await anAgent()
    const original = await run(version, UNPRICED)
    const batch = await aBatchOf(version, UNPRICED)
    await stores.batches.stop({ batch, error: { code: 'Cancelled', message: '' } } as never)
    const other = await anAgent(PRICED, { organizationId: version.organizationId, slug: 'other' })
    await limit(other, tenant)
    const access = accessTo(version)
    const again = { access, executionId: original.id, options: {}, idempotencyKey: undefined }
    await expect(rerunExecution(engine, again)).rejects.toMatchObject(refused('tenant acme'))
    await expect(aBatchOf(version, UNPRICED)).rejects.toMatchObject(refused('tenant acme'))
    expect(await startLine(batchEngine, batch, { line: 0, lane: 0 })).toMatchObject({
      status: 'ERROR',
      error: { code: 'InvalidQueryParameter', errors: refused('tenant acme').errors },
    })
    const get = async () => ({ ...batch, status: 'ENDED' })
    const ended = { ...stores, batches: { ...stores.batches, get } }
    const reference = { access, batchId: batch.id, idempotencyKey: undefined }
    await expect(retryFailed(ended as never, reference)).rejects.toMatchObject(refused('tenant acme'))
    const schedule = {
      ...{ organizationId: version.organizationId, agentId: version.agentId, name: 'daily', tokenId: null },
      ...{ versionId: null, input: { question: 'Why?' }, tenantId: 'acme', options: { model: UNPRICED } },
    }
    expect(await startFiring(engine, schedule as never, Date.now())).toMatchObject({
      status: 'FAILED',
      code: 'InvalidQueryParameter',
    })
  })

  it('runs if it is that of the agent, with a warning in the record', async () => {
    const { model } = scripted.scriptModel(() => answer)
    const version = await anAgent(model)
    const runWith = async (chosen?: string, tenantId?: string) => {
      const { id, organizationId } = await run(version, chosen, tenantId)
      await processMessage(engine, id)
      return stores.executions.get({ organizationId, id })
    }
    expect(await runWith()).toMatchObject({ status: 'SUCCESS', warnings: [] })
    const subject = await anAgent(PRICED, { organizationId: version.organizationId, slug: 'other' })
    await limit(subject, tenant)
    expect(await runWith()).toMatchObject({ status: 'SUCCESS', warnings: ['ModelWithoutPrice'] })
    expect(await runWith(model)).toMatchObject({ status: 'SUCCESS', warnings: ['ModelWithoutPrice'] })
    expect(await runWith(undefined, 'other')).toMatchObject({ status: 'SUCCESS', warnings: [] })
    await expect(run(version, UNPRICED)).rejects.toMatchObject(refused('tenant acme'))
  })

  it('is named when a cost limit is set, or its agent is published', async () => {
    const version = await anAgent(UNPRICED)
    const { organizationId } = version
    await anAgent(PRICED, { organizationId, slug: 'priced' })
    await anAgent(UNPRICED, { organizationId, slug: 'code', code: true })
    const warning = `The model ${UNPRICED} of the agent model-agent has no price, so limits in US dollars (maxCostUsd) do not count it. Set it with MODEL_PRICES.`
    const of = (subject: LimitSubject | null) =>
      findCostWarnings(stores, { organizationId, ...(subject ? { subject } : { version }) })
    expect(await of(agentOf(version))).toEqual([warning])
    expect(await of(tenant)).toEqual([warning])
    expect(await of(null)).toEqual([])
    await limit(version, tenant)
    expect(await of(null)).toEqual([warning])
  })
})
