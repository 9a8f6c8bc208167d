import { describe, expect, it } from 'vitest'
import { archiveAgent } from '../../../lib/agents/lifecycle/change-agent.ts'
import { deleteDraft } from '../../../lib/agents/lifecycle/delete-draft.ts'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import { resolveVersion } from '../../../lib/agents/resolve-version.ts'
import type { AgentStore } from '../../../lib/core/ports/agents.ts'
import { findBreach, type RolloutFigures, selects } from '../../../lib/core/rollout.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { buildRunRequest } from '../../../lib/engine/submit/run-request.ts'
import { system } from '../../../lib/system.ts'
import { countReads } from '../../support/engine/count-reads.ts'
import { mortalTable, RolloutRun } from '../../support/rollouts/rollout-run.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'
import { wrapTable } from '../../support/tables/wrap-table.ts'

const RUNS = 10_000
const VERSION = '01a2003b-879e-76ff-97ee-7005494d15b8'
/** Always the same ones. */
const executionId = (n: number) => `01a2003a-d1f2-7169-a695-${n.toString(16).padStart(12, '0')}`
const runsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ executionId: executionId(n), tenantId: `tenant-${n}` }))
const newRun = () => RolloutRun.create(memoryTable(), Date.now())

describe('selects', () => {
  it.each(['tenant', 'execution'] as const)('hits the percentage of 10,000 fixed ids by %s', (key) => {
    for (const percent of [1, 10, 50, 99, 100]) {
      const hits = runsOf(RUNS).filter((run) => selects({ versionId: VERSION, percent, key }, run)).length
      expect(Math.abs((hits / RUNS) * 100 - percent), `${percent} %: ${hits}`).toBeLessThanOrEqual(1)
      if (percent === 100) expect(hits).toBe(RUNS)
    }
  })

  it('keeps the tenants that have the version while the percentage grows from 1 to 100', () => {
    for (let n = 0; n < 50; n++) {
      let had = false
      const tenantId = `tenant-${n}`
      for (let percent = 1; percent <= 100; percent++) {
        const rollout = { versionId: VERSION, percent, key: 'tenant' } as const
        const [first, second] = [0, 1].map((run) =>
          selects(rollout, { tenantId, executionId: executionId(n * 1_000 + percent * 2 + run) }),
        )
        expect(second).toBe(first)
        if (had) expect(first).toBe(true)
        had ||= first === true
      }
      expect(had).toBe(true)
    }
  })

  it('gives another version to other tenants', () => {
    const chosen = (versionId: string) =>
      runsOf(1_000).map((run) => selects({ versionId, percent: 50, key: 'tenant' }, run))
    const [first, second] = [chosen(VERSION), chosen(system.newId())]
    const same = first.filter((isChosen, n) => isChosen === second[n]).length
    expect(same).toBeGreaterThan(400)
    expect(same).toBeLessThan(600)
  })
})

describe('findBreach', () => {
  const figures = (values: Partial<RolloutFigures> = {}): RolloutFigures => ({
    ...{ versionId: VERSION, runs: 100, failed: 0, computed: 100, costUsd: 1 },
    ...values,
  })
  const breachOf = (
    rollout: Partial<RolloutFigures>,
    current: Partial<RolloutFigures> = {},
    rules: object = { maxErrorRate: 0.05, maxCostIncrease: 0.5 },
  ) => findBreach({ minRuns: 100, ...rules }, { rollout: figures(rollout), current: figures(current) })

  it('counts from minRuns on, and above the limits', () => {
    expect(breachOf({ failed: 5 })).toBeNull()
    expect(breachOf({ failed: 6 })).toBe('6 of 100 runs have failed: 6 %, more than 5 %.')
    expect(breachOf({ failed: 99, runs: 99 })).toBeNull()
    expect(breachOf({ failed: 100 }, {}, { maxCostIncrease: 0.5 })).toBeNull()
    expect(breachOf({ costUsd: 1.5 })).toBeNull()
    expect(breachOf({ costUsd: 1.51 })).toContain('51 % more, which may be at most 50 % more.')
  })

  it('compares costs only where both versions have runs with known prices', () => {
    expect(breachOf({ costUsd: 9 }, { computed: 99 })).toBeNull()
    expect(breachOf({ costUsd: 9, computed: 99 })).toBeNull()
    expect(breachOf({ costUsd: 9 }, { costUsd: 0 })).toContain('$0.09 instead of $0')
    expect(breachOf({ costUsd: 0 }, { costUsd: 0 })).toBeNull()
  })
})

