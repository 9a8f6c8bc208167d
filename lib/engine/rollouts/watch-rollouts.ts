import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { forgetCurrentVersion } from '../../agents/resolve-version.ts'
import type { Agent, Version } from '../../core/agent.ts'
import { derivedId } from '../../core/ids.ts'
import type { AgentStore, RolloutStore } from '../../core/ports/agents.ts'
import type { System } from '../../core/ports/system.ts'
import {
  type AbortedEvent,
  type AbortedRollout,
  type AbortRules,
  findBreach,
  type Rollout,
  type RolloutComparison,
  type RolloutFigures,
  type ScorerFigures,
} from '../../core/rollout.ts'
import { addScores, NO_SCORES, toScoreFigures } from '../../core/score-statistics.ts'
import {
  INTERVAL_MS,
  NANO_USD,
  startOf,
  type UsageKey,
  type UsageRow,
  type UsageTotals,
} from '../../core/usage.ts'
import { countFailed, UsageSums } from '../../core/usage-rows.ts'
import { reasonsOf, throwAny } from '../maintenance.ts'
import type { UsageStores } from '../usage/read-totals.ts'

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

/** Totals of versions, and of their scorers, in one minute. */
type Minute = (Pick<UsageKey, 'versionId' | 'scorer'> & UsageTotals)[]

/** Of a rollout: its minutes so far. Those before `until` are final. */
type Progress = { until: number; minutes: Map<number, Minute> }

/** By rollout. */
export type RolloutMemory = LRUCache<string, Progress>
export const newRolloutMemory = (): RolloutMemory => new LRUCache({ max: 1_000 })

type Watched = { organizationId: string; agentId: string }
type Running = Agent & { current: Version; rollout: Rollout & { abort: AbortRules } }
/** What could not be done, by agent. */
type Failures = Map<string, unknown>

/** What a rollout is judged by. */
const WATCHED_MS = INTERVAL_MS.day
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
      const compared = await attempt(keys, () => compare(params, agents, deadline))
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

/**
 * Of each agent of an organization, both versions in the same time: since the start, at most a day. Of minutes that are
 * not over, nothing is known. What cannot be read until `deadline` is read by the next sweeps.
 */
async function compare(
  { usage, memory, system }: Params,
  agents: Running[],
  deadline: number,
): Promise<RolloutComparison[]> {
  const now = system.now()
  const { organizationId } = agents[0] as Running
  const rollouts = agents.map(({ id, current, rollout }) => {
    const { versionId, startedAt, judgedFrom } = rollout
    const from = Math.max(Date.parse(judgedFrom), startOf('minute', now - WATCHED_MS))
    const name = [id, current.id, versionId, startedAt].join('/')
    const progress = memory.get(name) ?? { until: from, minutes: new Map<number, Minute>() }
    memory.set(name, progress)
    for (const start of progress.minutes.keys()) if (start < from) progress.minutes.delete(start)
    progress.until = Math.max(progress.until, from)
    return { progress, readFrom: progress.until, versionIds: [versionId, current.id] as const }
  })
  const versions = new Set(rollouts.flatMap(({ versionIds }) => versionIds))
  const from = Math.min(...rollouts.map(({ readFrom }) => readFrom))
  const final = (await usage.getPosition())?.minute ?? 0
  let isComplete = true
  for await (const { start, rows } of usage.read({ organizationId, interval: 'minute', from, to: now })) {
    const minute = sumOf(rows, versions)
    for (const { progress, readFrom, versionIds } of rollouts) {
      if (start < readFrom) continue
      progress.minutes.set(
        start,
        minute.filter(({ versionId }) => versionIds.includes(versionId)),
      )
      if (start < final) progress.until = start + INTERVAL_MS.minute
    }
    isComplete = system.now() < deadline
    if (!isComplete) break
  }
  return rollouts.map(({ progress, versionIds: [versionId, currentId] }) => {
    if (isComplete) progress.until = Math.max(progress.until, final)
    const all = [...progress.minutes.values()].flat()
    return { rollout: toFigures(versionId, all), current: toFigures(currentId, all) }
  })
}

function sumOf(rows: UsageRow[], versions: Set<string>): Minute {
  const sums = new UsageSums<Pick<UsageKey, 'versionId' | 'scorer'>>(['version', 'scorer'])
  sums.add(rows.filter(({ versionId }) => versions.has(versionId)))
  return sums.rows
}

function toFigures(id: string, minutes: Minute): RolloutFigures {
  const totals = minutes.filter(({ versionId }) => versionId === id)
  const sum = (count: (each: UsageTotals) => number) => totals.reduce((all, each) => all + count(each), 0)
  const scorers = new Set(totals.flatMap(({ scorer }) => scorer ?? []))
  const scores = [...scorers].sort().map((name): ScorerFigures => {
    const all = totals.filter(({ scorer }) => scorer === name).map(({ scores }) => scores)
    return { scorer: name, ...toScoreFigures(all.reduce(addScores, NO_SCORES)) }
  })
  return {
    versionId: id,
    runs: sum(({ runs, unjudgedRuns }) => runs - unjudgedRuns),
    failed: sum((each) => countFailed(each) - each.unjudgedErrors),
    computed: sum(({ runs, uncomparedRuns }) => runs - uncomparedRuns),
    costUsd: sum((each) => each.costNanoUsd + each.childCostNanoUsd - each.uncomparedCostNanoUsd) / NANO_USD,
    ...(scores.length > 0 && { scores }),
  }
}
