import { describe, expect, it } from 'vitest'
import { isOlder, stateOf } from '../../../console/versions/version-state.tsx'

const version = { id: 'b', status: 'PUBLISHED' as const, retiredAt: null }
const agent = { currentVersionId: 'c' }

describe('stateOf', () => {
  it.each([
    ['current', { ...version, id: 'c' }],
    ['superseded', version],
    ['draft', { ...version, status: 'DRAFT' as const }],
    ['rollout', { ...version, rollout: { percent: 10 } }],
    ['retired', { ...version, retiredAt: '2026-11-25T09:00:00.000Z' }],
    ['retired', { ...version, status: 'DRAFT' as const, retiredAt: '2026-11-25T09:00:00.000Z' }],
  ])('%s', (state, given) => {
    expect(stateOf(given, agent)).toBe(state)
  })
})

describe('isOlder', () => {
  it('is true for what was published before the current version', () => {
    expect(isOlder(version, 'c')).toBe(true)
  })

  it('is false for a later version, for a draft, and without a current version', () => {
    expect(isOlder(version, 'a')).toBe(false)
    expect(isOlder({ ...version, status: 'DRAFT' }, 'c')).toBe(false)
    expect(isOlder(version, null)).toBe(false)
  })
})
