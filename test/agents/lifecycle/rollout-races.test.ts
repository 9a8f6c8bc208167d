import { describe, expect, it } from 'vitest'
import { archiveAgent } from '../../../lib/agents/lifecycle/change-agent.ts'
import { deleteDraft } from '../../../lib/agents/lifecycle/delete-draft.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { Rollout } from '../../../lib/core/rollout.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { aVersion, RolloutRun } from '../../support/rollouts/rollout-run.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const PROCESSES = 16
const ROUNDS = 12
const ABORT = { maxErrorRate: 0.5, minRuns: 1 }

async function newRun() {
  const table = memoryTable()
  const run = await RolloutRun.create(table, Date.now())
  const old = aVersion({ organizationId: run.current.organizationId, slug: run.current.slug })
  // The older one stays published.
  for (const version of [old, run.current]) await openStores(table).agents.publish({ version, code: null })
  return { run, old, table, reference: run.referenceOn(table), executions: openStores(table).executions }
}

/** What the process was told: nothing else may be refused. */
const EXPECTED = [
  'InputSchemaMismatch',
  'RolloutNotFound',
  'VersionNotFound',
  'VersionNotRetirable',
  'VersionPublished',
  'VersionRetired',
]

const refused = (error: unknown): string => {
  if (error instanceof ServiceError && EXPECTED.includes(error.code)) return error.code
  throw error
}

describe('16 processes that change an agent at the same time', () => {
  it('leave one current version, and at most one rollout of another version that is published and not retired', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { run, old, table, reference, executions } = await newRun()
      const [draft, current] = [run.next, run.current]
      const act = [
        () => run.start({ versionId: draft.id, abort: ABORT }).then(({ rollout }) => rollout),
        () => run.start({ versionId: old.id, percent: 50 }).then(({ rollout }) => rollout),
        () => run.promote(draft.id).then(() => 'promoted draft'),
        () => run.promote(old.id).then(() => 'rolled back'),
        () => run.retire(draft.id).then(() => 'retired'),
        () => deleteDraft({ ...reference, executions, versionId: draft.id }).then(() => 'deleted'),
        () => run.stop().then(() => 'stopped'),
        () => run.promote(current.id).then(() => 'promoted current'),
      ]
      const results = await Promise.all(
        Array.from({ length: PROCESSES }, (_, process) => act[process % act.length]?.().catch(refused)),
      )
      const note = JSON.stringify({ round, results })
      const agent = await run.agent()
      const { rollout, retired } = agent
      expect([draft.id, old.id, current.id], note).toContain(agent.current?.id)
      const stored = await run.getVersion()
      if (results.includes('deleted')) {
        expect(stored, note).toBeNull()
        expect([agent.current?.id, agent.draftVersionId, rollout?.versionId], note).not.toContain(draft.id)
      } else expect(stored, note).not.toBeNull()
      expect(retired[agent.current?.id ?? ''], note).toBeUndefined()
      if (!rollout) continue
      // The one that a process was told of, as it was told.
      const told = results.filter((each): each is Rollout => typeof each === 'object')
      expect(told, note).toContainEqual(rollout)
      expect(rollout.versionId, note).not.toBe(agent.current?.id)
      expect(retired[rollout.versionId], note).toBeUndefined()
      expect(await run.getVersion(rollout.versionId), note).toMatchObject({ status: 'PUBLISHED' })
      if (rollout.abort) {
        expect(agent.draftVersionId, note).not.toBe(draft.id)
        expect(await openStores(table).rollouts.listWatched(), note).toHaveLength(1)
      }
    }
  })

  it('end a rollout once: by hand, by a promotion, or by an abort that is told', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { run } = await newRun()
      run.outbox.addWebhook({ types: ['rollout.aborted'] })
      await run.start({ abort: ABORT })
      await run.end(run.next, 2, { every: 1 })
      run.outbox.pass(120_000)
      let ended = 0
      const stop = () =>
        run.endWith(async (end, params) => {
          const agent = await end(params)
          if (agent) ended++
          return agent
        })
      const ways = [
        () => run.sweep().then(() => 'swept'),
        // One that loses the race succeeds, too: the rollout that it has read has ended.
        () => stop().then(() => 'stopped'),
        () => run.promote().then(() => 'promoted'),
      ]
      const results = await Promise.all(
        Array.from({ length: PROCESSES }, (_, n) => ways[(n + round) % ways.length]?.().catch(refused)),
      )
      const note = JSON.stringify({ round, results })
      expect(ended, note).toBeLessThanOrEqual(1)
      const { rollout, current, abortedRollouts } = await run.agent()
      expect(rollout, note).toBeNull()
      // All promotions succeed, before the end of the rollout or after it.
      expect(current?.id, note).toBe(run.next.id)
      await run.settle(2)
      const isAborted = abortedRollouts[run.next.id] !== undefined
      if (isAborted) expect(ended, note).toBe(0)
      expect(run.events(), note).toHaveLength(isAborted ? 1 : 0)
    }
  })

  it('archive it with its rollout, which is there when it is restored', async () => {
    const { run, reference } = await newRun()
    await run.start({ percent: 30 })
    await archiveAgent(reference, new Date().toISOString())
    await expect(run.start({ percent: 40 })).rejects.toMatchObject({ code: 'AgentArchived' })
    await archiveAgent(reference, null)
    expect(await run.rollout()).toMatchObject({ rollout: { percent: 30 } })
  })
})
