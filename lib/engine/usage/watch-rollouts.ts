import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { forgetCurrentVersion } from '../../agents/resolve-version.ts'
import type { Agent } from '../../core/agent.ts'
import { CANCELLED } from '../../core/execution.ts'
import { derivedId } from '../../core/ids.ts'
import type { AgentStore, RolloutStore, System } from '../../core/ports.ts'
import {
  type AbortedEvent,
  type AbortedRollout,
  findBreach,
  type Rollout,
  type RolloutComparison,
  type RolloutFigures,
} from '../../core/rollout.ts'
import {
  countFailed,
  INTERVAL_MS,
  NANO_USD,
  NO_TOTALS,
  startOf,
  type UsageRow,
  UsageSums,
  type UsageTotals,
} from '../../core/usage.ts'
import { reasonsOf, throwAny } from '../maintenance.ts'
import type { UsageStores } from './read-usage.ts'

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

/** Totals of a version in one minute, by the version. */
type Minute = Map<string, UsageTotals>

/** By rollout: its minutes that are final. */
export type RolloutMemory = LRUCache<string, { until: number; minutes: Map<number, Minute> }>
export const newRolloutMemory = (): RolloutMemory => new LRUCache({ max: 1_000 })

/** What a rollout is judged by. */
const WATCHED_MS = INTERVAL_MS.day
/** After this time, a rollout whose start has entered an agent into the timers is in its item, or never will be. */
const STARTED_MS = INTERVAL_MS.minute
const MAX_ROLLOUTS = 10

/**
 * Ends the rollouts that break their rules, with the reason, and tells destinations. Whoever dies in between, the next
 * sweep completes it.
 * @throws an AggregateError at the end if some could not be looked at; the next sweep looks again
 */
export async function watchRollouts(params: Params): Promise<void> {
  const watched = await params.rollouts.listWatched()
  const limit = pLimit(MAX_ROLLOUTS)
  const results = await Promise.allSettled(watched.map((key) => limit(() => watch(params, key))))
  throwAny(reasonsOf(results), `of ${watched.length} rollouts could not be watched`)
}

async function watch(
  params: Params,
  { organizationId, agentId }: { organizationId: string; agentId: string },
): Promise<void> {
  const { agents, rollouts, system } = params
  const now = system.now()
  const agent = await agents.get({ organizationId, id: agentId })
  // First: another abort of the same version would replace it.
  for (const { isPending, ...aborted } of Object.values(agent?.abortedRollouts ?? {}))
    if (agent && isPending) await tell(params, agent, aborted)
  if (!agent?.rollout?.abort || !agent.current) {
    await rollouts.unwatch({ agentId, before: now - STARTED_MS })
    return
  }
  const { rollout } = agent
  const figures = await compare(params, { ...agent, rollout }, agent.current.id, now)
  const reason = findBreach(agent.rollout.abort, figures)
  if (reason === null) return
  const { versionId, percent, key, startedAt } = rollout
  const aborted: AbortedRollout = {
    ...{ versionId, percent, key, startedAt },
    id: derivedId(now, rollout.revision),
    at: new Date(now).toISOString(),
    reason,
    figures,
  }
  // Null: it has changed meanwhile. The next sweep looks at what it is now.
  if (!(await agents.endRollout({ organizationId, agentId, rollout, aborted }))) return
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

/** Both versions in the same time: since the start, at most a day. Of minutes that are not over, nothing is known. */
async function compare(
  { usage, memory }: Params,
  { organizationId, id: agentId, rollout }: Agent & { rollout: Rollout },
  currentId: string,
  now: number,
): Promise<RolloutComparison> {
  const { versionId, startedAt } = rollout
  const from = startOf('minute', Math.max(Date.parse(startedAt), now - WATCHED_MS))
  const name = [agentId, currentId, versionId, startedAt].join('/')
  const known = memory.get(name) ?? { until: from, minutes: new Map<number, Minute>() }
  const readFrom = Math.max(known.until, from)
  const final = Math.max((await usage.getPosition())?.minute ?? 0, readFrom)
  const minutes = new Map([...known.minutes].filter(([start]) => start >= from))
  const versions = new Set([versionId, currentId])
  for await (const { start, rows } of usage.read({
    organizationId,
    interval: 'minute',
    from: readFrom,
    to: now,
  }))
    minutes.set(start, sumOf(rows, agentId, versions))
  memory.set(name, { until: final, minutes: new Map([...minutes].filter(([start]) => start < final)) })
  const all = [...minutes.values()]
  return { rollout: toFigures(versionId, all), current: toFigures(currentId, all) }
}

function sumOf(rows: UsageRow[], agentId: string, versions: Set<string>): Minute {
  const sums = new UsageSums(['version'])
  sums.add(rows.filter((row) => row.agentId === agentId && versions.has(row.versionId)))
  return new Map(sums.rows.map((row) => [String(row.versionId), row]))
}

const costOf = ({ costNanoUsd, childCostNanoUsd, trialCostNanoUsd }: UsageTotals): number =>
  costNanoUsd + childCostNanoUsd - trialCostNanoUsd

/** Without trials. */
function toFigures(versionId: string, minutes: Minute[]): RolloutFigures {
  const totals = minutes.map((minute) => minute.get(versionId) ?? NO_TOTALS)
  const sum = (count: (each: UsageTotals) => number) => totals.reduce((all, each) => all + count(each), 0)
  const cancelled = sum(({ errors }) => errors[CANCELLED.code] ?? 0)
  const runs = sum((each) => each.runs - each.trialRuns) - cancelled
  return {
    versionId,
    runs,
    failed: sum((each) => countFailed(each) - each.trialErrors) - cancelled,
    computed: runs - sum(({ cacheHits }) => cacheHits),
    costUsd: sum(costOf) / NANO_USD,
    isUnpriced: sum(({ unpricedRuns }) => unpricedRuns) > 0,
  }
}
