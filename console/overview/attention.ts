import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ApprovalRecord } from '../../lib/contract/records/approval.ts'
import type { BatchRecord } from '../../lib/contract/records/batch.ts'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import type { LimitsRecord } from '../../lib/contract/records/limits.ts'
import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { formatCost, formatCountOf, formatSeconds, formatTime, shortId } from '../components/format.ts'
import { toHref, toPath } from '../state/location.ts'

/** Something that a person has to do something about: one line with its page. */
export type Finding = { text: string; href: string }

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
  /** Runs that ended in the last hour because no model was available. */
  outages: ExecutionSummaryRecord[]
}

export const NEAR_END_MS = DAY_MS
/** Tenants without a share of their own at which they are warned. */
const WARN_AT = 0.8

/** @param agents by ID, as far as they are known @param now milliseconds since the epoch */
export function findAttention(
  checked: Partial<Checked>,
  agents: ReadonlyMap<string, AgentRecord>,
  now: number,
): Finding[] {
  const { webhooks = [], scheduled = [], batches = [], approvals = [], outages = [] } = checked
  const titleOf = (id: string) => agents.get(id)?.title ?? shortId(id)
  const slugOf = (id: string) => agents.get(id)?.slug ?? id
  const [urgent] = approvals
    .filter(({ until }) => Date.parse(until) - now < NEAR_END_MS)
    .sort((a, b) => (a.until < b.until ? -1 : 1))
  const [outage] = outages
  return [
    outage && {
      text: `No model was available to ${formatCountOf(outages.length, 'run')} in the last hour, last for ${titleOf(outage.documentId)}`,
      href: toHref('/runs', { errorCode: 'ModelUnavailable', period: '1h' }),
    },
    urgent && {
      text: `An approval of ${titleOf(urgent.documentId)} ends in ${formatSeconds(Math.max(Date.parse(urgent.until) - now, 0))}: ${urgent.title}`,
      href: toHref('/approvals', { item: `${urgent.executionId}.${urgent.id}` }),
    },
    ...tenantsAtLimits(checked, now),
    ...[...Map.groupBy(scheduled, ({ documentId, scheduleName }) => `${documentId} ${scheduleName}`)].map(
      ([, [last, ...others]]) =>
        last && {
          text: `Schedule ${last.scheduleName} of ${titleOf(last.documentId)}: ${formatCountOf(others.length + 1, 'failure')} since yesterday, last ${last.error?.code ?? ''}`,
          href: toHref(toPath('agents', slugOf(last.documentId), 'schedules', last.scheduleName ?? '')),
        },
    ),
    ...webhooks
      .filter(({ failingSince, disabledReason }) => failingSince !== null || disabledReason !== null)
      .map(({ id, url, failingSince, disabledReason }) => ({
        text: `Webhook ${url} ${disabledReason ? 'was disabled by the service' : `fails since ${formatTime(failingSince ?? '')}`}`,
        href: toHref(toPath('webhooks', id)),
      })),
    ...batches.filter(isStalled).map((batch) => ({
      text: `Batch ${shortId(batch.id)} of ${titleOf(batch.documentId)}: ${
        batch.error?.code ?? `all of its ${formatCountOf(batch.waiting, 'line')} in progress wait`
      }`,
      href: toHref(toPath('batches', batch.id)),
    })),
    ...[...agents.values()].flatMap(({ slug, title, abortedRollout: ended }) =>
      ended && now - Date.parse(ended.at) < DAY_MS
        ? { text: `The rollout of ${title} was ended by the service`, href: toHref(toPath('agents', slug)) }
        : [],
    ),
  ].filter((finding) => finding !== undefined)
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
  const today = new Date(now).toISOString().slice(0, 10)
  return limits.flatMap(({ tenantId, maxCostUsd, warnAt }) => {
    if (tenantId === undefined) return []
    const rows = usage.filter((row) => row.tenantId === tenantId)
    const spent = {
      day: sum(rows.filter(({ start }) => start.startsWith(today))),
      month: sum(rows),
    }
    const period = (['day', 'month'] as const).find((each) => {
      const limit = maxCostUsd[each]
      return limit !== null && spent[each] >= limit * (warnAt ?? WARN_AT)
    })
    if (!period) return []
    const text = `Tenant ${tenantId} has spent ${formatCost(spent[period])} of ${formatCost(maxCostUsd[period] ?? 0)} this ${period}`
    return { text, href: toHref(toPath('tenants', tenantId)) }
  })
}

const sum = (rows: UsageRowRecord[]) => rows.reduce((total, { costUsd }) => total + costUsd, 0)
