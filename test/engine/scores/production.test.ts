import { describe, expect, it } from 'vitest'
import { forgetCurrentVersion } from '../../../lib/agents/resolve-version.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { TooManyRequests } from '../../../lib/core/limit-errors.ts'
import { SCORES } from '../../../lib/core/notification.ts'
import { NO_LIMITS } from '../../../lib/core/usage-limits.ts'
import { readUsageCode, usageKeys } from '../../../lib/dynamodb/executions/execution-item.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { runCleanups } from '../../../lib/engine/maintenance.ts'
import { forgetLimits } from '../../../lib/limits/limits.ts'
import { system } from '../../../lib/system.ts'
import { aVersion, type Death, mortalTable } from '../../support/rollouts/rollout-run.ts'
import { FAITHFUL, ScoredService } from '../../support/scores/scored-service.ts'
import { memoryTable, scan } from '../../support/tables/memory-table.ts'

const newService = (scorers = [FAITHFUL], table = memoryTable()) => ScoredService.create(table, scorers)
/** Archives the scorer, which other processes notice at once. */
async function archiveScorer({ table, organizationId, scorer: { agentId: id } }: ScoredService) {
  const archivedAt = new Date().toISOString()
  await openStores(table).agents.setArchived({ organizationId, id, archivedAt })
  forgetCurrentVersion(id)
}

const ERROR = { code: 'AgentFailed', message: 'It failed.' }

describe('a production run with a scorer', () => {
  it('is scored after its end by a run of its tenant, which its record names', async () => {
    const service = await newService()
    const run = await service.run()
    await service.score(0.8, 'All of it is in the text.')
    const [scored] = await service.scorerRuns()
    expect(scored).toMatchObject({
      ...{ id: service.idOf(run), source: 'SCORE', tenantId: 'acme', parentExecutionId: run.id },
      scored: { executionId: run.id, production: { scorer: 'faithful', agentId: service.scored.agentId } },
    })
    expect(await service.scoresOf(run)).toEqual([
      {
        ...{ agent: 'faithful', executionId: scored?.id, versionId: service.scorer.id, error: null },
        ...{ score: 0.8, reason: 'All of it is in the text.' },
      },
    ])
    expect(await service.sums()).toEqual([{ runs: 1, sum: 800_000, squares: 640_000, low: 0, failed: 0 }])
  })

  it.each<[string, (service: ScoredService) => Promise<void>, object]>([
    ['answers no number from 0 to 1', (service) => service.score(1.01), { code: 'InvalidScore' }],
    ['fails', (service) => service.fail({ ...ERROR, secret: 'x' }), ERROR],
  ])('has no score, and says so: the scorer %s', async (_, end, error) => {
    const service = await newService()
    const run = await service.run()
    await end(service)
    expect(await service.scoresOf(run)).toMatchObject([{ score: null, error }])
    expect(JSON.stringify(await service.scoresOf(run))).not.toContain('secret')
    expect((await service.read(run.id))?.status).toBe('SUCCESS')
    expect(await service.sums()).toMatchObject([{ runs: 0, failed: 1 }])
  })

  it('has no score, and says so: the scorer is archived, or its tenant is at a limit', async () => {
    const service = await newService()
    const { limits } = openStores(service.table)
    const { organizationId } = service
    const subject = { kind: 'tenant' as const, id: 'acme' }
    const all = { ...NO_LIMITS, maxCostUsd: { day: 1, month: null }, updatedAt: new Date().toISOString() }
    const run = await service.run()
    await limits.put({ organizationId, subject, limits: all })
    await limits.addSpent({ organizationId, subject, at: service.outbox.now(), costUsd: 2 })
    forgetLimits(organizationId, subject)
    await service.deliver()
    expect(await service.scoresOf(run)).toMatchObject([
      { executionId: null, score: null, error: { code: 'LimitExceeded' } },
    ])
    await limits.delete({ organizationId, subject })
    forgetLimits(organizationId, subject)
    const another = await service.run()
    await archiveScorer(service)
    await service.deliver()
    expect(await service.scoresOf(another)).toMatchObject([
      { executionId: null, error: { code: 'AgentArchived' } },
    ])
    expect(await service.scorerRuns()).toEqual([])
  })

  it('waits for its scorer while too many executions are open', async () => {
    const service = await newService()
    const run = await service.run()
    const admit = service.outbox.engine.score
    service.outbox.engine.score = service.scoreOn(service.table, async () => {
      throw new TooManyRequests(1)
    })
    await service.outbox.deliver()
    expect(await service.outbox.deliveriesOf(run.id)).toMatchObject([
      { destinationId: SCORES, status: 'PENDING', error: expect.stringContaining('executions in progress') },
    ])
    expect(await service.scoresOf(run)).toEqual([undefined])
    service.outbox.engine.score = admit as never
    service.outbox.pass(60_000)
    await service.outbox.deliver()
    expect(service.queued).toHaveLength(1)
  })

  it('is scored by the version of the scorer that is current then, and never by its draft', async () => {
    const service = await newService()
    const { agents } = openStores(service.table)
    const { scorer } = service
    const publish = async (status: Version['status']) => {
      const version = aVersion({ ...scorer, id: system.newId(), status })
      await agents.publish({ version, code: null })
      forgetCurrentVersion(scorer.agentId)
      return version.id
    }
    const run = await service.run()
    await publish('DRAFT')
    await service.score(1)
    expect(await service.scoresOf(run)).toMatchObject([{ versionId: scorer.id }])
    const versionId = await publish('PUBLISHED')
    const another = await service.run()
    await service.score(1)
    expect(await service.scoresOf(another)).toMatchObject([{ versionId }])
  })
})

