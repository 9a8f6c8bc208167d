import type { ExecutionStore } from '../../core/ports.ts'
import * as transitions from '../../core/transitions.ts'
import type { Change, Condition } from '../table/expressions.ts'
import { childKey, executionKey } from '../table/keys.ts'
import { storePayload } from '../table/payload.ts'
import { type Item, NOT_EXISTS, type Table } from '../table/table.ts'
import { cleanUp, deleteExecution, listCleanups } from './cleanup.ts'
import {
  type ExecutionItem,
  loadExecution,
  readRecord,
  SUMMARY_ATTRIBUTES,
  statusKey,
  toItem,
  toSummary,
  withoutNulls,
} from './execution-item.ts'
import { executionLists } from './execution-lists.ts'
import { learningStore } from './learning-store.ts'
import { openExecutions } from './open-executions.ts'

/** Executions. Each is an item collection: the record, the chunks of large payloads, the steps. */
export function executionStore(table: Table): ExecutionStore {
  /** The updated item, or null if the guard failed, as it does when the SDK repeats a write that was executed. */
  const apply = (id: string, transition: transitions.Transition, attributes: Item = {}) => {
    const { set, ...change } = toChange(transition)
    return table.update(executionKey(id), {
      ...change,
      set: { ...set, ...attributes },
      condition: toCondition(transition.guard),
    })
  }

  return {
    ...learningStore(table),
    ...openExecutions(table),

    async create({ execution }) {
      const { id, parentExecutionId } = execution
      // Written first, so that a deletion of the parent finds whatever is created.
      if (parentExecutionId !== null) await table.put(childKey(parentExecutionId, id))
      return table.put(await toItem(table, execution), NOT_EXISTS)
    },

    async get({ organizationId, id }) {
      const item = await readRecord(table, id)
      return item?.organizationId === organizationId ? loadExecution(table, item) : null
    },

    async getSummary({ organizationId, id }) {
      const attributes = [...SUMMARY_ATTRIBUTES, 'deleted']
      const item = await table.get(executionKey(id), { consistent: true, attributes })
      const isVisible = item?.organizationId === organizationId && !item.deleted
      return isVisible ? toSummary(item as ExecutionItem) : null
    },

    async isVisible({ organizationId, agentIds, tenantId, id }) {
      const attributes = ['organizationId', 'agentId', 'tenantId', 'deleted']
      const item = await table.get(executionKey(id), { consistent: true, attributes })
      if (item?.organizationId !== organizationId || item.deleted) return false
      const { agentId, tenantId: itsTenant = null } = item as ExecutionItem
      return (agentIds?.includes(agentId) ?? true) && (tenantId === null || itsTenant === tenantId)
    },

    async getStatus({ organizationId, id }) {
      const attributes = ['organizationId', 'status', 'deleted']
      const item = await table.get(executionKey(id), { consistent: true, attributes })
      const isVisible = item?.organizationId === organizationId && !item.deleted
      return isVisible ? (item as ExecutionItem).status : null
    },

    ...executionLists(table),

    async claim({ id, lease, now }) {
      const item = await apply(id, transitions.claim(lease, now))
      const current = item ?? (await readRecord(table, id))
      if (current?.status !== 'IN_PROGRESS') return 'closed'
      if (current.leaseOwner !== lease.owner) return 'held'
      const execution = await loadExecution(table, current)
      return execution ? { ...execution, lease } : 'closed'
    },

    async renew({ id, ...renewal }) {
      return (await apply(id, transitions.renew(renewal))) !== null
    },

    async isLeasedBy({ id, owner }) {
      const item = await table.get(executionKey(id), { consistent: true, attributes: ['leaseOwner'] })
      return item?.leaseOwner === owner
    },

    async release({ id, owner, ...params }) {
      return (await apply(id, transitions.release(owner, params))) !== null
    },

    async finish({ execution, outcome, finishedAt }) {
      const { id } = execution
      const { owner } = execution.lease
      const target = {
        executionId: id,
        holder: executionKey(id),
        writer: `output-${owner}`,
        writtenAt: Date.parse(finishedAt),
      }
      const output =
        outcome.status === 'SUCCESS' ? await storePayload(table, target, outcome.output) : undefined
      const transition = transitions.finish(owner, outcome, finishedAt)
      const item =
        (await apply(id, transition, {
          output,
          finishedBy: owner,
          statusShard: outcome.status === 'ERROR' ? statusKey(execution, 'ERROR') : undefined,
        })) ?? (await readRecord(table, id))
      if (item?.finishedBy !== owner) return null
      // Recorded since the claim.
      const { learnedFrom, steps, usage, model, lostSteps } = toSummary(item as ExecutionItem)
      const finished = transitions.applyTransition(execution, transition)
      return { ...finished, learnedFrom, steps, usage, model, lostSteps }
    },

    async end({ organizationId, id, unleasedAt, ...ending }) {
      const guard = { organizationId, ...(unleasedAt !== undefined && { unleasedAt }) }
      const keys = { statusShard: statusKey({ organizationId, id }, 'ERROR') }
      const item = await apply(id, transitions.end(guard, ending), keys)
      return item && loadExecution(table, item)
    },

    delete: (params) => deleteExecution(table, params),

    listCleanups: (params) => listCleanups(table, params),

    cleanUp: ({ cleanup, now }) => cleanUp(table, cleanup, now),

    async postpone({ stale, ...times }) {
      return (await apply(stale.id, transitions.postpone(stale.openUntil, times))) !== null
    },
  }
}

/** Index keys that only open executions have. */
const OPEN_ATTRIBUTES = ['openShard', 'openUntil']

/** The update of a transition, without its guard and its output (which may be stored in chunks). */
function toChange({ set, add, claimedAt }: transitions.Transition): Change {
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
function toCondition({ organizationId, owner, unleasedAt, openUntil }: transitions.Guard): Condition {
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
