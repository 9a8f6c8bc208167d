import type { ListPosition } from '../../core/cursor.ts'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import { firstIdAt, lastIdWith } from '../../core/ids.ts'
import type { ExecutionListParams, ExecutionStore, Page } from '../../core/ports.ts'
import { needsApproval } from '../../core/wait.ts'
import {
  agentShard,
  ownedShard,
  STATUS_SHARDS,
  type StatusKey,
  statusShard,
  tenantShard,
} from '../table/keys.ts'
import { payloadBytes } from '../table/payload.ts'
import { listRecords, type ShardedQuery } from '../table/sharded-list.ts'
import { textBytes } from '../table/stored-text.ts'
import type { Condition, Item, Table } from '../table/table.ts'
import { type ExecutionItem, loadExecution, SUMMARY_ATTRIBUTES, toSummary } from './execution-item.ts'

/** Pages without a match that one request reads before it returns an empty one, from which the client can continue. */
const MAX_READS = 10

type Record = Item & ExecutionItem

/** Lists of executions, newest first. Each reads the index with the fewest entries that do not match. */
export function executionLists(table: Table): Pick<ExecutionStore, 'list' | 'listSummaries'> {
  async function page<T extends { id: string }>(
    params: ExecutionListParams,
    options: Pick<ShardedQuery, 'attributes'>,
    load: (item: Record) => Promise<T | null> | T,
  ): Promise<Page<T>> {
    const query = { ...toQuery(params), ...options }
    for (let reads = 1; ; reads++) {
      const { items, next } = await listRecords<Record>(table, query, recordBytes)
      // No index shows which executions succeeded, and each lags behind the table: the records are checked.
      const matching = items.filter(
        (item) =>
          !item.deleted &&
          (!params.status || item.status === params.status) &&
          isWaiting(item, params.waiting) &&
          !isOfTrial(item) &&
          (params.agentIds?.includes(item.agentId) ?? true),
      )
      const loaded = (await Promise.all(matching.map(load))).filter((item) => item !== null)
      if (loaded.length > 0 || !next || reads === MAX_READS)
        return { items: loaded, next: next && withoutOthers(next, loaded) }
      query.after = next
    }
  }

  return {
    list: (params) => page<Execution>(params, {}, (item) => loadExecution(table, item)),
    listSummaries: (params) =>
      page<ExecutionSummary>(params, { attributes: [...SUMMARY_ATTRIBUTES, 'deleted'] }, toSummary),
  }
}

/**
 * The position after a page, for a reader that may not know of the executions that the list passed over: instead of the
 * ID of the last one, its time, or the last execution of the page. What is newer than the position was on this page or
 * an earlier one, and the following page passes over some again.
 */
export function withoutOthers(next: ListPosition, page: { id: string }[]): ListPosition {
  const position = lastIdWith(next.order)
  const last = page.at(-1)?.id
  return { order: last !== undefined && last < position ? last : position }
}

/** The keys under which `executions-by-status` has what matches; null if it does not have all of it. */
function statusKeysOf({ status, waiting }: ExecutionListParams): StatusKey[] | null {
  if (status === 'ERROR') return ['ERROR']
  if (waiting === 'approval') return ['WAITING-APPROVAL']
  if (waiting === 'any') return ['WAITING', 'WAITING-APPROVAL']
  if (status !== 'IN_PROGRESS') return null
  return waiting === 'none' ? ['IN_PROGRESS'] : ['IN_PROGRESS', 'WAITING', 'WAITING-APPROVAL']
}

/** Only its trial lists what it has repeated. Open lines count in the index of open executions, as all others do. */
const isOfTrial = ({ source, batch }: ExecutionItem): boolean => source === 'TRIAL' && batch !== undefined

function isWaiting({ suspension }: ExecutionItem, waiting: ExecutionListParams['waiting']): boolean {
  if (waiting === undefined) return true
  if (waiting === 'none') return !suspension
  return suspension !== undefined && (waiting === 'any' || needsApproval(suspension.waits))
}

/** The index to read, and the filter for what its partitions do not separate. */
function toQuery(params: ExecutionListParams): ShardedQuery {
  const { organizationId, agentId, limit, after, status, tenantId, from, to } = params
  const page = {
    limit,
    after,
    range: {
      from: from === undefined ? undefined : firstIdAt(from),
      before: to === undefined ? undefined : firstIdAt(to),
    },
  }
  if (status === 'ERROR' && agentId !== null) {
    const shard = (number: number) => agentShard(agentId, number)
    return { ...page, index: 'failed-executions-of-agent', shard, filter: isEqual({ tenantId }) }
  }
  const keys = statusKeysOf(params)
  if (keys) {
    const shards = keys.length * STATUS_SHARDS
    const shard = (number: number) =>
      statusShard(organizationId, keys[number % keys.length] as StatusKey, Math.floor(number / keys.length))
    return { ...page, index: 'executions-by-status', shard, shards, filter: isEqual({ agentId, tenantId }) }
  }
  if (tenantId !== null) {
    const shard = (number: number) => tenantShard(organizationId, tenantId, number)
    return { ...page, index: 'executions-of-tenant', shard, filter: isEqual({ agentId }) }
  }
  if (agentId !== null)
    return { ...page, index: 'executions-of-agent', shard: (number) => agentShard(agentId, number) }
  return {
    ...page,
    index: 'owned-by-organization',
    shard: (number) => ownedShard(organizationId, 'EXEC', number),
  }
}

/** A filter for the values that are not null; undefined if all are. */
function isEqual(filter: { agentId?: string | null; tenantId?: string | null }): Condition | undefined {
  const terms = Object.entries(filter).filter(([, value]) => value !== null)
  if (terms.length === 0) return undefined
  return {
    expression: terms.map(([name]) => `#${name} = :${name}`).join(' AND '),
    names: terms.map(([name]) => name),
    values: Object.fromEntries(terms),
  }
}

/** Approximate size of the record as JSON. */
function recordBytes({ input, output, feedback, inputAdaptations, error, logs }: ExecutionItem): number {
  const payloads = [input, output, feedback, inputAdaptations].map(payloadBytes)
  const texts = [error ?? '', logs ?? ''].map(textBytes)
  return [...payloads, ...texts].reduce((sum, bytes) => sum + bytes, 0)
}
