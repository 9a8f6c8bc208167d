import { LRUCache } from 'lru-cache'
import type { Agent, Version } from '../../core/agent.ts'
import type {
  AbortRules,
  Rollout,
  RolloutComparison,
  RolloutFigures,
  ScorerFigures,
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
import type { UsageStores } from '../usage/read-totals.ts'

/** Totals of versions, and of their scorers, in one minute. */
type Minute = (Pick<UsageKey, 'versionId' | 'scorer'> & UsageTotals)[]

/** Of a rollout: its minutes so far. Those before `until` are final. */
type Progress = { until: number; minutes: Map<number, Minute> }

/** By rollout. */
export type RolloutMemory = LRUCache<string, Progress>
export const newRolloutMemory = (): RolloutMemory => new LRUCache({ max: 1_000 })

/** What a rollout is judged by. */
const WATCHED_MS = INTERVAL_MS.day

/** An agent with a rollout that the service may end. */
export type Running = Agent & { current: Version; rollout: Rollout & { abort: AbortRules } }

/**
 * Of each agent of an organization, both versions in the same time: since the start, at most a day. Of minutes that are
 * not over, nothing is known. What cannot be read until `deadline` is read by the next sweeps.
 */
export async function compareRollouts(
  { usage, memory, system }: UsageStores & { memory: RolloutMemory },
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
