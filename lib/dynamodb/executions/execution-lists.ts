import { type ListPosition, withoutOthers } from '../../core/cursor.ts'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import { firstIdAt, timeOfId } from '../../core/ids.ts'
import { MAX_SEARCHED } from '../../core/limits.ts'
import type { ExecutionListParams, ExecutionSearch } from '../../core/ports/execution-reader.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { Page, PageRequest, SearchedPage } from '../../core/ports/system.ts'
import { hasKey } from '../../core/search-keys.ts'
import { isFinishedIn } from '../../core/time-range.ts'
import { needsApproval } from '../../core/wait.ts'
import { isEqual } from '../table/expressions.ts'
import {
  activePrefix,
  activeShard,
  agentShard,
  executionKey,
  ownedShard,
  STATUS_SHARDS,
  type StatusKey,
  statusShard,
  tenantShard,
} from '../table/keys.ts'
import { payloadBytes } from '../table/payload.ts'
import { fitPage, listRecords, type ShardedQuery } from '../table/sharded-list.ts'
import { textBytes } from '../table/stored-text.ts'
import type { Item, Table } from '../table/table.ts'
import {
  type ExecutionItem,
  loadExecution,
  parseError,
  SUMMARY_ATTRIBUTES,
  statusKey,
  toSummary,
} from './execution-item.ts'
import { queryByKey } from './search-items.ts'

/** Pages without a match that one request reads before it returns an empty one, from which the client can continue. */
const MAX_READS = 10
/** What BatchGetItem reads at once. */
const RECORDS_PER_READ = 100

type Record = Item & ExecutionItem

/** Lists of executions, newest first. Each reads the index with the fewest entries that do not match. */
export function executionLists(table: Table): Pick<ExecutionStore, 'list' | 'listSummaries'> {
  async function page<T extends { id: string }>(
    params: ExecutionListParams,
    query: ShardedQuery,
    load: (item: Record) => Promise<T | null> | T,
  ): Promise<Page<T>> {
    for (let reads = 1; ; reads++) {
      const { items, next } = await listRecords<Record>(table, query, recordBytes)
      const matching = items.filter((item) => matches(item, params))
      const listed = matching.slice(0, params.limit)
      const loaded = (await Promise.all(listed.map(load))).filter((item) => item !== null)
      const position =
        listed.length < matching.length ? positionOf(listed.at(-1)) : next && withoutOthers(next, loaded)
      if (loaded.length > 0 || !position) return { items: loaded, next: position }
      const passed = withoutOthers(position, items.filter(isVisible(params)))
      if (reads >= MAX_READS && isPast(passed, params)) return { items: [], next: passed }
      query.after = next
      if (reads >= MAX_READS) query.limit = RECORDS_PER_READ
    }
  }

  /** Looks at records until a page of them matches. Of the others, no payload is read. */
  async function search<T>(
    params: ExecutionListParams,
    given: ShardedQuery,
    read: (items: Record[]) => Promise<Record[]>,
    load: (item: Record) => Promise<T | null> | T,
  ): Promise<SearchedPage<T>> {
    const query = { ...given, limit: RECORDS_PER_READ, attributes: SUMMARY_AND_DELETED }
    const looked: Record[] = []
    const found: Record[] = []
    let position: ListPosition | null = null
    for (let reads = 1; ; reads++) {
      const { items, next } = await listRecords<Record>(table, query)
      looked.push(...items.filter(isVisible(params)))
      found.push(...items.filter((item) => matches(item, params)))
      position = next && withoutOthers(next, looked.slice(-1))
      if (found.length >= params.limit || !position) break
      if (reads >= MAX_SEARCHED / RECORDS_PER_READ && isPast(position, params)) break
      query.after = next
    }
    const listed = found.slice(0, params.limit)
    if (listed.length < found.length) position = positionOf(listed.at(-1))
    const records = await read(listed)
    const fitting = fitPage(records, recordBytes)
    if (fitting.length < records.length) position = positionOf(fitting.at(-1))
    const last = position ?? positionOf(looked.at(-1))
    return {
      items: (await Promise.all(fitting.map(load))).filter((item) => item !== null),
      next: position,
      searched: {
        executions: looked.filter(({ id }) => last === null || id >= last.order).length,
        until: last && new Date(timeOfId(last.order)).toISOString(),
      },
    }
  }

  return {
    async list(params) {
      const load = (item: Record) => loadExecution(table, item)
      const { query, isSearch } = await plan(table, params)
      return isSearch
        ? search<Execution>(params, query, (items) => readRecords(table, items), load)
        : page<Execution>(params, query, load)
    },
    async listSummaries(params) {
      const { query, isSearch } = await plan(table, params)
      return isSearch
        ? search<ExecutionSummary>(params, query, async (items) => items, toSummary)
        : page<ExecutionSummary>(params, { ...query, attributes: SUMMARY_AND_DELETED }, toSummary)
    },
  }
}

const SUMMARY_AND_DELETED = [...SUMMARY_ATTRIBUTES, 'deleted', 'statusShard']

const positionOf = (item: { id: string } | undefined): ListPosition | null =>
  item ? { order: item.id } : null

/** The next page does not begin where this one did: a batch has 10,000 executions of the same millisecond. */
const isPast = ({ order }: ListPosition, { after }: PageRequest): boolean => !after || order < after.order

/** Not of an agent that the token may not know of, and not deleted. */
const isVisible =
  ({ agentIds }: ExecutionListParams) =>
  ({ deleted, agentId }: ExecutionItem): boolean =>
    !deleted && (agentIds?.includes(agentId) ?? true)

