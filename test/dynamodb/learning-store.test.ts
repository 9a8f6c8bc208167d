import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Feedback } from '../../lib/core/execution.ts'
import { CANCELLED, type Execution, failure, type NewExecution, NO_USAGE } from '../../lib/core/execution.ts'
import type { JsonObject } from '../../lib/core/json.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { openTable } from '../../lib/dynamodb/table.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { anExecution, leased } from '../support/executions.ts'

const at = '2027-01-15T08:00:00.000Z'
const lease = { owner: 'me', expiresAt: Date.now() + 60_000 }
const LARGE = { text: randomBytes(300_000).toString('base64') }
const MEDIUM = { text: 'x'.repeat(9_000) }

const feedbackOf = (overrides: Partial<Feedback> = {}): Feedback => ({
  rating: 1,
  correctedOutput: null,
  note: null,
  updatedAt: at,
  ...overrides,
})

/** What the port `LearningStore` promises, on every database that this machine can have. */
describe.each(['dynamodb', 'dynalite'] as const)('learningStore on %s', (emulator) => {
  const name = `learning-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) })
  const store = executionStore(table)

  const aLearner = (tenantId: string | null = null) => ({
    organizationId: system.newId(),
    agentId: system.newId(),
    tenantId,
  })
  async function ended(given: Partial<NewExecution>, output: JsonObject | null = { text: 'out' }) {
    const execution = anExecution({ lease, ...given })
    await store.create({ execution })
    const outcome = output
      ? { status: 'SUCCESS' as const, output, steps: 1, usage: NO_USAGE, model: 'a/b' }
      : failure(CANCELLED)
    await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: at })
    return execution
  }
  const give = ({ organizationId, id }: Execution, overrides: Partial<Feedback> = {}) =>
    store.giveFeedback({ organizationId, id, feedback: feedbackOf(overrides), writer: system.newId() })
  const idsOf = (list: { id: string }[]) => list.map(({ id }) => id)
  const chunksOf = async ({ id }: Execution) => {
    const { items } = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': `EXEC#${id}` },
    })
    return items.filter(({ sk }) => String(sk).startsWith('PAYLOAD#feedback')).length
  }

  describe('giveFeedback', () => {
    it('puts it on the record, in the place of any before', async () => {
      const execution = await ended({})
      const first = feedbackOf({ rating: -1, correctedOutput: { text: 'right' }, note: 'A note.' })
      expect(await give(execution, first)).toMatchObject({ id: execution.id, feedback: first })
      expect((await store.get(execution))?.feedback).toEqual(first)
      await give(execution)
      const after = await store.get(execution)
      expect(after?.feedback).toEqual(feedbackOf())
      expect(after).toMatchObject({ status: 'SUCCESS', output: { text: 'out' } })
    })

    it('says what is missing, open or another’s, and changes none of them', async () => {
      const open = anExecution({ lease })
      await store.create({ execution: open })
      expect(await give(open)).toBe('open')
      expect((await store.get(open))?.feedback).toBeNull()
      const execution = await ended({})
      expect(await give({ ...execution, organizationId: system.newId() })).toBe('missing')
      expect((await store.get(execution))?.feedback).toBeNull()
      expect(await give({ ...execution, id: system.newId() })).toBe('missing')
      expect(await store.delete(execution)).toBe('deleted')
      expect(await give(execution, { correctedOutput: LARGE })).toBe('missing')
      expect(await chunksOf(execution)).toBe(0)
    })

    it('leaves nothing behind when the execution is deleted meanwhile', async () => {
      const execution = await ended({})
      const { organizationId, id } = execution
      const racing = executionStore({
        ...table,
        writeMany: async (writes) => {
          if (writes.some((write) => 'put' in write)) await store.delete(execution)
          await table.writeMany(writes)
        },
      })
      const feedback = feedbackOf({ correctedOutput: LARGE })
      expect(await racing.giveFeedback({ organizationId, id, feedback, writer: 'w' })).toBe('missing')
      expect(await store.get(execution)).toBeNull()
      expect(await chunksOf(execution)).toBe(0)
    })

    it('keeps a large correction in chunks, which go when it is replaced and with the execution', async () => {
      const execution = await ended({})
      const large = feedbackOf({ correctedOutput: LARGE })
      await give(execution, large)
      expect((await store.get(execution))?.feedback).toEqual(large)
      expect(await chunksOf(execution)).toBeGreaterThan(0)
      await give(execution)
      expect(await chunksOf(execution)).toBe(0)
      await give(execution, large)
      await store.delete(execution)
      expect(await chunksOf(execution)).toBe(0)
    })
  })

  describe('renew', () => {
    it('keeps what a run learns from, for the owner of its lease only', async () => {
      const execution = anExecution({ lease })
      await store.create({ execution })
      const { id } = execution
      const other = { owner: 'you', expiresAt: lease.expiresAt }
      expect(await store.renew({ id, lease: other, learnedFrom: ['b'] })).toBe(false)
      expect(await store.renew({ id, lease, learnedFrom: ['a'] })).toBe(true)
      await store.renew({ id, lease, progress: { steps: 1, usage: NO_USAGE, model: null } })
      expect(await store.get(execution)).toMatchObject({ learnedFrom: ['a'], steps: 1 })
      const outcome = failure(CANCELLED)
      const finished = await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: at })
      expect(finished?.learnedFrom).toEqual(['a'])
    })

    it('tells a run that learns from nothing from one that has not chosen', async () => {
      const execution = anExecution({ lease })
      await store.create({ execution })
      expect((await store.get(execution))?.learnedFrom).toBeNull()
      await store.renew({ id: execution.id, lease, learnedFrom: [] })
      expect((await store.get(execution))?.learnedFrom).toEqual([])
    })
  })

  describe('listExamples', () => {
    it('gives what an execution said, with what people said of it', async () => {
      const learner = aLearner('acme')
      const plain = await ended({ ...learner, input: { text: 'in' } })
      const rated = await ended(learner)
      await give(rated, { rating: -1 })
      const failed = await ended(learner, null)
      await give(failed, { rating: -1, correctedOutput: { text: 'right' } })
      const common = { ...learner, cached: false }
      const examples = await store.listExamples({ ...learner, limit: 10 })
      expect(examples).toEqual([
        {
          ...common,
          id: failed.id,
          input: { text: 'x' },
          output: { text: 'right' },
          isCorrected: true,
          rating: -1,
        },
        {
          ...common,
          id: rated.id,
          input: { text: 'x' },
          output: { text: 'out' },
          isCorrected: false,
          rating: -1,
        },
        {
          ...common,
          id: plain.id,
          input: { text: 'in' },
          output: { text: 'out' },
          isCorrected: false,
          rating: null,
        },
      ])
    })

    it('leaves out what has no output, has not ended, or was deleted', async () => {
      const learner = aLearner()
      const failed = await ended(learner, null)
      await give(failed, { rating: -1 })
      await store.create({ execution: anExecution({ ...learner, lease }) })
      await store.delete(await ended(learner))
      expect(await store.listExamples({ ...learner, limit: 10 })).toEqual([])
    })

    it('gives no tenant what is of another or of none, nor an organization what is of another', async () => {
      const { organizationId, agentId } = aLearner()
      const tenants = [null, 'a', 'b', 'A', 'null', ' a']
      for (const tenantId of tenants)
        await ended({ organizationId, agentId, tenantId, input: { of: tenantId } })
      for (const tenantId of [...tenants, 'c']) {
        const learner = { organizationId, agentId, tenantId }
        const seen = (await store.listExamples({ ...learner, limit: 100 })).map(({ input }) => input.of)
        expect(seen).toEqual(tenants.includes(tenantId) ? [tenantId] : [])
        const theirs = { ...learner, organizationId: system.newId(), limit: 100 }
        expect(await store.listExamples(theirs)).toEqual([])
      }
    })

    it.each(['rare', null])(
      'looks at the newest of %j, as many as it is told, however many others there are',
      async (tenantId) => {
        const learner = aLearner(tenantId)
        const ids: string[] = []
        for (let i = 0; i < 60; i++) {
          const execution = await ended({ ...learner, tenantId: i % 4 === 0 ? tenantId : 'busy' })
          if (i % 4 === 0) ids.unshift(execution.id)
        }
        expect(idsOf(await store.listExamples({ ...learner, limit: 200 }))).toEqual(ids)
        expect(idsOf(await store.listExamples({ ...learner, limit: 7 }))).toEqual(ids.slice(0, 7))
      },
    )

    it('reads no chunk, and passes over what is too large for an example', async () => {
      const learner = aLearner()
      await ended({ ...learner, input: LARGE })
      await ended({ ...learner, input: MEDIUM })
      await ended(learner, LARGE)
      await ended(learner, MEDIUM)
      const largeCorrection = await ended(learner)
      await give(largeCorrection, { correctedOutput: LARGE })
      const mended = await ended(learner, LARGE)
      await give(mended, { correctedOutput: { text: 'short' } })
      const noted = await ended(learner)
      await give(noted, { rating: -1, note: '\u0001'.repeat(2_000) })
      let batches = 0
      const counting = executionStore({
        ...table,
        getMany: (...args) => {
          batches++
          return table.getMany(...args)
        },
      })
      const examples = await counting.listExamples({ ...learner, limit: 10 })
      expect(examples.map(({ id, rating }) => [id, rating])).toEqual([
        [noted.id, -1],
        [mended.id, 1],
      ])
      expect(batches).toBe(1)
    })
  })

  describe('getExamples', () => {
    it('gives those that are there, in the order of the ids, and none of another', async () => {
      const learner = aLearner('acme')
      const [a, b, c] = [await ended(learner), await ended(learner), await ended(learner)]
      const others = await Promise.all([
        ended({ ...learner, tenantId: null }),
        ended({ ...learner, organizationId: system.newId() }),
        ended({ ...learner, agentId: system.newId() }),
      ])
      await store.delete(c)
      const ids = [...idsOf(others), c.id, b.id, a.id, system.newId()]
      expect(idsOf(await store.getExamples({ ...learner, ids }))).toEqual([b.id, a.id])
      expect(await store.getExamples({ ...learner, ids: [] })).toEqual([])
    })
  })
})