describe('runs that are not scored', () => {
  type Given = { version?: Partial<Version>; outcome?: object; replay?: object; scored?: object }
  it.each<[string, Given]>([
    ['that fail', { outcome: { status: 'ERROR', error: ERROR } }],
    ['of a trial', { replay: { isTrial: true } }],
    ['of a draft', { version: { status: 'DRAFT' } }],
    ['of a scorer', { scored: { executionId: system.newId(), trial: { id: 'x', maxCostUsd: 0 } } }],
    ['outside of the sample', { version: { scorers: [{ agent: 'faithful', min: 1 }] } }],
  ])('are those %s', async (_, { version, outcome, ...given }) => {
    const service = await newService()
    await service.run({ version: { ...service.scored, ...version }, ...(given as object) }, outcome)
    expect(service.outbox.messages()).toEqual([])
  })

  it('are those that were deleted before', async () => {
    const service = await newService()
    const { id } = await service.run()
    const { organizationId } = service
    await service.outbox.stores.executions.delete({ organizationId, id, now: service.outbox.now() })
    await service.deliver()
    expect(await service.scorerRuns()).toEqual([])
  })

  it('cost no request more than runs of a version without scorers', async () => {
    const requests = async (scorers: (typeof FAITHFUL)[]) => {
      const { process, table } = mortalTable(memoryTable(), null)
      const service = await newService(scorers, table)
      const before = process.requests
      await service.run()
      return process.requests - before
    }
    expect(await requests([{ agent: 'faithful', min: 1 }])).toBe(await requests([]))
  })
})