describe('a rollout', () => {
  type Given = { tenantId?: string | null; executionId?: string; versionId?: string | undefined }
  const resolve = (run: RolloutRun, { versionId, ...given }: Given = {}, store?: AgentStore) =>
    resolveVersion({
      ...run.referenceOn(run.table),
      ...(store && { store }),
      ...{ versionId, run: { tenantId: null, executionId: system.newId(), ...given } },
    })

  it('selects the version of runs, but not of those that name one, and publishes its draft without making it current', async () => {
    const run = await newRun()
    await run.start({ percent: 100 })
    const [next, id] = [run.next.id, run.current.id]
    const version = { id: next, status: 'PUBLISHED' }
    expect(await resolve(run)).toMatchObject({ version, selectedBy: 'ROLLOUT' })
    expect(await resolve(run, { versionId: id })).toMatchObject({ version: { id }, selectedBy: 'REQUEST' })
    const rollout = { versionId: next, percent: 100, key: 'tenant' }
    expect(await run.agent()).toMatchObject({ current: { id }, draftVersionId: null, rollout })
    await run.stop()
    expect(await resolve(run)).toMatchObject({ version: { id }, selectedBy: 'CURRENT' })
  })

  it('decides by tenant, or by execution', async () => {
    const run = await newRun()
    await run.start({ percent: 50 })
    for (let n = 0; n < 20; n++) {
      const given = { tenantId: n % 2 ? `tenant-${n}` : null, executionId: system.newId() }
      const isSelected = selects({ versionId: run.next.id, percent: 50, key: 'tenant' }, given)
      expect((await resolve(run, given)).version.id).toBe((isSelected ? run.next : run.current).id)
    }
    await run.start({ percent: 50, key: 'execution' })
    const versions = new Set<string>()
    for (let n = 0; n < 30; n++) versions.add((await resolve(run, { tenantId: 'acme' })).version.id)
    expect(versions).toEqual(new Set([run.next.id, run.current.id]))
  })

  it('costs no further read per run: one of its version in each process', async () => {
    const run = await newRun()
    const { store, reads } = countReads(run.referenceOn(run.table).store)
    const count = async () => {
      Object.assign(reads, { get: 0, getVersion: 0 })
      const startedAt = Date.now()
      for (let n = 0; n < 200; n++) await resolve(run, { tenantId: `tenant-${n}` }, store)
      // The agent is read once a second, as ever.
      expect(reads.get).toBeLessThanOrEqual((Date.now() - startedAt) / 1000 + 1)
      return reads.getVersion
    }
    await count()
    await run.start({ percent: 50 })
    expect(await count()).toBe(1)
    expect(await count()).toBe(0)
    await run.start({ percent: 60 })
    expect(await count()).toBe(0)
  })

  it('has cache keys of its own', async () => {
    const run = await newRun()
    await run.start({ percent: 100 })
    const keyOf = async (versionId?: string) => {
      const { version } = await resolve(run, { versionId })
      return (await buildRunRequest(version, { text: 'x' }, { useCache: true })).cache?.key
    }
    expect(await keyOf()).toBe(await keyOf(run.next.id))
    expect(await keyOf()).not.toBe(await keyOf(run.current.id))
  })

  it('keeps its start while the percentage grows, and begins anew with another version', async () => {
    const run = await newRun()
    const first = await run.start({ percent: 1 })
    run.outbox.pass(60_000)
    const second = await run.start({ percent: 100 })
    expect(second.rollout.startedAt).toBe(first.rollout.startedAt)
    expect(second.rollout.updatedAt).not.toBe(first.rollout.updatedAt)
    await run.promote()
    const back = await run.start({ versionId: run.current.id })
    expect(back.rollout.startedAt).not.toBe(first.rollout.startedAt)
  })

  it('is ended by a promotion and by a publish, and its version cannot be retired', async () => {
    const run = await newRun()
    await run.start()
    await expect(run.retire()).rejects.toMatchObject({
      code: 'VersionNotRetirable',
      message: expect.stringContaining('End the rollout'),
    })
    await run.promote()
    expect((await run.agent()).rollout).toBeNull()
    await run.start({ versionId: run.current.id })
    // That of the current version: nothing changes.
    await run.promote()
    expect((await run.agent()).rollout).not.toBeNull()
    const { organizationId, createdBy, inputSchema: input, outputSchema: output } = run.current
    const document = { ...run.current, title: 'Third', input, output, tools: [] }
    const agent = { document, code: null } as never
    const { store } = run.referenceOn(run.table)
    await publishAgent({ store, system, organizationId, createdBy, agent, draft: false })
    expect((await run.agent()).rollout).toBeNull()
  })

  /** Ends the rollout, but first does this, once. */
  const endAfter = (run: RolloutRun, work: (end: () => Promise<unknown>) => Promise<unknown>) => {
    let isFirst = true
    return run.endWith(async (end, params) => {
      if (isFirst) await work(() => end(params))
      isFirst = false
      return end(params)
    })
  }

  it('ends for good what was read, but not what replaced it, nor twice', async () => {
    const run = await newRun()
    await run.start()
    await endAfter(run, () => run.start({ percent: 20 }))
    expect((await run.agent()).rollout).toBeNull()
    await run.start()
    // The response of the first write is lost.
    await endAfter(run, (end) => end())
    expect((await run.agent()).rollout).toBeNull()
    await run.start()
    await endAfter(run, async () => {
      await run.promote()
      await run.start({ versionId: run.current.id })
    })
    expect((await run.agent()).rollout?.versionId).toBe(run.current.id)
  })

  it('of the same version stays if it was started again while the first one was being ended', async () => {
    const run = await newRun()
    const { rollout: first } = await run.start()
    await endAfter(run, async () => {
      await run.stop()
      run.outbox.pass(1_000)
      await run.start({ percent: 20 })
    })
    const { rollout } = await run.agent()
    expect(rollout).toMatchObject({ versionId: first.versionId, percent: 20 })
    expect(rollout?.startedAt).not.toBe(first.startedAt)
  })

  it('is refused for the current version, for a retired or unknown one, and for an agent without a current one', async () => {
    const run = await newRun()
    await expect(run.start({ versionId: run.current.id })).rejects.toMatchObject({
      errors: [{ path: '/versionId', message: expect.stringContaining('current version') }],
    })
    await expect(run.start({ versionId: system.newId() })).rejects.toMatchObject({ code: 'VersionNotFound' })
    await run.retire()
    await expect(run.start()).rejects.toMatchObject({ code: 'VersionRetired', status: 409 })
    await expect(run.rollout()).rejects.toMatchObject({ code: 'RolloutNotFound' })
    await expect(run.stop()).rejects.toMatchObject({ code: 'RolloutNotFound' })
    expect(await run.getVersion()).toMatchObject({ status: 'DRAFT' })
  })
})

