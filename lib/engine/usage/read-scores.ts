import { limitToAgents } from '../../access/executions.ts'
import { resolveTenant } from '../../access/permissions.ts'
import { findAgentId } from '../../agents/resolve-agent.ts'
import type { Access } from '../../core/access.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import { isRejection } from '../../core/learning.ts'
import { DAY_MS, MAX_AGREEMENT_RUNS, SCORES_DAYS } from '../../core/limits.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { PageRequest } from '../../core/ports/system.ts'
import { type AgreementTable, kappaOf } from '../../core/score-statistics.ts'
import type { UsageStores } from './read-totals.ts'
import { readUsage, type UsageQuery } from './read-usage.ts'

export type ScoreQuery = Omit<UsageQuery, 'groupBy'> & {
  version?: string | undefined
  /** The slug. */
  scorer?: string | undefined
}

/**
 * What scorers have said about production runs, by interval (a day by default), agent, version and scorer. See
 * `readUsage`.
 */
export function readScores(
  stores: UsageStores & { agents: AgentStore },
  { access, query }: { access: Access; query: ScoreQuery },
) {
  const { version, scorer, to, ...others } = query
  const end = to === undefined ? stores.system.now() : Date.parse(to)
  const from = new Date(end - SCORES_DAYS * DAY_MS).toISOString()
  const asked = { interval: 'day', from, to, ...others, groupBy: ['agent', 'version', 'scorer'] } as const
  return readUsage(
    stores,
    { access, query: { ...asked, groupBy: [...asked.groupBy] } },
    {
      isOf: (row) =>
        row.scorer !== null &&
        row.scorer === (scorer ?? row.scorer) &&
        row.versionId === (version ?? row.versionId),
    },
  )
}

/** `runs`: those with a score and a review. */
export type Agreement = AgreementTable & { scorer: string; runs: number; kappa: number | null }

type AgreementStores = {
  agents: AgentStore
  executions: Pick<ExecutionStore, 'listSummaries' | 'readFeedback'>
}

/** Without a minimum of its own, a scorer likes an output from here on. */
const LIKED_FROM = 0.5
const PAGE_SIZE = 100

/**
 * How far scorers agree with people, on the newest runs that a scorer has scored and somebody has reviewed.
 * @throws AgentNotFound, Forbidden for another tenant than that of the token
 */
export async function readAgreement(
  { agents, executions }: AgreementStores,
  { access, query }: { access: Access; query: Pick<ScoreQuery, 'agent' | 'scorer' | 'tenantId'> },
): Promise<Agreement[]> {
  const { organizationId } = access
  const params = {
    ...limitToAgents(access, await findAgentId(agents, access, query.agent)),
    tenantId: resolveTenant(access, query.tenantId) ?? null,
    ...{ status: null, scores: 'reviewed' as const, limit: PAGE_SIZE },
  }
  const tables = new Map<string, AgreementTable>()
  let read = 0
  for (let after: PageRequest['after'] = null; read < MAX_AGREEMENT_RUNS; ) {
    const { items, next } = await executions.listSummaries({ ...params, after })
    const ids = items.map(({ id }) => id)
    let index = 0
    for await (const feedback of executions.readFeedback({ organizationId, ids, teachers: 'reviewers' })) {
      const run = items[index++]
      if (run && feedback) count(tables, run, !isRejection(feedback))
    }
    read += items.length
    if (next === null) break
    after = next
  }
  return [...tables]
    .filter(([scorer]) => scorer === (query.scorer ?? scorer))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([scorer, table]) => {
      const runs = Object.values(table).reduce((sum, cell) => sum + cell, 0)
      return { scorer, runs, kappa: kappaOf(table), ...table }
    })
}

function count(tables: Map<string, AgreementTable>, { scores }: ExecutionSummary, isLiked: boolean): void {
  for (const { agent, min = LIKED_FROM, result } of scores) {
    if (typeof result?.score !== 'number') continue
    const table = tables.get(agent) ?? { highLiked: 0, highDisliked: 0, lowLiked: 0, lowDisliked: 0 }
    table[`${result.score >= min ? 'high' : 'low'}${isLiked ? 'Liked' : 'Disliked'}`]++
    tables.set(agent, table)
  }
}