describe('a score that is too low', () => {
  it('is told to the webhooks of the agent that has scored so, once, without the rest of the run', async () => {
    const service = await newService()
    const types = ['score.low' as const]
    const webhook = service.outbox.addWebhook({ types, agentIds: [service.scored.agentId], sources: ['API'] })
    service.outbox.addWebhook({ types, agentIds: [service.scorer.agentId] })
    service.outbox.addWebhook({ types: ['execution.succeeded'], agentIds: [service.scorer.agentId] })
    const fine = await service.run()
    await service.score(0.7)
    expect(await service.scoresOf(fine)).toMatchObject([{ score: 0.7 }])
    const run = await service.run()
    await service.score(0.69, 'A name is invented.')
    await service.outbox.sweep()
    await service.deliver()
    expect(service.outbox.sent).toMatchObject([{ destinationId: webhook.id, type: 'score.low' }])
    const { agentId, id: versionId } = service.scored
    expect(service.outbox.sent[0]?.data).toEqual({
      ...{ agentId, versionId, executionId: run.id, tenantId: 'acme', scoreExecutionId: service.idOf(run) },
      ...{ scorer: 'faithful', score: 0.69, min: 0.7, reason: 'A name is invented.' },
    })
  })

  const list = async (
    { organizationId, outbox, scored }: ScoredService,
    scores: 'low' | 'reviewed',
    agentId: string | null = scored.agentId,
  ) => {
    const filter = { organizationId, agentId, tenantId: null, status: null, scores }
    const { items } = await outbox.stores.executions.listSummaries({ ...filter, limit: 10, after: null })
    return items.map(({ id }) => id)
  }

  it('waits for a review: a rating of a user is none', async () => {
    const service = await newService()
    const { id } = await service.run()
    await service.score(0.1)
    await service.run()
    await service.score(0.9)
    expect(await list(service, 'low')).toEqual([id])
    await service.rate(id, -1, false)
    expect(await list(service, 'low')).toEqual([id])
    expect(await list(service, 'reviewed')).toEqual([])
    await service.rate(id, -1, true)
    await service.rate(id, -1, false)
    expect(await list(service, 'low')).toEqual([])
    expect(await list(service, 'reviewed')).toEqual([id])
  })

  it('waits for no review that was given before', async () => {
    const service = await newService()
    const { id } = await service.run()
    await service.rate(id, 1, true)
    await service.score(0.1)
    expect(await list(service, 'low', null)).toEqual([])
    expect(await list(service, 'reviewed', null)).toEqual([id])
  })
})

describe('whatever dies while a run is scored', () => {
  /** The end of the run, its scorers, and what they say, by a process that may die; then by others. */
  async function play(death: Death | null) {
    const service = await newService()
    service.outbox.addWebhook({ types: ['score.low'] })
    const run = await service.start()
    const { process, table } = mortalTable(service.table, death)
    const dying = async () => {
      await service.finish(run, {}, table)
      await service.deliver(table)
      await service.work({ output: { score: 0.5 } }, table)
      await service.deliver(table)
    }
    await dying().catch(() => undefined)
    await service.finish(run).catch(() => undefined)
    for (let i = 0; i < 4; i++) {
      service.outbox.pass(10 * 60_000)
      await service.outbox.sweep()
      await service.deliver()
      // What the sweeper sends again.
      const open = (await service.scorerRuns()).filter(({ status }) => status === 'IN_PROGRESS')
      for (const { id: executionId } of open) service.queued.push({ executionId } as never)
      await service.work({ output: { score: 0.5 } })
    }
    return { service, run, requests: process.requests }
  }

  it('there is one score, one count and one event at least, whichever request is the last one', async () => {
    const { requests } = await play(null)
    expect(requests).toBeGreaterThan(15)
    for (let request = 0; request < requests; request++)
      for (const isAfter of [false, true]) {
        const { service, run } = await play({ request, isAfter })
        const note = `${isAfter ? 'after' : 'before'} ${request}`
        expect(await service.scorerRuns(), note).toHaveLength(1)
        expect(await service.scoresOf(run), note).toMatchObject([{ score: 0.5 }])
        expect(await service.sums(), note).toMatchObject([{ runs: 1, low: 1 }])
        expect(new Set(service.outbox.sent.map(({ eventId }) => eventId)).size, note).toBe(1)
      }
  })

  it('there is one of each when every message comes twice', async () => {
    const service = await newService()
    const run = await service.start()
    await service.finish(run)
    const twice = async () => {
      for (const message of [...service.outbox.messages()]) await service.outbox.engine.queue.send(message)
      await service.outbox.deliver()
    }
    await twice()
    service.queued.push(...service.queued)
    await service.work({ output: { score: 0.5 } })
    await twice()
    expect(await service.scorerRuns()).toHaveLength(1)
    expect(await service.scoresOf(run)).toMatchObject([{ score: 0.5 }])
    expect(await service.sums()).toMatchObject([{ runs: 1 }])
  })

  it('a late attempt to start a scorer that is archived by now replaces no score', async () => {
    const service = await newService()
    const run = await service.run()
    await service.score(0.8)
    await archiveScorer(service)
    await service.scoreOn(service.table)(run)
    expect(await service.scoresOf(run)).toMatchObject([{ score: 0.8, error: null }])
  })

  it('two scorers that end at the same time both count', async () => {
    const service = await newService([FAITHFUL, { agent: 'polite', min: 0.9, sample: 100 }])
    const { agentId: _, ...scorer } = service.scorer
    const version = aVersion({ ...scorer, id: system.newId(), slug: 'polite' })
    await openStores(service.table).agents.publish({ version, code: null })
    const run = await service.run()
    await service.deliver()
    await service.work({ output: { score: 0.8 } })
    await service.outbox.deliver()
    expect(await service.scoresOf(run)).toMatchObject([{ score: 0.8 }, { score: 0.8 }])
  })
})

