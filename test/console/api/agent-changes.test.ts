import { describe, expect, it } from 'vitest'
import { describeChange } from '../../../console/api/agent-changes.ts'

const FIRST = '01a20000-0000-7000-8000-000000000001'
const SECOND = '01a20000-0000-7000-8000-000000000002'
const agent = { archivedAt: null, currentVersionId: FIRST, rollout: null }
const rollout = {
  ...{ versionId: SECOND, percent: 10, key: 'tenant' as const },
  ...{ startedAt: '2026-11-25T09:00:00.000Z', updatedAt: '2026-11-25T09:00:00.000Z' },
}

describe('describeChange', () => {
  it('is null for an agent that is as it was', () => {
    expect(describeChange({ ...agent, rollout }, { ...agent, rollout: { ...rollout } })).toBeNull()
  })

  it('names the version that has become current', () => {
    expect(describeChange(agent, { ...agent, currentVersionId: SECOND })).toBe(
      'The version 01a20000…0002 has become current.',
    )
  })

  it('tells of archiving and restoring', () => {
    const archived = { ...agent, archivedAt: '2026-11-25T09:00:00.000Z' }
    expect(describeChange(agent, archived)).toBe('The agent has been archived.')
    expect(describeChange(archived, agent)).toBe('The agent has been restored.')
  })

  it('tells of rollouts that start, change and end', () => {
    const running = { ...agent, rollout }
    const changed = { ...rollout, percent: 50, updatedAt: '2026-11-25T10:00:00.000Z' }
    expect(describeChange(agent, running)).toBe('A rollout of the version 01a20000…0002 has started.')
    expect(describeChange(running, { ...agent, rollout: changed })).toBe(
      'The rollout has changed: 01a20000…0002 gets 50%.',
    )
    expect(describeChange(running, agent)).toBe('The rollout has ended.')
  })

  it('tells of a promotion that has ended a rollout', () => {
    expect(describeChange({ ...agent, rollout }, { ...agent, currentVersionId: SECOND })).toBe(
      'The version 01a20000…0002 has become current. The rollout has ended.',
    )
  })
})