describe('a draft that was to be released', () => {
  const released = ['rollout', 'promotion'] as const
  const release = (run: RolloutRun, how: (typeof released)[number], table = run.table) =>
    how === 'rollout' ? run.start({}, table) : run.promote(run.next.id, table)
  const draftOf = async (run: RolloutRun) => {
    const { organizationId, agentId } = run.current
    const store = agentStore(run.table)
    const { items } = await store.listVersions({ organizationId, agentId, limit: 10, after: null })
    const listed = items.find(({ id }) => id === run.next.id)
    const found = await resolveVersion({ ...run.referenceOn(run.table), versionId: run.next.id, run: null })
    expect(found.version).toEqual(listed)
    return listed
  }
  const remove = (run: RolloutRun, table = run.table) =>
    deleteDraft({
      ...run.referenceOn(table),
      executions: openStores(run.table).executions,
      versionId: run.next.id,
    })

  it.each(released)(
    'stays a draft, which can be deleted, if the process of its %s dies in between',
    async (how) => {
      let deaths = 0
      for (let request = 0; ; request++) {
        const run = await newRun()
        const { table, process } = mortalTable(run.table, { request, isAfter: true })
        await release(run, how, table).catch(() => undefined)
        const { draftVersionId, current } = await run.agent()
        if (!process.isDead) break
        if (draftVersionId === null) continue
        deaths++
        expect(current?.id).toBe(run.current.id)
        expect(await draftOf(run)).toEqual(run.next)
        // Also if the deletion is interrupted.
        if (request % 2 === 0) {
          const dying = mortalTable(run.table, { request: 5, isAfter: true })
          await remove(run, dying.table).catch(() => undefined)
          await remove(run).catch(({ code }) => expect(code).toBe('VersionNotFound'))
        } else await remove(run)
        expect(await run.agent()).toMatchObject({ draftVersionId: null, retired: {} })
        await expect(release(run, how)).rejects.toMatchObject({ code: 'VersionNotFound' })
      }
      expect(deaths).toBeGreaterThan(1)
    },
  )

  it.each(released)('stays a draft if the agent is archived during its %s', async (how) => {
    const run = await newRun()
    const update: typeof run.table.update = async (key, change) => {
      if (change.set?.status === 'PUBLISHED')
        await archiveAgent(run.referenceOn(run.table), '2027-02-01T00:00:00.000Z')
      return run.table.update(key, change)
    }
    await expect(release(run, how, { ...run.table, update })).rejects.toMatchObject({ code: 'AgentArchived' })
    expect(await draftOf(run)).toEqual(run.next)
    await archiveAgent(run.referenceOn(run.table), null)
    // Released again, it is a version like any other.
    await release(run, how)
    expect(await draftOf(run)).toMatchObject({ status: 'PUBLISHED', neverReplaced: true })
    await expect(remove(run)).rejects.toMatchObject({ code: 'VersionPublished' })
  })

  it.each(released)('is released or deleted, whatever is first, by a %s', async (how) => {
    for (let request = 0; request < 8; request++) {
      const run = await newRun()
      const dying = mortalTable(run.table, { request: 3, isAfter: true })
      await release(run, how, dying.table).catch(() => undefined)
      let requests = 0
      // As a whole between two requests of the release.
      const interfered = wrapTable(run.table, (method, send) => async (...args) => {
        if (['get', 'update'].includes(method) && requests++ === request)
          await remove(run).catch(({ code }) => expect(code).toBe('VersionPublished'))
        return send(...args)
      })
      await release(run, how, interfered).catch(({ code }) => expect(code).toBe('VersionNotFound'))
      const { current, rollout } = await run.agent()
      const isReleased = [current?.id, rollout?.versionId].includes(run.next.id)
      expect((await run.getVersion())?.status, `${request}`).toBe(isReleased ? 'PUBLISHED' : undefined)
    }
  })
})
