import pLimit from 'p-limit'
import { forgetCurrentVersion } from '../../agents/resolve-version.ts'
import type { Agent } from '../../core/agent.ts'
import { derivedId } from '../../core/ids.ts'
import type { AgentStore, RolloutStore } from '../../core/ports/agents.ts'
import type { System } from '../../core/ports/system.ts'
import {
  type AbortedEvent,
  type AbortedRollout,
  findBreach,
  type RolloutComparison,
} from '../../core/rollout.ts'
import { INTERVAL_MS } from '../../core/usage.ts'
import { reasonsOf, throwAny } from '../maintenance.ts'
import type { UsageStores } from '../usage/read-totals.ts'
import { compareRollouts, type RolloutMemory, type Running } from './compare-rollouts.ts'

type Params = {
  agents: Pick<AgentStore, 'endRollout' | 'get' | 'setAbortTold'>
  rollouts: Pick<RolloutStore, 'listWatched' | 'unwatch'>
  usage: UsageStores['usage']
  system: Pick<System, 'now'>
  /** Tells destinations that a rollout was aborted. Again does nothing. */
  tell: (aborted: AbortedEvent) => Promise<void>
  /** Kept by the caller from one sweep to the next. */
  memory: RolloutMemory
}

type Watched = { organizationId: string; agentId: string }
/** What could not be done, by agent. */
type Failures = Map<string, unknown>

/** After this time, a rollout whose start has entered an agent into the timers is in its item, or never will be. */
const STARTED_MS = INTERVAL_MS.minute
/** Of totals, in one sweep. The next one continues. */
const MAX_READ_MS = 15_000
const MAX_AT_ONCE = 10

/**
 * Ends the rollouts that break their rules, with the reason, and tells destinations. Whoever dies in between, the next
 * sweep completes it. The totals of an organization are read once.
 * @throws an AggregateError at the end if some could not be looked at; the next sweep looks again
 */
export async function watchRollouts(params: Params): Promise<void> {
  const watched = await params.rollouts.listWatched()
  const failures: Failures = new Map()
  const limit = pLimit(MAX_AT_ONCE)
  const attempt = async <T>(agents: Watched[], work: () => Promise<T>): Promise<T | null> =>
    limit(work).catch((error: unknown) => {
      for (const { agentId } of agents) failures.set(agentId, error)
      return null
    })
  const found = await Promise.all(watched.map((key) => attempt([key], () => find(params, key, failures))))
  const running = found.filter((agent) => agent !== null)
  const deadline = params.system.now() + MAX_READ_MS
  const organizations = [...new Set(running.map(({ organizationId }) => organizationId))].map((id) =>
    running.filter(({ organizationId }) => organizationId === id),
  )
  await Promise.all(
    organizations.map(async (agents) => {
      const keys = agents.map(({ organizationId, id: agentId }) => ({ organizationId, agentId }))
      const compared = await attempt(keys, () => compareRollouts(params, agents, deadline))
      if (!compared) return
      await Promise.all(
        agents.map((agent, index) =>
          attempt([keys[index] as Watched], () => judge(params, agent, compared[index] as RolloutComparison)),
        ),
      )
    }),
  )
  throwAny([...failures.values()], `of ${watched.length} rollouts could not be watched`)
}

/** The agent if it has a rollout with rules. Destinations are told what they were not. */
async function find(
  params: Params,
  { organizationId, agentId }: Watched,
  failures: Failures,
): Promise<Running | null> {
  const { agents, rollouts, system } = params
  const now = system.now()
  const agent = await agents.get({ organizationId, id: agentId })
  const pending = Object.values(agent?.abortedRollouts ?? {}).filter(({ isPending }) => isPending)
  // First: another abort of the same version replaces it. But what cannot be told keeps no rollout from being judged.
  const told = await Promise.allSettled(
    pending.map(({ isPending: _, ...aborted }) => tell(params, agent as Agent, aborted)),
  )
  for (const reason of reasonsOf(told)) failures.set(agentId, reason)
  if (agent?.current && agent.rollout?.abort) return agent as Running
  if (!failures.has(agentId)) await rollouts.unwatch({ agentId, before: now - STARTED_MS })
  return null
}

async function judge(params: Params, agent: Running, figures: RolloutComparison): Promise<void> {
  const { organizationId, id: agentId, rollout } = agent
  const reason = findBreach(rollout.abort, figures)
  if (reason === null) return
  const now = params.system.now()
  const { versionId, percent, key, startedAt } = rollout
  const aborted: AbortedRollout = {
    ...{ versionId, percent, key, startedAt },
    id: derivedId(now, rollout.revision),
    at: new Date(now).toISOString(),
    reason,
    figures,
  }
  // Null: it has changed meanwhile. The next sweep looks at what it is now.
  if (!(await params.agents.endRollout({ organizationId, agentId, rollout, aborted }))) return
  forgetCurrentVersion(agentId)
  await tell(params, agent, aborted)
}

async function tell(
  { agents, tell }: Params,
  { organizationId, id: agentId, slug }: Agent,
  aborted: AbortedRollout,
): Promise<void> {
  await tell({ ...aborted, organizationId, agentId, slug })
  await agents.setAbortTold({ agentId, aborted })
}