describe('what the usage index shows of the end', () => {
  const production = { agentId: 'a', versionId: 'v', scorer: 'faithful', min: 0.5 }
  const scored = { executionId: 'e', production }

  it.each([
    ['API', null, 'Ours#1', { isTrial: false, errorCode: 'Ours#1' }],
    ['TRIAL', null, 'Ours#1', { isTrial: true, errorCode: 'Ours#1' }],
    ['TRIAL', null, undefined, { isTrial: true, errorCode: null }],
    ['SCORE', scored, 'Ours#1', { errorCode: 'Ours#1', scored: { scorer: 'faithful', score: null } }],
    ['SCORE', scored, undefined, { errorCode: null, scored: { score: 0.25, isLow: true } }],
    ['AGENT', { ...scored, isCallee: true }, undefined, { isTrial: false, errorCode: null }],
  ] as const)('of a run with the source %s', (source, scored, code, expected) => {
    const error = code ? { code, message: '' } : null
    const output = error ? null : { score: 0.25 }
    const end = { id: system.newId(), endedAt: 1, error, output, source, scored: scored as never }
    expect(readUsageCode(usageKeys(end))).toMatchObject(expected)
    expect('scored' in readUsageCode(usageKeys(end))).toBe(source === 'SCORE')
  })
})

describe('the deletion of a run', () => {
  it.each(['before its scorer begins', 'while its scorer runs', 'after its score'])(
    'leaves nothing of its scorer: %s',
    async (when) => {
      const table = memoryTable()
      const service = await newService([FAITHFUL], table)
      const { executions } = service.outbox.stores
      const run = await service.run()
      const remove = () =>
        executions.delete({ organizationId: service.organizationId, id: run.id, now: service.outbox.now() })
      if (when.startsWith('before')) await remove()
      await service.deliver()
      if (when.startsWith('while')) await remove()
      await service.work({ output: { score: 0.1 } })
      if (when.startsWith('after')) {
        await service.deliver()
        await remove()
      }
      for (let hour = 0; hour < 200; hour++) {
        // A deleted run stays until it is counted.
        await service.sums()
        service.outbox.pass(3_600_000)
        await service.outbox.sweep()
        await service.outbox.deliver()
        await runCleanups({ executions, system: service.outbox.clock })
      }
      const left = (await scan(table)).filter(({ pk }) => String(pk).startsWith('EXEC#'))
      expect(left.map(({ pk, sk }) => `${pk} ${sk}`)).toEqual([])
    },
  )

  it('takes the run of a scorer alone, too', async () => {
    const service = await newService()
    const { executions } = service.outbox.stores
    const run = await service.run()
    await service.score(0.9)
    const { organizationId, outbox } = service
    const key = { organizationId, id: service.idOf(run) }
    expect(await executions.delete({ ...key, now: outbox.now() })).toBe('deleted')
    expect(await service.scoresOf(run)).toMatchObject([{ score: 0.9 }])
  })
})