/** No index shows which executions succeeded, and each lags behind the table: the records are checked. */
const matches = (item: ExecutionItem, params: ExecutionListParams): boolean =>
  isVisible(params)(item) &&
  (!params.status || item.status === params.status) &&
  isWaiting(item, params.waiting) &&
  (!params.scores || item.statusShard === statusKey(item, SCORE_KEYS[params.scores])) &&
  (!params.key || hasKey(item.keys ?? [], params.key)) &&
  !isOfTrial(item) &&
  (!params.search || isFound(item, params.search))

function isFound(item: ExecutionItem, search: ExecutionSearch): boolean {
  const { versionId, source, model, errorCode, errorText } = search
  if (versionId !== undefined && item.versionId !== versionId) return false
  if (source !== undefined && toSummary(item).source !== source) return false
  if (model !== undefined && item.model !== model) return false
  if (!isFinishedIn(item, search)) return false
  if (errorCode === undefined && errorText === undefined) return true
  const error = parseError(item.error, item.id)
  if (!error || (errorCode !== undefined && error.code !== errorCode)) return false
  return errorText === undefined || toKey(`${error.code}\n${error.message}`).includes(toKey(errorText))
}

const SCORE_KEYS = { low: 'LOW-SCORE', reviewed: 'REVIEWED' } as const

/** Clocks of processes differ: an execution may seem to end before it began. */
const CLOCK_SKEW_MS = 60_000

/** Executions that were created later have not ended before `finishedTo`. */
const lastCreation = ({ to = Number.POSITIVE_INFINITY, search }: ExecutionListParams): number =>
  Math.min(to, (search?.finishedTo ?? Number.POSITIVE_INFINITY) + CLOCK_SKEW_MS)

const toKey = (text: string) => text.normalize().toLowerCase()

/** Whole records in this order, without those that were deleted meanwhile. */
async function readRecords(table: Table, items: Record[]): Promise<Record[]> {
  const keys = items.map(({ id }) => executionKey(id))
  const records = (await table.getMany(keys, { consistent: true })) as Record[]
  return records.filter(({ deleted }) => !deleted)
}

/**
 * The keys under which `executions-by-status` has what matches, and `active-executions` what is neither suspended nor
 * final; null if they do not have all of it.
 */
function statusKeysOf({ status, waiting, scores }: ExecutionListParams): (StatusKey | 'ACTIVE')[] | null {
  if (scores) return [SCORE_KEYS[scores]]
  if (status === 'ERROR') return ['ERROR']
  if (waiting === 'approval') return ['WAITING-APPROVAL']
  if (waiting === 'any') return ['WAITING', 'WAITING-APPROVAL']
  if (status !== 'IN_PROGRESS') return null
  return waiting === 'none' ? ['ACTIVE'] : ['ACTIVE', 'WAITING', 'WAITING-APPROVAL']
}

/** Only its trial lists what it has repeated. Open lines count in the index of open executions, as all others do. */
const isOfTrial = ({ source, batch, scored }: ExecutionItem): boolean =>
  source === 'TRIAL' ? batch !== undefined : scored?.trial !== undefined

function isWaiting({ suspension }: ExecutionItem, waiting: ExecutionListParams['waiting']): boolean {
  if (waiting === undefined) return true
  if (waiting === 'none') return !suspension
  return suspension !== undefined && (waiting === 'any' || needsApproval(suspension.waits))
}

/** The query of a list, and whether it is a search: also for a prefix that more executions have than can be sorted. */
async function plan(table: Table, params: ExecutionListParams) {
  const { key, search } = params
  const query = toQuery(params)
  if (!key) return { query, isSearch: search !== undefined }
  const byKey = await queryByKey(table, { ...params, key })
  return { query: { ...query, ...byKey }, isSearch: search !== undefined || byKey === null }
}

/** The index to read, and the filter for what its partitions do not separate. */
function toQuery(params: ExecutionListParams): ShardedQuery {
  const { organizationId, agentId, limit, after, status, tenantId, from } = params
  const to = lastCreation(params)
  const page = {
    limit,
    after,
    range: {
      from: from === undefined ? undefined : firstIdAt(from),
      before: Number.isFinite(to) ? firstIdAt(to) : undefined,
    },
  }
  if (status === 'ERROR' && agentId !== null) {
    const shard = (number: number) => agentShard(agentId, number)
    return { ...page, index: 'failed-executions-of-agent', shard, filter: isEqual({ tenantId }) }
  }
  const keys = statusKeysOf(params)
  if (keys) {
    const shards = keys.length * STATUS_SHARDS
    const active = { index: 'active-executions', prefix: activePrefix(organizationId) } as const
    const shard = (number: number) => {
      const key = keys[number % keys.length] as StatusKey | 'ACTIVE'
      const each = Math.floor(number / keys.length)
      return key === 'ACTIVE'
        ? { ...active, partition: activeShard(organizationId, each) }
        : statusShard(organizationId, key, each)
    }
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

/** Approximate size of the record as JSON. */
function recordBytes({ input, output, feedback, inputAdaptations, error, logs }: ExecutionItem): number {
  const payloads = [input, output, feedback, inputAdaptations].map(payloadBytes)
  const texts = [error ?? '', logs ?? ''].map(textBytes)
  return [...payloads, ...texts].reduce((sum, bytes) => sum + bytes, 0)
}
