import { describe, expect, it } from 'vitest'
import { newToken } from '../../lib/access/tokens.ts'
import type { Organization, Token } from '../../lib/core/agent.ts'
import { organizationStore, rateStore, tokenStore } from '../../lib/dynamodb/access-stores.ts'
import { largeBodiesKey, occupancyKey, QUOTA_KEY, rateKey } from '../../lib/dynamodb/table/keys.ts'
import { system } from '../../lib/system.ts'
import { EMULATORS, expectPages, RACERS, race, tableOn } from '../support/tables/emulators.ts'
import { emulatedTable } from '../support/tables/memory-table.ts'

const aToken = (overrides: Partial<Token> = {}): Token => {
  const [organizationId, createdBy] = [system.newId(), system.newId()]
  const { token } = newToken({ system, organizationId, name: 'ci', createdBy, lifetimeMs: null })
  return { ...token, ...overrides }
}
const at = (second: number) => new Date(Date.UTC(2027, 0, 1, 0, 0, second)).toISOString()

describe.each(EMULATORS)('tokenStore on %s', (emulator) => {
  const store = tokenStore(tableOn(emulator))
  const created = async (overrides: Partial<Token> = {}) => {
    const token = aToken(overrides)
    expect(await store.create({ token })).toBe(true)
    return token
  }

  it.each<[string, Partial<Token>]>([
    ['has expired', { expiresAt: at(0) }],
    ['is revoked', { revokedAt: at(0) }],
    ['has limits', { scopes: ['run'], agents: ['a', 'b'], tenantId: 'Müller', rate: 10 }],
    ['has a name of any characters', { name: 'größer\u0000 "日本語" #1' }],
  ])('returns a token by its hash and its ID, also one that %s', async (_, overrides) => {
    const token = await created(overrides)
    expect([await store.getByHash(token), await store.get(token)]).toEqual([token, token])
  })

  it('finds and changes no token that was not created', async () => {
    const token = aToken()
    await store.recordUse({ ...token, lastUsedAt: at(1) })
    expect(await store.revoke({ ...token, revokedAt: at(1) })).toBeNull()
    expect(await store.expire({ ...token, expiresAt: at(5) })).toBeNull()
    expect([await store.getByHash(token), await store.get(token)]).toEqual([null, null])
  })

  it('stores one of many tokens with one hash, and none of another one that comes later', async () => {
    const { hash } = aToken()
    const tokens = await race(async () => aToken({ hash }))
    const results = await race((racer) => store.create({ token: tokens[racer] as Token }))
    expect(results.filter(Boolean)).toHaveLength(1)
    const other = aToken({ hash })
    expect(await store.create({ token: other })).toBe(false)
    expect(await store.getByHash({ hash })).toEqual(tokens[results.indexOf(true)])
    expect(await store.get(other)).toBeNull()
    expect(await store.list({ ...other, limit: 10, after: null })).toEqual({ items: [], next: null })
  })

  it('keeps the latest hour of use', async () => {
    const token = await created()
    for (const second of [2, 1, 3, 3]) await store.recordUse({ ...token, lastUsedAt: at(second) })
    expect(await store.getByHash(token)).toEqual({ ...token, lastUsedAt: at(3) })
  })

  it('lists the tokens of the organization, newest first', async () => {
    const organizationId = system.newId()
    const tokens: Token[] = []
    for (let i = 0; i < 7; i++) tokens.unshift(await created({ organizationId }))
    await created()
    const [revoked] = tokens as [Token]
    await store.revoke({ ...revoked, revokedAt: at(1) })
    revoked.revokedAt = at(1)
    await expectPages((page) => store.list({ organizationId, ...page }), tokens)
  })

  it('revoke keeps the time of the first revocation, also when many revoke at once', async () => {
    const token = await created()
    const revoked = await race((racer) => store.revoke({ ...token, revokedAt: at(racer) }))
    const stored = await store.getByHash(token)
    expect(stored?.revokedAt).toMatch(/^2027-01-01T00:00:/)
    for (const second of [59, 0]) revoked.push(await store.revoke({ ...token, revokedAt: at(second) }))
    expect(revoked).toEqual(Array(revoked.length).fill(stored))
    expect(await store.getByHash(token)).toEqual(stored)
  })

  describe('expire', () => {
    it.each([
      ['does not expire', { expiresAt: null }, { expiresAt: at(5) }],
      ['expires later', { expiresAt: at(9) }, { expiresAt: at(5) }],
      ['expires at this time', { expiresAt: at(5) }, {}],
      ['expires before', { expiresAt: at(3) }, {}],
      ['is revoked', { revokedAt: at(1) }, {}],
    ])('never ends a token later that %s', async (_, given, changes) => {
      const token = await created(given)
      const expected = { ...token, ...changes }
      expect(await store.expire({ ...token, expiresAt: at(5) })).toEqual(expected)
      expect(await store.getByHash(token)).toEqual(expected)
    })

    it('keeps the earliest time when many end it at once', async () => {
      const token = await created({ expiresAt: at(59) })
      await race((racer) => store.expire({ ...token, expiresAt: at(58 - racer) }))
      expect(await store.getByHash(token)).toEqual({ ...token, expiresAt: at(59 - RACERS) })
    })

    it('does not undo a revocation that comes at the same time', async () => {
      const token = await created()
      await race((racer) =>
        racer % 2 === 0
          ? store.expire({ ...token, expiresAt: at(5) })
          : store.revoke({ ...token, revokedAt: at(1) }),
      )
      expect(await store.getByHash(token)).toMatchObject({ revokedAt: at(1) })
    })
  })
})

