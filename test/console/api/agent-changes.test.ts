import { expect, it } from 'vitest'
import { describeChange } from '../../../console/api/agent-changes.ts'

const FIRST = '01a20000-0000-7000-8000-000000000001'
const SECOND = '01a20000-0000-7000-8000-000000000002'
const time = '2026-11-25T09:00:00.000Z'
const agent = { archivedAt: null, currentVersionId: FIRST, rollout: null }
const archived = { ...agent, archivedAt: time }
const promoted = { ...agent, currentVersionId: SECOND }
const rollout = { versionId: SECOND, percent: 10, key: 'tenant' as const, startedAt: time, updatedAt: time }
const running = { ...agent, rollout }
const changed = { ...agent, rollout: { ...rollout, percent: 50, updatedAt: '2026-11-25T10:00:00.000Z' } }

it.each([
  [running, { ...agent, rollout: { ...rollout } }, null],
  [running, promoted, 'The version 01a20000…0002 has become current. The rollout has ended.'],
  [agent, archived, 'The agent has been archived.'],
  [archived, agent, 'The agent has been restored.'],
  [agent, running, 'A rollout of the version 01a20000…0002 has started.'],
  [running, changed, 'The rollout has changed: 01a20000…0002 gets 50%.'],
  [running, agent, 'The rollout has ended.'],
])('describes what has changed about an agent (%#)', (before, after, text) => {
  expect(describeChange(before, after)).toBe(text)
})
