import { expect, it } from 'vitest'
import { isOlder, stateOf } from '../../../console/versions/version-state.tsx'

const version = { id: 'b', status: 'PUBLISHED' as const, retiredAt: null }

it.each([
  ['rollout', { ...version, rollout: { percent: 10 } }],
  ['retired', { ...version, status: 'DRAFT' as const, retiredAt: '2026-11-25T09:00:00.000Z' }],
])('the state of a version is %s', (state, given) => {
  expect(stateOf(given, { currentVersionId: 'c' })).toBe(state)
})

it('a published version is older than a current one that was published later', () => {
  expect([isOlder(version, 'c'), isOlder(version, 'a'), isOlder(version, null)]).toEqual([true, false, false])
  expect(isOlder({ ...version, status: 'DRAFT' }, 'c')).toBe(false)
})
