import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Execution, type Feedback, failure } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { system } from '../../../lib/system.ts'
import { anExecution, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import { EMULATORS } from '../../support/tables/emulators.ts'
import { itemsIn } from '../../support/tables/items-in.ts'
import { emulatedTable } from '../../support/tables/memory-table.ts'

const at = '2027-01-15T08:00:00.000Z'
const lease = { owner: 'me', expiresAt: Date.now() + 60_000 }
const LARGE = { text: randomBytes(300_000).toString('base64') }
const MEDIUM = { text: 'x'.repeat(9_000) }

const RIGHT = { correctedOutput: { text: 'right' } }

const feedbackOf = (overrides: Partial<Feedback> = {}): Feedback => ({
  ...{ rating: 1, correctedOutput: null, note: null, updatedAt: at },
  ...overrides,
})

describe.each(EMULATORS)('learningStore on %s', async (emulator) => {
  const table = await emulatedTable(emulator)
  const store = executionStore(table)

  const aScope = (tenantId: string | null = null) => ({
    organizationId: system.newId(),
    agentId: system.newId(),
    tenantId,
  })
  async function finished(given: Partial<NewExecution>, output: JsonObject | null = { text: 'out' }) {
    const execution = anExecution({ lease, ...given })
    await store.create({ execution })
    const outcome = output ? { status: 'SUCCESS' as const, output, ...NO_PROGRESS } : failure(CANCELLED)
    await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: at })
    return execution
  }
  const remove = (execution: Execution) => store.delete({ ...execution, now: Date.now() })
  const feedbackFor = async (execution: Execution) => (await store.get(execution))?.feedback
  const give = ({ organizationId, id }: Execution, overrides: Partial<Feedback> = {}, isReview = true) => {
    const feedback = feedbackOf(overrides)
    return store.giveFeedback({ organizationId, id, feedback, isReview, writer: system.newId() })
  }
  const idsOf = (list: { id: string }[]) => list.map(({ id }) => id)
  const chunksOf = async ({ id }: Execution) => {
    const items = await itemsIn(table, `EXEC#${id}`)
    return items.filter(({ sk }) => String(sk).startsWith('PAYLOAD#RECORD#feedback')).length
  }

  describe('giveFeedback', () => {
    it('stores feedback, and replaces earlier feedback', async () => {
      const execution = await finished({})
      const first = feedbackOf({ rating: -1, ...RIGHT, note: 'A note.' })
      expect(await give(execution, first)).toMatchObject({ id: execution.id, feedback: first })
      expect(await feedbackFor(execution)).toEqual(first)
      await give(execution)
      expect(await feedbackFor(execution)).toEqual(feedbackOf())
      expect(await store.get(execution)).toMatchObject({ status: 'SUCCESS', output: { text: 'out' } })
    })

    it('returns `open` or `missing`, and changes nothing, for an open, unknown, deleted or another organization’s execution', async () => {
      const open = anExecution({ lease })
      await store.create({ execution: open })
      expect(await give(open)).toBe('open')
      expect(await feedbackFor(open)).toBeNull()
      const execution = await finished({})
      expect(await give({ ...execution, organizationId: system.newId() })).toBe('missing')
      expect(await feedbackFor(execution)).toBeNull()
      expect(await give({ ...execution, id: system.newId() })).toBe('missing')
      expect(await remove(execution)).toBe('deleted')
      expect(await give(execution, { correctedOutput: LARGE })).toBe('missing')
      expect(await chunksOf(execution)).toBe(0)
    })

    it('leaves no chunks when the execution is deleted at the same time', async () => {
      const execution = await finished({})
      const { organizationId, id } = execution
      const racing = executionStore({
        ...table,
        writeMany: async (writes) => {
          if (writes.some((write) => 'put' in write)) await remove(execution)
          await table.writeMany(writes)
        },
      })
      const feedback = feedbackOf({ correctedOutput: LARGE })
      expect(await racing.giveFeedback({ organizationId, id, feedback, writer: 'w' })).toBe('missing')
      expect(await store.get(execution)).toBeNull()
      expect(await chunksOf(execution)).toBe(0)
    })

    it('stores a large correction in chunks, which are deleted when it is replaced and with the execution', async () => {
      const execution = await finished({})
      const large = feedbackOf({ correctedOutput: LARGE })
      await give(execution, large)
      expect(await feedbackFor(execution)).toEqual(large)
      expect(await chunksOf(execution)).toBeGreaterThan(0)
      await give(execution)
      expect(await chunksOf(execution)).toBe(0)
      await give(execution, large)
      await remove(execution)
      expect(await chunksOf(execution)).toBe(0)
    })

    it('keeps the chunks of a review that other feedback follows, until the next review', async () => {
      const execution = await finished({})
      await give(execution, { correctedOutput: LARGE })
      const chunks = await chunksOf(execution)
      for (const [correctedOutput, isReview, times] of [
        [null, false, 1],
        [LARGE, false, 2],
        [null, false, 1],
        [null, true, 0],
      ] as const) {
        await give(execution, { correctedOutput }, isReview)
        expect(await chunksOf(execution)).toBe(times * chunks)
      }
    })
  })

  describe('renew', () => {
    it('stores what a run learns from, for the lease owner only: nothing, or not chosen yet', async () => {
      const execution = anExecution({ lease })
      await store.create({ execution })
      const { id } = execution
      const other = { owner: 'you', expiresAt: lease.expiresAt }
      expect(await store.renew({ id, lease: other, learnedFrom: ['b'] })).toBeNull()
      expect((await store.get(execution))?.learnedFrom).toBeNull()
      for (const learnedFrom of [[], ['a']]) {
        expect(await store.renew({ id, lease, learnedFrom })).toEqual({ watchedUntil: null })
        await store.renew({ id, lease, progress: { ...NO_PROGRESS, steps: 1 } })
        expect(await store.get(execution)).toMatchObject({ learnedFrom, steps: 1 })
      }
      const outcome = failure(CANCELLED)
      const final = await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: at })
      expect(final?.learnedFrom).toEqual(['a'])
    })
  })

  describe('listLessons', () => {
    const lessonsOf = async (scope: ReturnType<typeof aScope>, teachers?: 'all', limit = 500) => {
      const lessons = await store.listLessons({ ...scope, limit, ...(teachers && { teachers }) })
      return lessons.map(({ id, isCorrected }) => [id, isCorrected ? 'corrected' : 'liked'])
    }

    it('lists rated executions that can be examples: corrected ones, then liked ones, newest first', async () => {
      const scope = aScope('acme')
      const [liked, corrected] = [await finished(scope), await finished(scope)]
      await give(liked)
      await give(corrected, { rating: -1, ...RIGHT })
      await give(await finished(scope, null))
      await give(await finished(scope), { rating: -1 })
      await finished(scope)
      await give(await finished({ ...scope, input: MEDIUM }))
      const newest = await finished(scope)
      await give(newest, RIGHT)
      const ids = [newest.id, corrected.id]
      expect(await lessonsOf(scope)).toEqual([...ids.map((id) => [id, 'corrected']), [liked.id, 'liked']])
      expect(await lessonsOf(scope, undefined, 1)).toEqual([[newest.id, 'corrected']])
    })

    it('follows the last feedback, and forgets deleted executions', async () => {
      const scope = aScope()
      const execution = await finished(scope)
      for (const [feedback, kind] of [
        [{}, 'liked'],
        [RIGHT, 'corrected'],
        [{ correctedOutput: MEDIUM }, null],
        [{ correctedOutput: LARGE }, null],
        [{}, 'liked'],
        [{ rating: -1 }, null],
        [{}, 'liked'],
      ] as const) {
        await give(execution, feedback)
        expect(await lessonsOf(scope)).toEqual(kind ? [[execution.id, kind]] : [])
      }
      await remove(execution)
      expect(await lessonsOf(scope)).toEqual([])
    })

    it('is the same for reviewers however much other feedback there is, and for all also has that', async () => {
      const scope = aScope()
      const reviewed = await finished(scope)
      await give(reviewed, RIGHT)
      const others = await Promise.all(Array.from({ length: 5 }, () => finished(scope)))
      for (const other of [reviewed, ...others])
        await give(other, { correctedOutput: { text: 'mine' } }, false)
      expect(await lessonsOf(scope, undefined, 3)).toEqual([[reviewed.id, 'corrected']])
      const all = await lessonsOf(scope, 'all')
      expect(all.map(([id]) => id)).toEqual([reviewed.id, ...idsOf(others).sort().reverse()])
      expect(await lessonsOf(scope, 'all', 3)).toEqual(all.slice(0, 3))
    })

    it('lists only executions of the same agent and tenant', async () => {
      const scope = aScope()
      const tenants = [null, 'a', 'A', 'null', 'a#b']
      for (const tenantId of tenants) await give(await finished({ ...scope, tenantId }))
      for (const tenantId of tenants) expect(await lessonsOf({ ...scope, tenantId })).toHaveLength(1)
      expect(await lessonsOf({ ...scope, tenantId: 'c' })).toEqual([])
      expect(await lessonsOf({ ...scope, agentId: system.newId() })).toEqual([])
    })

    it('returns the embedding, also after feedback without one', async () => {
      const scope = aScope()
      const execution = await finished(scope)
      const { organizationId, id } = execution
      const embedding = { model: 'a/b', vector: Int8Array.of(-128, -1, 0, 1, 127) }
      const given = { organizationId, id, feedback: feedbackOf(), writer: 'w' }
      await store.giveFeedback({ ...given, embedding })
      await give(execution, RIGHT)
      const [lesson] = await store.listLessons({ ...scope, limit: 1 })
      expect(lesson).toMatchObject({ text: 'x text', embedding })
      const other = { model: 'a/c', vector: Int8Array.of(3) }
      await store.giveFeedback({ ...given, embedding: other, writer: 'w2' })
      expect(await store.listLessons({ ...scope, limit: 1 })).toMatchObject([{ embedding: other }])
    })
  })

  describe('listExamples', () => {
    it('returns outputs with their feedback, newest first', async () => {
      const scope = aScope('acme')
      const plain = await finished({ ...scope, input: { text: 'in' } })
      const rated = await finished(scope)
      await give(rated, { rating: -1 })
      const failed = await finished(scope, null)
      await give(failed, { rating: -1, ...RIGHT })
      const common = { ...scope, note: null, cached: false, isCorrected: false, input: { text: 'x' } }
      const examples = await store.listExamples({ ...scope, limit: 10 })
      expect(examples).toEqual([
        { ...common, id: failed.id, output: { text: 'right' }, isCorrected: true, rating: -1 },
        { ...common, id: rated.id, output: { text: 'out' }, rating: -1 },
        { ...common, id: plain.id, input: { text: 'in' }, output: { text: 'out' }, rating: null },
      ])
    })

    it('shows feedback that is no review only where all feedback teaches', async () => {
      const scope = aScope()
      const execution = await finished(scope)
      const shown = async () => {
        const examples = (teachers: 'reviewers' | 'all') =>
          store.listExamples({ ...scope, limit: 10, teachers })
        const [byDefault] = await store.getExamples({ ...scope, ids: [execution.id] })
        const [[reviewed], [all]] = [await examples('reviewers'), await examples('all')]
        expect(byDefault).toEqual(reviewed)
        const shown = (example: typeof all) => [example?.output.text, example?.rating]
        return { reviewed: shown(reviewed), all: shown(all) }
      }
      await give(execution, { rating: -1, correctedOutput: { text: 'mine' } }, false)
      expect(await shown()).toEqual({ reviewed: ['out', null], all: ['mine', -1] })
      await give(execution, RIGHT)
      expect(await shown()).toEqual({ reviewed: ['right', 1], all: ['right', 1] })
      for (const text of ['mine', 'again']) {
        await give(execution, { rating: -1, correctedOutput: { text } }, false)
        expect((await feedbackFor(execution))?.correctedOutput).toEqual({ text })
        expect(await shown()).toEqual({ reviewed: ['right', 1], all: [text, -1] })
      }
      await give(execution, { rating: -1 })
      expect(await shown()).toEqual({ reviewed: ['out', -1], all: ['out', -1] })
    })

    it('leaves out executions without an output, open ones and deleted ones', async () => {
      const scope = aScope()
      await give(await finished(scope, null), { rating: -1 })
      await store.create({ execution: anExecution({ ...scope, lease }) })
      await remove(await finished(scope))
      expect(await store.listExamples({ ...scope, limit: 10 })).toEqual([])
    })

    it('returns only executions of the same tenant and organization', async () => {
      const { organizationId, agentId } = aScope()
      const tenants = [null, 'a', 'null', ' a']
      for (const tenantId of tenants)
        await finished({ organizationId, agentId, tenantId, input: { of: tenantId } })
      for (const tenantId of [...tenants, 'c']) {
        const scope = { organizationId, agentId, tenantId }
        const seen = (await store.listExamples({ ...scope, limit: 100 })).map(({ input }) => input.of)
        expect(seen).toEqual(tenants.includes(tenantId) ? [tenantId] : [])
        const others = { ...scope, organizationId: system.newId(), limit: 100 }
        expect(await store.listExamples(others)).toEqual([])
      }
    })

    it.each(['rare', null])(
      'returns the newest executions of the tenant %j among many others',
      async (tenantId) => {
        const scope = aScope(tenantId)
        const ids: string[] = []
        for (let i = 0; i < 24; i++) {
          const execution = await finished({ ...scope, tenantId: i % 4 === 0 ? tenantId : 'busy' })
          if (i % 4 === 0) ids.unshift(execution.id)
        }
        expect(idsOf(await store.listExamples({ ...scope, limit: 200 }))).toEqual(ids)
        expect(idsOf(await store.listExamples({ ...scope, limit: 3 }))).toEqual(ids.slice(0, 3))
      },
    )

    it('reads no chunks, and leaves out executions that are too large', async () => {
      const scope = aScope()
      await finished({ ...scope, input: LARGE })
      await finished({ ...scope, input: MEDIUM })
      await finished(scope, LARGE)
      await finished(scope, MEDIUM)
      await give(await finished(scope), { correctedOutput: LARGE })
      const corrected = await finished(scope, LARGE)
      await give(corrected, { correctedOutput: { text: 'short' } })
      const noted = await finished(scope)
      await give(noted, { rating: -1, note: '\u0001'.repeat(2_000) })
      let batches = 0
      const counting = executionStore({
        ...table,
        getMany: (...args) => {
          batches++
          return table.getMany(...args)
        },
      })
      const examples = await counting.listExamples({ ...scope, limit: 10 })
      expect(examples.map(({ id, rating }) => [id, rating])).toEqual([
        [noted.id, -1],
        [corrected.id, 1],
      ])
      expect(batches).toBe(1)
    })
  })

  describe('getExamples', () => {
    it('returns existing executions of the scope, in the order of the ids', async () => {
      const scope = aScope('acme')
      const [a, b, c] = [await finished(scope), await finished(scope), await finished(scope)]
      const others = await Promise.all([
        finished({ ...scope, tenantId: null }),
        finished({ ...scope, organizationId: system.newId() }),
        finished({ ...scope, agentId: system.newId() }),
      ])
      await remove(c)
      const ids = [...idsOf(others), c.id, b.id, a.id, system.newId()]
      expect(idsOf(await store.getExamples({ ...scope, ids }))).toEqual([b.id, a.id])
      expect(await store.getExamples({ ...scope, ids: [] })).toEqual([])
    })
  })
})
