import type { ExecutionFilter, ExecutionStore } from '../core/ports.ts'
import * as transitions from '../core/transitions.ts'
import { cleanUp, deleteExecution, listCleanups } from './cleanup.ts'
import { type ExecutionItem, toChange, toCondition, toItem } from './execution-item.ts'
import { learningStore } from './learning-store.ts'
import { loadExecution, readRecord } from './load-execution.ts'
import { openExecutions } from './open-executions.ts'
import { agentShard, executionKey, ownedShard } from './table/keys.ts'
import { payloadBytes, storePayload } from './table/payload.ts'
import { listRecords } from './table/sharded-list.ts'
import { type Condition, type Item, NOT_EXISTS, type Table } from './table/table.ts'

/** Executions. Each is an item collection: the record, the chunks of large payloads, the steps. */
export function executionStore(table: Table): ExecutionStore {
  /** The updated item, or null when the guard failed. It fails too when the SDK repeats a write whose response was lost. */
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
      return table.put(await toItem(table, execution), NOT_EXISTS)
    },

    async get({ organizationId, id }) {
      const item = await readRecord(table, id)
      return item?.organizationId === organizationId ? loadExecution(table, item) : null
    },

    async getStatus({ organizationId, id }) {
      const attributes = ['organizationId', 'status', 'deleted']
      const item = await table.get(executionKey(id), { consistent: true, attributes })
      const isVisible = item?.organizationId === organizationId && !item.deleted
      return isVisible ? (item as ExecutionItem).status : null
    },

    async list({ organizationId, agentId, status, tenantId, limit, after }) {
      const { items, next } = await listRecords<Item & ExecutionItem>(
        table,
        {
          index: agentId ? 'executions-of-agent' : 'owned-by-organization',
          shard: (shard) =>
            agentId ? agentShard(agentId, shard) : ownedShard(organizationId, 'EXEC', shard),
          filter: toFilter({ status, tenantId }),
          limit,
          after,
        },
        recordBytes,
      )
      // The index may lag behind: check the records too.
      const visible = items.filter((item) => !item.deleted && (!status || item.status === status))
      const executions = await Promise.all(visible.map((item) => loadExecution(table, item)))
      return { items: executions.filter((execution) => execution !== null), next }
    },

    async claim({ id, lease, now }) {
      const item = await apply(id, transitions.claim(lease, now))
      const current = item ?? (await readRecord(table, id))
      if (current?.status !== 'IN_PROGRESS') return 'closed'
      if (current.leaseOwner !== lease.owner) return 'held'
      const execution = await loadExecution(table, current)
      return execution ? { ...execution, lease } : 'closed'
    },

    async renew({ id, lease, progress, learnedFrom }) {
      return (await apply(id, transitions.renew(lease, progress, learnedFrom))) !== null
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
        (await apply(id, transition, { output, finishedBy: owner })) ?? (await readRecord(table, id))
      if (item?.finishedBy !== owner) return null
      // Recorded since the claim.
      const { learnedFrom = null, steps, usage, model = null } = item as ExecutionItem
      const finished = transitions.applyTransition(execution, transition)
      return { ...finished, learnedFrom, steps, usage, model }
    },

    async end({ organizationId, id, error, finishedAt, unleasedAt }) {
      const guard = { organizationId, ...(unleasedAt !== undefined && { unleasedAt }) }
      const item = await apply(id, transitions.end(guard, error, finishedAt))
      return item && loadExecution(table, item)
    },

    delete: (params) => deleteExecution(table, params),

    listCleanups: (params) => listCleanups(table, params),

    cleanUp: ({ cleanup, now }) => cleanUp(table, cleanup, now),

    async postpone({ stale, until }) {
      return (await apply(stale.id, transitions.postpone(stale.openUntil, until))) !== null
    },
  }
}

/** Approximate size of the record as JSON. */
function recordBytes({ input, output, feedback, inputAdaptations, error, logs }: ExecutionItem): number {
  const adaptations = typeof inputAdaptations === 'string' ? { json: inputAdaptations } : inputAdaptations
  const payloads = [input, output, feedback, adaptations].map(payloadBytes)
  return payloads.reduce((sum, bytes) => sum + bytes, Buffer.byteLength(`${error ?? ''}${logs ?? ''}`))
}

function toFilter({ status, tenantId }: ExecutionFilter): Condition | undefined {
  const terms = Object.entries({ status, tenantId }).filter(([, value]) => value !== null)
  if (terms.length === 0) return undefined
  return {
    expression: terms.map(([name]) => `#${name} = :${name}`).join(' AND '),
    names: terms.map(([name]) => name),
    values: Object.fromEntries(terms),
  }
}
