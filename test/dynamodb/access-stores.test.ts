import { beforeAll, describe, expect, inject, it } from 'vitest'
import { newToken } from '../../lib/access/tokens.ts'
import type { Organization, Token } from '../../lib/core/agent.ts'
import { organizationStore, rateStore, tokenStore } from '../../lib/dynamodb/access-stores.ts'
import { largeBodiesKey, occupancyKey, rateKey } from '../../lib/dynamodb/table/keys.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { EMULATORS, race, readPages, tableOn } from '../support/tables/emulators.ts'

const aToken = (overrides: Partial<Token> = {}): Token => {
  const organizationId = system.newId()
  const { token } = newToken({
    system,
    organizationId,
    name: 'ci',
    createdBy: system.newId(),
    lifetimeMs: null,
  })
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

  describe('create', () => {
    it.each([
      ['without an expiry', {}],
      ['that has expired', { expiresAt: '2020-01-01T00:00:00.000Z' }],
      ['that is revoked', { revokedAt: at(0) }],
      ['with limits', { scopes: ['run' as const], agents: ['a', 'b'], tenantId: 'Müller', rate: 10 }],
      ['with a name of any characters', { name: 'größer\u0000 "日本語" #1' }],
    ])('stores a token %s, which getByHash returns', async (_, overrides) => {
      const token = await created(overrides)
      expect(await store.getByHash(token)).toEqual(token)
    })

    it('returns false for a known hash, and changes nothing', async () => {
      const token = await created()
      const other = aToken({ hash: token.hash })
      expect(await store.create({ token: other })).toBe(false)
      expect(await store.getByHash(token)).toEqual(token)
      expect(await readPages((page) => store.list({ ...other, ...page }), 10)).toMatchObject({ items: [] })
    })

    it('stores one of many tokens with one hash', async () => {
      const { hash } = aToken()
      const tokens = await race(async () => aToken({ hash }))
      const results = await race((racer) => store.create({ token: tokens[racer] as Token }))
      expect(results.filter(Boolean)).toHaveLength(1)
      expect(await store.getByHash({ hash })).toEqual(tokens[results.indexOf(true)])
    })
  })

  describe('getByHash', () => {
    it('returns null for an unknown hash', async () => {
      expect(await store.getByHash(aToken())).toBeNull()
    })
  })

  describe('recordUse', () => {
    it('keeps the latest hour', async () => {
      const token = await created()
      for (const second of [2, 1, 3, 3]) await store.recordUse({ ...token, lastUsedAt: at(second) })
      expect(await store.getByHash(token)).toEqual({ ...token, lastUsedAt: at(3) })
    })

    it('creates no token', async () => {
      const token = aToken()
      await store.recordUse({ ...token, lastUsedAt: at(1) })
      expect(await store.getByHash(token)).toBeNull()
    })
  })

  describe('list', () => {
    it.each([1, 3, 100])(
      'returns the tokens of the organization, newest first, in pages of %i',
      async (limit) => {
        const organizationId = system.newId()
        const tokens: Token[] = []
        for (let i = 0; i < 10; i++) tokens.push(await created({ organizationId }))
        await created()
        const [revoked] = tokens as [Token]
        await store.revoke({ ...revoked, revokedAt: at(1) })
        revoked.revokedAt = at(1)
        const { items } = await readPages((page) => store.list({ organizationId, ...page }), limit)
        expect(items).toEqual(tokens.toReversed())
      },
    )

    it('is empty for an organization without tokens', async () => {
      const organizationId = system.newId()
      expect(await store.list({ organizationId, limit: 10, after: null })).toEqual({ items: [], next: null })
    })
  })

  describe('get', () => {
    it('returns a token by its id, also one that has ended', async () => {
      for (const ended of [{}, { revokedAt: at(0) }, { expiresAt: at(0) }]) {
        const token = await created(ended)
        expect(await store.get(token)).toEqual(token)
      }
    })

    it('returns null for an unknown id', async () => {
      expect(await store.get({ id: system.newId() })).toBeNull()
    })

    it('returns null for the id of a token that create did not store', async () => {
      const token = await created()
      const rejected = aToken({ hash: token.hash, organizationId: token.organizationId })
      await store.create({ token: rejected })
      expect(await store.get(rejected)).toBeNull()
      expect(await store.get(token)).toEqual(token)
    })
  })

  describe('revoke', () => {
    it('sets the time, and keeps that of the first revocation', async () => {
      const token = await created()
      const revoked = { ...token, revokedAt: at(1) }
      for (const second of [1, 2, 0])
        expect(await store.revoke({ ...token, revokedAt: at(second) })).toEqual(revoked)
      expect(await store.getByHash(token)).toEqual(revoked)
    })

    it('keeps one time when many revoke at once', async () => {
      const token = await created()
      const revoked = await race((racer) => store.revoke({ ...token, revokedAt: at(racer) }))
      const stored = await store.getByHash(token)
      expect(stored?.revokedAt).toMatch(/^2027-01-01T00:00:/)
      expect(revoked).toEqual(Array(revoked.length).fill(stored))
    })

    it('creates no token', async () => {
      const token = aToken()
      expect(await store.revoke({ ...token, revokedAt: at(1) })).toBeNull()
      expect(await store.getByHash(token)).toBeNull()
    })
  })

  describe('expire', () => {
    it.each([
      ['that does not expire', null, at(5)],
      ['that expires later', at(9), at(5)],
      ['that expires at this time', at(5), at(5)],
      ['that expires before', at(3), at(3)],
    ])('of a token %s never ends it later', async (_, expiresAt, expected) => {
      const token = await created({ expiresAt })
      const expired = { ...token, expiresAt: expected }
      expect(await store.expire({ ...token, expiresAt: at(5) })).toEqual(expired)
      expect(await store.getByHash(token)).toEqual(expired)
    })

    it('keeps the earliest time when many end it at once', async () => {
      const token = await created({ expiresAt: at(59) })
      await race((racer) => store.expire({ ...token, expiresAt: at(58 - racer) }))
      const racers = (await race(async () => undefined)).length
      expect(await store.getByHash(token)).toEqual({ ...token, expiresAt: at(59 - racers) })
    })

    it('does not change a token that is revoked', async () => {
      const token = await created({ revokedAt: at(1) })
      expect(await store.expire({ ...token, expiresAt: at(5) })).toEqual(token)
      expect(await store.getByHash(token)).toEqual(token)
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

    it('creates no token', async () => {
      const token = aToken()
      expect(await store.expire({ ...token, expiresAt: at(5) })).toBeNull()
      expect(await store.getByHash(token)).toBeNull()
    })
  })
})

const anOrganization = (name = 'Example Ltd'): Organization => ({
  id: system.newId(),
  name,
  createdAt: new Date().toISOString(),
})

describe.each(EMULATORS)('organizationStore on %s', (emulator) => {
  // A separate table: `list` returns all organizations of a table.
  const name = `contract-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const store = organizationStore(tableOn(emulator, name))
  const listAll = async (limit: number) => (await readPages(store.list, limit)).items

  describe('list', () => {
    it('is empty at first', async () => {
      expect(await store.list({ limit: 10, after: null })).toEqual({ items: [], next: null })
    })

    it.each([1, 4, 100])('returns every organization once, newest first, in pages of %i', async (limit) => {
      const before = await listAll(limit)
      const organizations = Array.from({ length: 10 }, () => anOrganization())
      for (const organization of organizations) await store.create({ organization })
      expect(await listAll(limit)).toEqual([...organizations.toReversed(), ...before])
    })
  })

  describe('create', () => {
    it('stores an organization, which get returns', async () => {
      const organization = anOrganization('Größer & "日本語"')
      await store.create({ organization })
      expect(await store.get(organization)).toEqual(organization)
    })

    it('keeps the first of two organizations with one id', async () => {
      const organization = anOrganization()
      await store.create({ organization })
      await store.create({
        organization: { ...organization, name: 'Other', createdAt: '2020-01-01T00:00:00.000Z' },
      })
      expect(await store.get(organization)).toEqual(organization)
    })

    it('stores one of many organizations with one id', async () => {
      const organization = anOrganization()
      const read = await race(async (racer) => {
        await store.create({ organization: { ...organization, name: `Racer ${racer}` } })
        return store.get(organization)
      })
      expect(read[0]?.name).toMatch(/^Racer \d+$/)
      expect(read).toEqual(Array(read.length).fill(read[0]))
    })
  })

  describe('get', () => {
    it('returns null for an unknown id', async () => {
      expect(await store.get({ id: system.newId() })).toBeNull()
    })
  })
})

const SECOND = Date.UTC(2027, 0, 1) / 1000

describe.each(EMULATORS)('rateStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const rates = rateStore(table)

  describe('count', () => {
    it('counts each of many concurrent requests once', async () => {
      const tokenId = system.newId()
      const counts = await race(() => rates.count({ tokenId, second: SECOND }))
      expect(counts.sort((a, b) => a - b)).toEqual(counts.map((_, i) => i + 1))
    })

    it('counts per token and second', async () => {
      const [tokenId, other] = [system.newId(), system.newId()]
      await rates.count({ tokenId, second: SECOND })
      expect(await rates.count({ tokenId, second: SECOND + 1 })).toBe(1)
      expect(await rates.count({ tokenId: other, second: SECOND })).toBe(1)
      expect(await rates.count({ tokenId, second: SECOND })).toBe(2)
    })

    it('lets DynamoDB delete a counter a minute later', async () => {
      const tokenId = system.newId()
      await rates.count({ tokenId, second: SECOND })
      const item = await table.get(rateKey(tokenId, SECOND), { consistent: true })
      expect(item?.ttl).toBe(SECOND + 60)
    })
  })

  describe('countProcess', () => {
    it('counts each process once, per organization, name and window, in items that expire', async () => {
      const [organizationId, other] = [system.newId(), system.newId()]
      const process = { organizationId, name: 'f#0', window: 7, endsAt: SECOND * 1000 }
      const counts = await race(() => rates.countProcess(process))
      expect(counts.sort((a, b) => a - b)).toEqual(counts.map((_, i) => i + 1))
      for (const change of [{ organizationId: other }, { name: 'f#1' }, { window: 8 }])
        expect(await rates.countProcess({ ...process, ...change })).toBe(1)
      const item = await table.get(occupancyKey(organizationId, 'f#0', 7), { consistent: true })
      expect(item?.ttl).toBe(SECOND + 60)
    })
  })

  describe('addBytes', () => {
    it('adds the bytes of concurrent requests, per organization and minute', async () => {
      const [organizationId, other] = [system.newId(), system.newId()]
      const minute = SECOND / 60
      const sums = await race(() => rates.addBytes({ organizationId, minute, bytes: 1_000_000 }))
      expect(sums.sort((a, b) => a - b)).toEqual(sums.map((_, i) => (i + 1) * 1_000_000))
      expect(await rates.addBytes({ organizationId, minute: minute + 1, bytes: 5 })).toBe(5)
      expect(await rates.addBytes({ organizationId: other, minute, bytes: 7 })).toBe(7)
      const item = await table.get(largeBodiesKey(organizationId, minute), { consistent: true })
      expect(item?.ttl).toBe(SECOND + 120)
    })
  })
})
