import { describe, expect, it } from 'vitest'
import { forgetCurrentVersion } from '../../../lib/agents/resolve-version.ts'
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
import { rate } from './rate.ts'

const newService = (scorers = [FAITHFUL], table = memoryTable()) => ScoredService.create(table, { scorers })
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

  it('has no score, and says so: the scorer answers no number from 0 to 1', async () => {
    const service = await newService()
    const run = await service.run()
    await service.score(1.01)
    expect(await service.scoresOf(run)).toMatchObject([{ score: null, error: { code: 'InvalidScore' } }])
    expect((await service.read(run.id))?.status).toBe('SUCCESS')
    expect(await service.sums()).toMatchObject([{ runs: 0, failed: 1 }])
  })

  it('has no score, and says so: the scorer fails', async () => {
    const service = await newService()
    const run = await service.run()
    await service.fail({ ...ERROR, secret: 'x' })
    expect(await service.scoresOf(run)).toMatchObject([{ score: null, error: ERROR }])
    expect(JSON.stringify(await service.scoresOf(run))).not.toContain('secret')
  })

  it('has no score, and says so: the scorer is archived, or its tenant is at a limit', async () => {
    const service = await newService()
    const { agents, limits } = openStores(service.table)
    const { organizationId, scorer } = service
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
    const archivedAt = new Date().toISOString()
    await agents.setArchived({ organizationId, id: scorer.agentId, archivedAt })
    forgetCurrentVersion(scorer.agentId)
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
    const { organizationId, slug } = service.scorer
    const run = await service.run()
    const draft = aVersion({ ...service.scorer, id: system.newId(), status: 'DRAFT', organizationId, slug })
    await agents.publish({ version: draft, code: null })
    forgetCurrentVersion(service.scorer.agentId)
    await service.score(1)
    expect(await service.scoresOf(run)).toMatchObject([{ versionId: service.scorer.id }])
    const next = aVersion({ ...service.scorer, id: system.newId(), organizationId, slug })
    await agents.publish({ version: next, code: null })
    forgetCurrentVersion(service.scorer.agentId)
    const another = await service.run()
    await service.score(1)
    expect(await service.scoresOf(another)).toMatchObject([{ versionId: next.id }])
  })
})

describe('runs that are not scored', () => {
  it.each([
    [
      'that fail',
      async (service: ScoredService) => service.run({}, { status: 'ERROR', error: ERROR } as never),
    ],
    ['of a trial', (service: ScoredService) => service.run({ replay: { isTrial: true } as never })],
    [
      'of a draft',
      (service: ScoredService) => service.run({ version: { ...service.scored, status: 'DRAFT' } }),
    ],
    [
      'of a scorer',
      (service: ScoredService) =>
        service.run({ scored: { executionId: system.newId(), trial: { id: 'x', maxCostUsd: 0 } } }),
    ],
    [
      'outside of the sample',
      (service: ScoredService) =>
        service.run({ version: { ...service.scored, scorers: [{ agent: 'faithful', min: 1 }] } }),
    ],
  ])('are those %s', async (_, run) => {
    const service = await newService()
    await run(service)
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
    expect(service.outbox.sent[0]?.data).toEqual({
      ...{
        agentId: service.scored.agentId,
        versionId: service.scored.id,
        executionId: run.id,
        tenantId: 'acme',
      },
      ...{ scorer: 'faithful', score: 0.69, min: 0.7, reason: 'A name is invented.' },
      scoreExecutionId: service.idOf(run),
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
    await rate(service, id, -1, false)
    expect(await list(service, 'low')).toEqual([id])
    expect(await list(service, 'reviewed')).toEqual([])
    await rate(service, id, -1, true)
    await rate(service, id, -1, false)
    expect(await list(service, 'low')).toEqual([])
    expect(await list(service, 'reviewed')).toEqual([id])
  })

  it('waits for no review that was given before', async () => {
    const service = await newService()
    const { id } = await service.run()
    await rate(service, id, 1, true)
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
      await service.work({ output: { score: 0.5 } } as never, table)
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
      await service.work({ output: { score: 0.5 } } as never)
    }
    return { service, run, requests: process.requests }
  }

  it('there is one score, one count and one event at least, whichever request is the last one', async () => {
    const { requests } = await play(null)
    expect(requests).toBeGreaterThan(15)
    for (let request = 0; request < requests; request++)
      for (const isAfter of [false, true]) {
        const { service, run } = await play({ request, isAfter })
        const note = { request, isAfter }
        expect({ ...note, runs: (await service.scorerRuns()).length }).toEqual({ ...note, runs: 1 })
        expect({ ...note, scores: await service.scoresOf(run) }).toMatchObject({
          ...note,
          scores: [{ score: 0.5 }],
        })
        expect({ ...note, sums: await service.sums() }).toMatchObject({
          ...note,
          sums: [{ runs: 1, low: 1 }],
        })
        const events = new Set(service.outbox.sent.map(({ eventId }) => eventId))
        expect({ ...note, events: events.size }).toEqual({ ...note, events: 1 })
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
    await service.work({ output: { score: 0.5 } } as never)
    await twice()
    expect(await service.scorerRuns()).toHaveLength(1)
    expect(await service.scoresOf(run)).toMatchObject([{ score: 0.5 }])
    expect(await service.sums()).toMatchObject([{ runs: 1 }])
  })

  it('a late attempt to start a scorer that is archived by now replaces no score', async () => {
    const service = await newService()
    const run = await service.run()
    await service.score(0.8)
    const { organizationId, scorer } = service
    const archivedAt = new Date().toISOString()
    await openStores(service.table).agents.setArchived({ organizationId, id: scorer.agentId, archivedAt })
    forgetCurrentVersion(scorer.agentId)
    await service.scoreOn(service.table)(run)
    expect(await service.scoresOf(run)).toMatchObject([{ score: 0.8, error: null }])
  })

  it('two scorers that end at the same time both count', async () => {
    const service = await newService([FAITHFUL, { agent: 'polite', min: 0.9, sample: 100 }])
    const { organizationId } = service
    const polite = aVersion({ ...service.scorer, id: system.newId(), organizationId, slug: 'polite' })
    const { agents } = openStores(service.table)
    const { agentId: _, ...version } = polite
    await agents.publish({ version: aVersion({ ...version, organizationId, slug: 'polite' }), code: null })
    const run = await service.run()
    await service.deliver()
    await service.work({ output: { score: 0.8 } } as never)
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
      await service.work({ output: { score: 0.1 } } as never)
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
    const { organizationId } = service
    expect(
      await executions.delete({ organizationId, id: service.idOf(run), now: service.outbox.now() }),
    ).toBe('deleted')
    expect(await service.scoresOf(run)).toMatchObject([{ score: 0.9 }])
  })
})
