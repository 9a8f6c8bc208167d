import { describe, expect, it } from 'vitest'
import { createToken } from '../../lib/access/manage-tokens.ts'
import { type Access, UNLIMITED } from '../../lib/core/access.ts'
import { derivedId } from '../../lib/core/ids.ts'
import type { TokenStore } from '../../lib/core/ports/access.ts'
import { system } from '../../lib/system.ts'

const NOW = Date.parse('2026-11-26T12:00:00.000Z')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MINUTE_MS = 60_000

const stores = {
  tokens: { create: async () => true } as unknown as TokenStore,
  system: { now: () => NOW, newId: system.newId },
}

/** A token that was created before and ends after now, in milliseconds. */
const tokenOf = (age: number, left: number): Access => ({
  ...UNLIMITED,
  organizationId: 'o',
  tokenId: derivedId(NOW - age, 'a token'),
  expiresAt: Math.floor((NOW + left) / 1_000),
})
const PERSON: Access = { ...tokenOf(0, HOUR_MS), tokenId: 'a UUIDv5', subject: 'auth0|1' }
const UNENDING: Access = { ...UNLIMITED, organizationId: 'o', tokenId: derivedId(0, 'a token') }

/** How long the new token lives, in milliseconds. */
async function lifetimeOf(access: Access, lifetimeMs?: number | null): Promise<number | null> {
  const expiresAt = typeof lifetimeMs === 'number' ? new Date(NOW + lifetimeMs).toISOString() : lifetimeMs
  const { token } = await createToken(stores, { access, given: { name: 'a', expiresAt } })
  return token.expiresAt === null ? null : Date.parse(token.expiresAt) - NOW
}

describe('the end of a new token', () => {
  it.each([
    ['one with an hour left', tokenOf(9 * HOUR_MS, HOUR_MS), 10 * HOUR_MS],
    ['one of a year', tokenOf(364 * DAY_MS, DAY_MS), 365 * DAY_MS],
    ['a person', PERSON, 366 * DAY_MS],
  ])('is as late as %s may set it, and no later', async (_, access, max) => {
    expect(await lifetimeOf(access, max)).toBe(max)
    expect(await lifetimeOf(access, HOUR_MS)).toBe(HOUR_MS)
    expect(await lifetimeOf(access)).toBe(Math.min(max, 90 * DAY_MS))
    const latest = new Date(NOW + max).toISOString()
    for (const more of [null, max + 6 * MINUTE_MS, 3_649 * DAY_MS, 10_000 * DAY_MS])
      await expect(lifetimeOf(access, more)).rejects.toMatchObject({
        code: 'Forbidden',
        errors: [{ path: '/expiresAt', message: expect.stringContaining(latest) }],
      })
  })

  it('is the latest one if the clock of the client is fast', async () => {
    const access = tokenOf(0, HOUR_MS)
    expect(await lifetimeOf(access, HOUR_MS + 4 * MINUTE_MS)).toBe(HOUR_MS)
  })

  it('is free for a token that does not end', async () => {
    expect(await lifetimeOf(UNENDING, null)).toBe(null)
    expect(await lifetimeOf(UNENDING, 3_650 * DAY_MS)).toBe(3_650 * DAY_MS)
  })
})