const anOrganization = (): Organization => ({
  ...{ id: system.newId(), name: 'Example Ltd', createdAt: new Date().toISOString() },
})

describe.each(EMULATORS)('organizationStore on %s', async (emulator) => {
  // A separate table: `list` returns all organizations of a table.
  const store = organizationStore(await emulatedTable(emulator))

  it('lists every organization once, newest first', async () => {
    await expectPages(store.list, [])
    const organizations = Array.from({ length: 7 }, () => anOrganization())
    for (const organization of organizations) await store.create({ organization })
    await expectPages(store.list, organizations.toReversed())
  })

  it('stores one of many organizations with one ID, and keeps it', async () => {
    const organization = anOrganization()
    expect(await store.get(organization)).toBeNull()
    const read = await race(async (racer) => {
      await store.create({ organization: { ...organization, name: `Größer & "日本語" ${racer}` } })
      return store.get(organization)
    })
    const name = expect.stringMatching(/^Größer & "日本語" \d+$/)
    expect(read).toEqual(Array(read.length).fill({ ...organization, name }))
    await store.create({ organization: { ...organization, name: 'Other', createdAt: at(0) } })
    expect([...read, await store.get(organization)]).toEqual(Array(read.length + 1).fill(read[0]))
  })
})

const SECOND = Date.UTC(2027, 0, 1) / 1000

describe.each(EMULATORS)('rateStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const rates = rateStore(table)
  const [id, other] = [system.newId(), system.newId()]
  const process = { organizationId: id, name: 'f#0', window: 7, endsAt: SECOND * 1000 }
  const added = { organizationId: id, minute: SECOND / 60, bytes: 5 }
  const request = { tokenId: id, second: SECOND }

  it.each([
    {
      what: 'requests of a token in a second',
      count: () => rates.count(request),
      others: [
        () => rates.count({ ...request, second: SECOND + 1 }),
        () => rates.count({ ...request, tokenId: other }),
      ],
      ...{ each: 1, key: rateKey(id, SECOND), ttl: SECOND + 60 },
    },
    {
      what: 'processes of an organization in a window',
      count: () => rates.countProcess(process),
      others: [
        () => rates.countProcess({ ...process, organizationId: other }),
        () => rates.countProcess({ ...process, name: 'f#1' }),
        () => rates.countProcess({ ...process, window: 8 }),
      ],
      ...{ each: 1, key: occupancyKey(id, 'f#0', 7), ttl: SECOND + 60 },
    },
    {
      what: 'bytes of an organization in a minute',
      count: () => rates.addBytes(added),
      others: [
        () => rates.addBytes({ ...added, minute: added.minute + 1 }),
        () => rates.addBytes({ ...added, organizationId: other }),
      ],
      ...{ each: 5, key: largeBodiesKey(id, SECOND / 60), ttl: SECOND + 120 },
    },
  ])('counts each of many concurrent $what once, in an item that expires', async (given) => {
    const { count, others, each, key, ttl } = given
    const counts = await race(count)
    expect(counts.sort((a, b) => a - b)).toEqual(counts.map((_, i) => (i + 1) * each))
    for (const countOther of others) expect(await countOther()).toBe(each)
    expect((await table.get(key, { consistent: true }))?.ttl).toBe(ttl)
  })

  it('stores the quota of the account until a time', async () => {
    await rates.putQuota({ quota: 1_000, until: SECOND * 1000 })
    await rates.putQuota({ quota: 10, until: SECOND * 1000 })
    const read = (now: number) => rates.getQuota({ now })
    expect(await Promise.all([read(SECOND * 1000 - 1), read(SECOND * 1000)])).toEqual([10, null])
    expect((await table.get(QUOTA_KEY, { consistent: true }))?.ttl).toBe(SECOND)
  })
})
