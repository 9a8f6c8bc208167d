import { describe, expect, it } from 'vitest'
import { agentIdFrom, agentIdOf, isSlug, isUuid } from '../../lib/core/ids.ts'
import { system } from '../../lib/system.ts'

const organization = '01a1fbd8-f907-73e1-8ecc-40c3d58a948b'

describe('agentIdOf', () => {
  it('is stable, because it identifies published agents', () => {
    expect(agentIdOf(organization, 'redact-pii')).toBe('bcdcbcbe-44be-5371-bd45-496aa3d80f48')
  })

  it('differs between organizations and between slugs', () => {
    expect(agentIdOf(organization, 'a')).not.toBe(agentIdOf(organization, 'b'))
    expect(agentIdOf(organization, 'a')).not.toBe(agentIdOf(system.newId(), 'a'))
  })
})

describe('agentIdFrom', () => {
  it('accepts a UUID in either case, and derives the id from a slug', () => {
    expect(agentIdFrom(organization, organization.toUpperCase())).toBe(organization)
    expect(agentIdFrom(organization, 'redact-pii')).toBe(agentIdOf(organization, 'redact-pii'))
    expect(agentIdFrom(organization, 'Redact PII')).toBeUndefined()
  })
})

describe('isSlug', () => {
  it.each(['a', 'redact-pii', 'a1-b2', 'x'.repeat(64)])('accepts %s', (text) =>
    expect(isSlug(text)).toBe(true),
  )

  it.each(['', '-a', 'a-', 'a--b', 'A', 'a_b', 'a b', 'ä', 'a\n', 'x'.repeat(65), organization])(
    'rejects %j',
    (text) => expect(isSlug(text)).toBe(false),
  )
})

describe('newId', () => {
  it('returns UUIDv7 in ascending order', () => {
    const ids = Array.from({ length: 10_000 }, () => system.newId())
    expect(ids.every((id) => isUuid(id) && id[14] === '7')).toBe(true)
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(ids.length)
  })
})
