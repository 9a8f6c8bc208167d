import { assertMayRelease, type ReleaseTrial } from '../../agents/lifecycle/gate.ts'
import { type AgentReference, resolveAgent } from '../../agents/resolve-agent.ts'
import { forgetCurrentVersion } from '../../agents/resolve-version.ts'
import type { Agent } from '../../core/agent.ts'
import { ROLLOUT_MIN_RUNS } from '../../core/limits.ts'
import type { System } from '../../core/ports/system.ts'
import { InputSchemaMismatch } from '../../core/request-errors.ts'
import {
  AgentArchived,
  RolloutNotFound,
  VersionNotFound,
  VersionRetired,
} from '../../core/resource-errors.ts'
import type { AbortRules, Rollout } from '../../core/rollout.ts'
import { INTERVAL_MS, startOf } from '../../core/usage.ts'

export type AgentWithRollout = Agent & { rollout: Rollout }

/** As a client sends it. Absent: as it is in the rollout of this version, if that runs. Null: without rules. */
export type GivenRollout = Pick<Rollout, 'versionId' | 'percent'> & {
  key?: Rollout['key'] | undefined
  abort?: { [Name in keyof AbortRules]?: AbortRules[Name] | null | undefined } | null | undefined
}

type Start = AgentReference & {
  system: System
  given: GivenRollout
  /** What the version has to have passed. */
  trial?: ReleaseTrial | undefined
}

/**
 * Starts a rollout, changes it, or replaces that of another version. A draft is published by it as it is, without
 * becoming current. The document of the current version decides whether it may.
 * @throws AgentNotFound, VersionNotFound, AgentArchived, VersionRetired, TrialRequired, TrialNotFound, TrialFailed;
 * InputSchemaMismatch for the current version, and for an agent without one
 */
export async function putRollout({ system, given, trial, ...reference }: Start): Promise<AgentWithRollout> {
  const { store, organizationId } = reference
  const { versionId: id, percent } = given
  for (;;) {
    const agent = await resolveAgent(reference)
    const { id: agentId, draftVersionId, current, rollout: replaces } = agent
    if (agent.archivedAt !== null) throw new AgentArchived()
    if (!current) throw invalid('must be promoted: the agent has no current version')
    if (current.id === id) throw invalid('must not be the current version of the agent')
    if (agent.retired[id] !== undefined) throw new VersionRetired('promotion')
    const version = await store.getVersion({ organizationId, agentId, id })
    if (!version) throw new VersionNotFound()
    const running = replaces?.versionId === id ? replaces : null
    // Whoever has started it may change it.
    if (!running || trial) await assertMayRelease({ store, agent, versionId: id, trial })
    const { key = running?.key ?? 'tenant', abort = running?.abort } = given
    const now = system.now()
    const updatedAt = new Date(now).toISOString()
    const startedAt = running?.startedAt ?? updatedAt
    // A draft has had no rollout: all of its minute counts.
    const minute = startOf('minute', version.status === 'DRAFT' ? now : now + INTERVAL_MS.minute)
    const judgedFrom = running?.judgedFrom ?? new Date(minute).toISOString()
    const settings = { versionId: id, percent, key, abort: toAbortRules(abort) }
    const times = { startedAt, judgedFrom, updatedAt }
    const rollout: Rollout = { ...settings, ...times, revision: system.newId() }
    const read = { draftVersionId, current, replaces }
    const started = await store.setRollout({ organizationId, agentId, ...read, rollout, now })
    // Null: another request has changed the agent, or deleted the draft.
    if (!started) continue
    forgetCurrentVersion(agentId)
    return { ...started, rollout }
  }
}

function toAbortRules(given: GivenRollout['abort']): AbortRules | null {
  if (!given) return null
  const { maxErrorRate, maxCostIncrease, maxScoreDrop, minRuns } = given
  return {
    ...(typeof maxErrorRate === 'number' && { maxErrorRate: rounded(maxErrorRate) }),
    ...(typeof maxCostIncrease === 'number' && { maxCostIncrease: rounded(maxCostIncrease) }),
    ...(typeof maxScoreDrop === 'number' && { maxScoreDrop: rounded(maxScoreDrop) }),
    minRuns: minRuns ?? ROLLOUT_MIN_RUNS.default,
  }
}

/** DynamoDB has no numbers below 1e-130. */
const rounded = (rate: number): number => Math.round(rate * 1e6) / 1e6

const invalid = (text: string): InputSchemaMismatch =>
  new InputSchemaMismatch([{ path: '/versionId', message: `/versionId ${text}.` }])

/** @throws AgentNotFound, RolloutNotFound */
export async function getRollout(reference: AgentReference): Promise<AgentWithRollout> {
  const agent = await resolveAgent(reference)
  const { rollout } = agent
  if (!rollout) throw new RolloutNotFound()
  return { ...agent, rollout }
}

/**
 * All runs get the current version again. A rollout that replaces this one meanwhile stays.
 * @throws AgentNotFound, RolloutNotFound
 */
export async function endRollout(reference: AgentReference): Promise<void> {
  const { store, organizationId } = reference
  const { id: agentId, rollout: first } = await getRollout(reference)
  for (let rollout: Rollout | null = first; rollout; ) {
    if (await store.endRollout({ organizationId, agentId, rollout })) break
    // It has changed meanwhile, or ended, also by this write if its response was lost.
    const found: Rollout | null = (await resolveAgent(reference)).rollout
    const isSame = found?.versionId === first.versionId && found.startedAt === first.startedAt
    rollout = isSame ? found : null
  }
  forgetCurrentVersion(agentId)
}
