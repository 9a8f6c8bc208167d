import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import type { LimitsRecord } from '../../lib/contract/records/limits.ts'
import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { INTERVAL_MS, startOf } from '../../lib/core/usage.ts'
import {
  formatCost,
  formatCountOf,
  formatMinute,
  formatPercent,
  formatSeconds,
  formatTime,
  shortId,
} from '../components/format.ts'
import { toHref, toPath } from '../state/location.ts'
import { spentByTenant } from '../tenants/limits.ts'
import { toRuns } from '../usage/periods.ts'
import { addUp } from '../usage/totals.ts'

/** What a person has to do something about, in one line. Every second part is a name or a value. */
export type Finding = { parts: string[]; href: string }

const say = (texts: TemplateStringsArray, ...names: (string | undefined)[]): Pick<Finding, 'parts'> => ({
  parts: texts.flatMap((text, index) => (index < names.length ? [text, names[index] ?? ''] : [text])),
})

/** What the overview reads; what it could not read, or may not, is absent. */
export type Checked = {
  webhooks: WebhookRecord[]
  /** Failed runs of schedules in the last day, newest first. */
  scheduled: ExecutionSummaryRecord[]
  batches: BatchRecord[]
  approvals: ApprovalRecord[]
  limits: LimitsRecord[]
  /** The usage of this month, by day and tenant. */
  usage: UsageRowRecord[]
  /** The usage of the last day, by hour, agent and version. */
  recent: UsageRowRecord[]
}

export const NEAR_END_MS = DAY_MS
/** A rollout loses with so many runs, and so much more of them failed than of those of the current version. */
const LOSING = { runs: 20, rate: 0.05 }
/** Tenants without a share of their own at which they are warned. */
const WARN_AT = 0.8

/** @param agents by ID, as far as they are known @param now milliseconds since the epoch */
export function findAttention(
  checked: Partial<Checked>,
  agents: ReadonlyMap<string, AgentRecord>,
  now: number,
): Finding[] {
  const { webhooks = [], scheduled = [], batches = [], approvals = [] } = checked
  const titleOf = (id: string) => agents.get(id)?.title ?? shortId(id)
  const slugOf = (id: string) => agents.get(id)?.slug ?? id
  const [urgent] = approvals
    .filter(({ until }) => Date.parse(until) - now < NEAR_END_MS)
    .sort((a, b) => (a.until < b.until ? -1 : 1))
  return [
    ...outages(checked, titleOf, now),
    ...(urgent
      ? [
          {
            ...say`An approval of ${titleOf(urgent.documentId)} ends in ${formatSeconds(Math.max(Date.parse(urgent.until) - now, 0))}: ${urgent.title}`,
            href: toHref('/approvals', { item: `${urgent.executionId}.${urgent.id}` }),
          },
        ]
      : []),
    ...tenantsAtLimits(checked, now),
    ...losingRollouts(checked, agents),
    ...deadLetters(checked, (id) => ({ title: titleOf(id), slug: slugOf(id) })),
    ...[...Map.groupBy(scheduled, ({ documentId, scheduleName }) => `${documentId} ${scheduleName}`)].flatMap(
      ([, [last, ...others]]) =>
        last
          ? {
              ...say`Schedule ${last.scheduleName} of ${titleOf(last.documentId)}: ${formatCountOf(others.length + 1, 'failure')} since yesterday, last ${last.error?.code}`,
              href: toHref(toPath('agents', slugOf(last.documentId), 'schedules', last.scheduleName ?? '')),
            }
          : [],
    ),
    ...webhooks
      .filter(({ failingSince, disabledReason }) => failingSince !== null || disabledReason !== null)
      .map(({ id, url, failingSince, disabledReason }) => ({
        ...say`Webhook ${url} ${disabledReason ? 'was disabled by the service' : `fails since ${formatTime(failingSince ?? '')}`}`,
        href: toHref(toPath('webhooks', id)),
      })),
    ...batches.filter(isStalled).map((batch) => ({
      ...say`Batch ${shortId(batch.id)} of ${titleOf(batch.documentId)}: ${
        batch.error?.code ?? `all of its ${formatCountOf(batch.waiting, 'line')} in progress wait`
      }`,
      href: toHref(toPath('batches', batch.id)),
    })),
    ...[...agents.values()].flatMap(({ slug, title, abortedRollout: ended }) =>
      ended && now - Date.parse(ended.at) < DAY_MS
        ? { ...say`The rollout of ${title} was ended by the service`, href: toHref(toPath('agents', slug)) }
        : [],
    ),
  ]
}

