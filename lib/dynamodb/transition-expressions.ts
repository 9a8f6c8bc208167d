import type { Guard, Transition } from '../core/transitions.ts'
import { withoutNulls } from './execution-item.ts'
import type { Change, Condition } from './table/expressions.ts'

/** Index keys that only open executions have. */
const OPEN_ATTRIBUTES = ['openShard', 'openUntil']

/** The update of a transition, without its guard and its output (which may be stored in chunks). */
export function toChange({ set, add, claimedAt }: Transition): Change {
  const { lease, error, lastError, output: _, ...plain } = set
  const values = {
    ...plain,
    ...('error' in set && { error: error && JSON.stringify(error) }),
    ...('lastError' in set && { lastError: lastError && JSON.stringify(lastError) }),
    ...('lease' in set && { leaseOwner: lease?.owner ?? null, leaseExpiresAt: lease?.expiresAt ?? null }),
  }
  const isFinal = set.status !== undefined && set.status !== 'IN_PROGRESS'
  const cleared = Object.entries(values).flatMap(([name, value]) => (value === null ? [name] : []))
  const removed = isFinal ? [...OPEN_ATTRIBUTES, ...(set.status === 'SUCCESS' ? ['statusShard'] : [])] : []
  return {
    set: withoutNulls(values),
    remove: [...new Set([...cleared, ...removed])],
    ...(set.status === 'ERROR' && { copy: { failedShard: 'agentShard' } }),
    ...(claimedAt && { setOnce: { startedAt: claimedAt } }),
    ...(add && { add }),
  }
}

/** The condition of a write that a transition's guard requires: `isPermitted`, as an expression. */
export function toCondition({ organizationId, owner, unleasedAt, openUntil }: Guard): Condition {
  const terms: [string, unknown, string][] = [
    ['status', 'IN_PROGRESS', '#status = :isStatus'],
    ['organizationId', organizationId, '#organizationId = :isOrganizationId'],
    ['leaseOwner', owner, '#leaseOwner = :isLeaseOwner'],
    [
      'leaseExpiresAt',
      unleasedAt,
      '(attribute_not_exists(#leaseExpiresAt) OR #leaseExpiresAt < :isLeaseExpiresAt)',
    ],
    ['openUntil', openUntil, '#openUntil = :isOpenUntil'],
  ]
  const present = terms.filter(([, value]) => value !== undefined)
  return {
    expression: present.map(([, , expression]) => expression).join(' AND '),
    names: present.map(([name]) => name),
    values: Object.fromEntries(
      present.map(([name, value]) => [`is${name[0]?.toUpperCase()}${name.slice(1)}`, value]),
    ),
  }
}
