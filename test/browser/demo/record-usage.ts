import type { AgentRecord } from '../../../lib/contract/records/agent.ts'
import { INTERVAL_MS, NO_TOTALS, startOf, type UsageRow } from '../../../lib/core/usage.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../../local/development.ts'
import { TENANTS } from './run-agents.ts'
import type { Demo } from './start-demo.ts'

const HOURS = 23
/** Hours ago. */
const OUTAGE = [8, 9]

/** Usage of the day before now, with an outage, and limits of a tenant with what it has spent today. */
export async function recordUsage({ call, usage, limits }: Demo): Promise<void> {
  const organizationId = DEVELOPMENT_ORGANIZATION.id
  const agents: AgentRecord[] = (await call('GET', '/v1/agents')).json
  const now = Date.now()
  for (let hour = 1; hour <= HOURS; hour++) {
    if (OUTAGE.includes(hour)) continue
    const rows = agents.flatMap((agent, index) =>
      TENANTS.map((tenantId, tenant) => rowOf(agent, tenantId, { hour, size: 5 - tenant + 2 * index })),
    )
    const start = startOf('hour', now) - hour * INTERVAL_MS.hour
    // Both: which of them are read depends on whether the hour is rolled up.
    for (const interval of ['minute', 'hour'] as const)
      await usage.put({ organizationId, interval, start, rows, readAt: now, isFinal: true })
  }
  const body = {
    ...{ maxCostUsd: { day: 25, month: 600 }, maxOpenExecutions: 10, maxRunsPerMinute: 120 },
    ...{ warnAt: 0.8, queueWhenFull: true },
  }
  await call('PUT', '/v1/tenants/acme/limits', { body })
  const subject = { kind: 'tenant', id: 'acme' } as const
  await limits.addSpent({ organizationId, subject, at: now, costUsd: 16.35 })
}

function rowOf(agent: AgentRecord, tenantId: string | null, at: { hour: number; size: number }): UsageRow {
  const runs = Math.round(at.size * (6 + 5 * Math.sin(at.hour / 3)))
  const failed = at.hour < 5 ? Math.round(runs / 12) : 0
  return {
    ...NO_TOTALS,
    ...{ tenantId, agentId: agent.id, versionId: agent.currentVersionId ?? '', model: null, tokenId: null },
    ...{ runs, cacheHits: Math.round(runs / 10), inputTokens: 3_720 * runs, outputTokens: 288 * runs },
    errors: failed > 0 ? { AgentFailed: failed, ModelFailed: 1 } : {},
    ...{ costNanoUsd: 1_950_000 * runs, runTimeMs: 1_250 * runs },
  }
}