/** Runs with a code, by agent: the most first. */
function countByAgent(rows: UsageRowRecord[], code: string): [agentId: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { agentId = '', errors } of rows)
    if (errors[code]) counts.set(agentId, (counts.get(agentId) ?? 0) + errors[code])
  return [...counts].sort(([, a], [, b]) => b - a)
}

/** Runs for which no model was available, in this hour and the one before. */
function outages({ recent = [] }: Partial<Checked>, titleOf: (id: string) => string, now: number): Finding[] {
  const from = startOf('hour', now) - INTERVAL_MS.hour
  const counts = countByAgent(
    recent.filter(({ start }) => Date.parse(start) >= from),
    'ModelUnavailable',
  )
  const [most] = counts
  if (!most) return []
  const runs = counts.reduce((sum, [, count]) => sum + count, 0)
  return [
    {
      ...say`No model was available to ${formatCountOf(runs, 'run')} since ${formatMinute(from, now)}, mostly of ${titleOf(most[0])}`,
      href: toRuns({ status: 'ERROR', errorCode: 'ModelUnavailable', from, to: null }),
    },
  ]
}

const deadLetters = (
  { recent = [] }: Partial<Checked>,
  agentOf: (id: string) => { title: string; slug: string },
): Finding[] =>
  countByAgent(recent, 'AttemptsExhausted').map(([id, count]) => ({
    ...say`All attempts at ${formatCountOf(count, 'run')} of ${agentOf(id).title} have failed since yesterday`,
    href: toHref('/runs', { agent: agentOf(id).slug, errorCode: 'AttemptsExhausted', period: '24h' }),
  }))

/** Rollouts whose version fails more often than the current one, as far as the last day says. */
function losingRollouts({ recent = [] }: Partial<Checked>, agents: ReadonlyMap<string, AgentRecord>) {
  return [...agents.values()].flatMap(({ slug, title, rollout, currentVersionId }): Finding[] => {
    if (!rollout) return []
    const since = recent.filter(
      ({ start }) => Date.parse(start) + INTERVAL_MS.hour > Date.parse(rollout.startedAt),
    )
    const [rolledOut, current] = [rollout.versionId, currentVersionId].map((id) => {
      const rows = since.filter(({ versionId }) => versionId === id)
      const { runs, failed } = addUp(rows)
      const cancelled = rows.reduce((sum, { errors }) => sum + (errors.Cancelled ?? 0), 0)
      return { runs, rate: runs === 0 ? 0 : (failed - cancelled) / runs }
    })
    if (!rolledOut || !current || rolledOut.runs < LOSING.runs) return []
    if (rolledOut.rate < current.rate + LOSING.rate) return []
    return [
      {
        ...say`The rollout of ${title} loses: ${formatPercent(rolledOut.rate)} of its ${formatCountOf(rolledOut.runs, 'run')} failed, of the current version ${formatPercent(current.rate)}`,
        href: toHref(toPath('agents', slug)),
      },
    ]
  })
}

/** It goes on only if somebody does something. */
const isStalled = ({ status, counts, waiting, waitingFor, error }: BatchRecord): boolean =>
  status !== 'ENDED' &&
  (error !== null ||
    (waiting > 0 &&
      waiting >= counts.IN_PROGRESS &&
      waitingFor.some(({ kind }) => kind === 'approval' || kind === 'signal')))

/** Tenants that have spent what they are warned of. */
function tenantsAtLimits({ limits = [], usage = [] }: Partial<Checked>, now: number): Finding[] {
  const spentOf = spentByTenant(usage, now)
  return limits.flatMap(({ tenantId, maxCostUsd, warnAt }) => {
    const spent = spentOf.get(tenantId ?? '') ?? { day: 0, month: 0 }
    const period = (['day', 'month'] as const).find((each) => {
      const limit = maxCostUsd[each]
      return limit !== null && spent[each] >= limit * (warnAt ?? WARN_AT)
    })
    if (tenantId === undefined || !period) return []
    return {
      ...say`Tenant ${tenantId} has spent ${formatCost(spent[period])} of ${formatCost(maxCostUsd[period] ?? 0)} this ${period}`,
      href: toHref(toPath('tenants', tenantId)),
    }
  })
}
