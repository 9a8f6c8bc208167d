import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { CANCELLED, failure, type Outcome } from '../../lib/core/execution.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { agentShard, executionKey, SHARDS, shardOf } from '../../lib/dynamodb/keys.ts'
import { INDEXES } from '../../lib/dynamodb/schema.ts'
import { openTable } from '../../lib/dynamodb/table.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { anExecution, leased } from '../support/executions.ts'
import { propertyRuns } from '../support/property-runs.ts'

const success = (output = { text: 'x' }): Outcome => ({
  status: 'SUCCESS',
  output,
  steps: 3,
  usage: { inputTokens: 5, outputTokens: 7 },
  model: 'a/b',
})
const NOW = 1_800_000_000_000
const at = '2027-01-15T08:00:00.000Z'
const leaseOf = (owner: string, expiresAt = NOW + 60_000) => ({ owner, expiresAt })

/** The contract of the port `ExecutionStore`, on every database that this machine can have. */
describe.each(['dynamodb', 'dynalite'] as const)('executionStore on %s', (emulator) => {
  // A table of its own: the shared service's sweeper must not take up what these tests leave open.
  const name = `contract-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) })
  const store = executionStore(table)
  const created = async (overrides: Parameters<typeof anExecution>[0] = {}) => {
    const execution = anExecution(overrides)
    await store.create({ execution })
    return execution
  }

  it('gives back what was created', async () => {
    const execution = await created({ tenantId: 'acme', lease: leaseOf('me') })
    expect(await store.get(execution)).toEqual(execution)
  })

  it('counts what an organization has open, about so many while the cap is far', async () => {
    const organizationId = system.newId()
    const executions = await Promise.all(Array.from({ length: 40 }, () => created({ organizationId })))
    await Promise.all(
      executions
        .slice(0, 8)
        .map(({ id }) => store.end({ organizationId, id, error: CANCELLED, finishedAt: at })),
    )
    for (const max of [0, 3, 40]) expect(await store.countOpen({ organizationId, max })).toBe(32)
    const estimate = await store.countOpen({ organizationId, max: 100_000 })
    expect(estimate % SHARDS).toBe(0)
    expect(estimate).toBeLessThanOrEqual(32 * SHARDS)
    expect(await store.countOpen({ organizationId: system.newId(), max: 100_000 })).toBe(0)
  })

  it('gives it to no other organization', async () => {
    const { id } = await created()
    expect(await store.get({ id, organizationId: system.newId() })).toBeNull()
  })

  it('does not change an execution that is created again', async () => {
    const execution = await created({ lease: leaseOf('me') })
    const ended = await store.finish({
      execution: leased(execution, 'me'),
      outcome: success(),
      finishedAt: at,
    })
    await store.create({ execution })
    expect(await store.get(execution)).toEqual(ended)
  })

  it('ends an execution once, for the owner of its lease only', async () => {
    const execution = await created({ lease: leaseOf('me') })
    expect(
      await store.finish({ execution: leased(execution, 'you'), outcome: success(), finishedAt: at }),
    ).toBeNull()
    const ended = await store.finish({
      execution: leased(execution, 'me'),
      outcome: success(),
      finishedAt: at,
    })
    expect(ended).toMatchObject({ ...success(), finishedAt: at, error: null, lease: null })
    expect(await store.get(execution)).toEqual(ended)
    const late = await store.finish({
      execution: leased(execution, 'you'),
      outcome: success({ text: 'y' }),
      finishedAt: at,
    })
    expect(late).toBeNull()
    expect((await store.get(execution))?.output).toEqual({ text: 'x' })
  })

  it('knows its own finish again when the answer was lost', async () => {
    const execution = await created({ lease: leaseOf('me') })
    await store.finish({ execution: leased(execution, 'me'), outcome: success(), finishedAt: at })
    const again = await store.finish({
      execution: leased(execution, 'me'),
      outcome: success(),
      finishedAt: at,
    })
    expect(again?.status).toBe('SUCCESS')
  })

  it('keeps the winner’s large output when a worker that lost its lease finishes too', async () => {
    const text = (seed: string) => `${seed}${randomBytes(600_000).toString('base64')}`
    const [loser, winner] = [text('loser'), text('winner')]
    const execution = await created({ lease: leaseOf('first', NOW - 1) })
    const claimed = await store.claim({ id: execution.id, lease: leaseOf('second'), now: NOW })
    if (typeof claimed === 'string') throw new Error(claimed)
    await store.finish({
      execution: leased(claimed, 'second'),
      outcome: success({ text: winner }),
      finishedAt: at,
    })
    await store.finish({
      execution: leased(execution, 'first'),
      outcome: success({ text: loser }),
      finishedAt: at,
    })
    expect((await store.get(execution))?.output?.text === winner).toBe(true)
  })

  it('lets one of many claimants have the lease', async () => {
    const { id } = await created()
    const owners = Array.from({ length: 20 }, (_, i) => `owner-${i}`)
    const results = await Promise.all(
      owners.map((owner) => store.claim({ id, lease: leaseOf(owner), now: NOW })),
    )
    const winners = results.filter((result) => typeof result !== 'string')
    expect(winners).toHaveLength(1)
    expect(winners[0]).toMatchObject({ attempts: 1, startedAt: new Date(NOW).toISOString() })
    expect(results.filter((result) => result === 'held')).toHaveLength(19)
  })

  it('gives a lease away only after it has run out, and counts the attempts', async () => {
    const { id } = await created({ lease: leaseOf('first', NOW) })
    expect(await store.claim({ id, lease: leaseOf('second'), now: NOW })).toBe('held')
    expect(await store.claim({ id, lease: leaseOf('second'), now: NOW + 1 })).toMatchObject({ attempts: 2 })
    expect(await store.renew({ id, lease: leaseOf('first') })).toBe(false)
    expect(await store.renew({ id, lease: leaseOf('second', NOW + 99_000) })).toBe(true)
  })

  it('lets nobody claim, renew or end what is final or gone', async () => {
    const execution = await created({ lease: leaseOf('me') })
    const { id, organizationId } = execution
    await store.finish({ execution: leased(execution, 'me'), outcome: success(), finishedAt: at })
    expect(await store.claim({ id, lease: leaseOf('you'), now: NOW * 2 })).toBe('closed')
    expect(await store.renew({ id, lease: leaseOf('me') })).toBe(false)
    expect(await store.end({ organizationId, id, error: CANCELLED, finishedAt: at })).toBeNull()
    expect(await store.claim({ id: system.newId(), lease: leaseOf('you'), now: NOW })).toBe('closed')
    expect(await store.renew({ id: system.newId(), lease: leaseOf('me') })).toBe(false)
  })

  it('ends an open execution for its organization whoever holds it, or only when nobody does', async () => {
    const { id, organizationId } = await created({ lease: leaseOf('me') })
    const end = { organizationId, id, error: CANCELLED, finishedAt: at }
    expect(await store.end({ ...end, organizationId: system.newId() })).toBeNull()
    expect(await store.end({ ...end, unleasedAt: NOW })).toBeNull()
    expect(await store.end(end)).toMatchObject({
      status: 'ERROR',
      error: CANCELLED,
      finishedAt: at,
      lease: null,
    })
  })

  it('lists as stale what is open past its lease or grace, longest first, and postpones it once', async () => {
    const [old, older] = [
      await created({ lease: leaseOf('a', 2_000) }),
      await created({ lease: leaseOf('b', 1_000) }),
    ]
    await created({ lease: leaseOf('c', NOW) })
    const done = await created({ lease: leaseOf('d', 1_500) })
    await store.finish({ execution: leased(done, 'd'), outcome: failure(CANCELLED), finishedAt: at })
    const ids = async () => (await store.listStale({ now: 3_000, limit: 1_000 })).map(({ id }) => id)
    expect((await ids()).filter((id) => [old.id, older.id, done.id].includes(id))).toEqual([older.id, old.id])
    const [stale] = (await store.listStale({ now: 3_000, limit: 1_000 })).filter(({ id }) => id === older.id)
    if (!stale) throw new Error('not listed')
    expect(await store.postpone({ stale, until: NOW })).toBe(true)
    expect(await store.postpone({ stale, until: NOW })).toBe(false)
    expect(await ids()).not.toContain(older.id)
  })

  it('deletes what is final, with its chunks, and says what it could not delete', async () => {
    const execution = await created({
      input: { text: randomBytes(1_000_000).toString('base64') },
      lease: leaseOf('me'),
    })
    expect(await store.delete(execution)).toBe('open')
    await store.finish({ execution: leased(execution, 'me'), outcome: success(), finishedAt: at })
    expect(await store.delete({ ...execution, organizationId: system.newId() })).toBe('missing')
    expect(await store.delete(execution)).toBe('deleted')
    expect(await store.delete(execution)).toBe('missing')
    expect(await store.get(execution)).toBeNull()
    const page = {
      organizationId: execution.organizationId,
      status: null,
      tenantId: null,
      limit: 10,
      after: null,
    }
    expect(await store.list({ ...page, agentId: null })).toEqual({ items: [], next: null })
  })

  it('hides what a deletion has begun with and not finished, and finishes when asked again', async () => {
    const execution = await created({ lease: leaseOf('me') })
    await store.finish({ execution: leased(execution, 'me'), outcome: success(), finishedAt: at })
    const crash = new Error('crashed')
    const crashing = executionStore({ ...table, delete: () => Promise.reject(crash) })
    await expect(crashing.delete(execution)).rejects.toBe(crash)
    expect(await store.get(execution)).toBeNull()
    const { organizationId, agentId } = execution
    const page = { organizationId, status: null, tenantId: null, limit: 10, after: null }
    expect((await store.list({ ...page, agentId: null })).items).toEqual([])
    expect((await store.list({ ...page, agentId })).items).toEqual([])
    const { items } = await table.query({
      IndexName: 'executions-of-agent',
      KeyConditionExpression: 'agentShard = :shard',
      ExpressionAttributeValues: { ':shard': agentShard(agentId, shardOf(execution.id)) },
    })
    expect(items).toEqual([])
    expect(await store.delete(execution)).toBe('deleted')
    expect(await table.get(executionKey(execution.id), { consistent: true })).toBeNull()
  })

  it('lists by pages of any size each execution once, newest first', async () => {
    const organizationId = system.newId()
    const ids: string[] = []
    for (let i = 0; i < 40; i++) ids.push((await created({ organizationId })).id)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 45 }), async (limit) => {
        const seen: string[] = []
        let after = null
        do {
          const query = { organizationId, agentId: null, status: null, tenantId: null, limit, after }
          const page = await store.list(query)
          expect(page.items.length).toBeLessThanOrEqual(limit)
          seen.push(...page.items.map(({ id }) => id))
          after = page.next
        } while (after)
        expect(seen).toEqual([...ids].reverse())
      }),
      { numRuns: propertyRuns(15) },
    )
  })

  it('round-trips any JSON object', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
        const input = JSON.parse(JSON.stringify(value))
        const execution = await created({ input })
        expect((await store.get(execution))?.input).toEqual(input)
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it('says "unavailable" when the database does not answer', async () => {
    const gone = executionStore(openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: 'http://127.0.0.1:1' }))
    await expect(gone.get({ organizationId: 'a', id: 'b' })).rejects.toMatchObject({
      code: 'Unavailable',
      status: 503,
    })
  })
})

describe('INDEXES', () => {
  it('project no payload', () => {
    const payloads = ['input', 'output', 'error', 'data']
    for (const { projection } of Object.values(INDEXES)) {
      expect(projection.filter((name) => payloads.includes(name))).toEqual([])
    }
  })
})
