import type { SuspendedExecution } from '../../core/execution.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { OwnedId } from '../../core/ports/system.ts'
import { clearEvents, suspend, wake } from '../../core/suspension.ts'
import * as transitions from '../../core/transitions.ts'
import { MAX_ENDING_MS } from '../../core/usage.ts'
import type { Change, Condition } from '../table/expressions.ts'
import { childKey, deletedKey, executionIdOf, executionKey, outboxKeys } from '../table/keys.ts'
import { payloadBytes, storePayload } from '../table/payload.ts'
import { TABLE } from '../table/schema.ts'
import { toStoredText } from '../table/stored-text.ts'
import { type Item, NOT_EXISTS, type Table } from '../table/table.ts'
import { usageProgress } from '../usage-store.ts'
import { type Accounting, cleanUp, deleteExecution, listCleanups, refuse } from './cleanup.ts'
import {
  type ExecutionItem,
  listedKeys,
  loadExecution,
  NEVER_EXPIRES,
  openKeys,
  readRecord,
  SUMMARY_ATTRIBUTES,
  statusKey,
  storeError,
  storeJudgement,
  toItem,
  toSummary,
  usageKeys,
  withoutNulls,
} from './execution-item.ts'
import { executionLists } from './execution-lists.ts'
import { learningStore } from './learning-store.ts'
import { listOpenChildren, openExecutions } from './open-executions.ts'
import { executionReaders } from './read-executions.ts'
import { scoreStore } from './score-store.ts'
import { putSearchItems } from './search-items.ts'

/** Executions. Each is an item collection: the record, the chunks of large payloads, the steps. */
export function executionStore(table: Table): ExecutionStore {
  /** The updated item, or null if the guard failed, as it does when the SDK repeats a write that was executed. */
  const apply = (
    id: string,
    transition: transitions.Transition,
    attributes: Item = {},
    { sendBefore }: Pick<Change, 'sendBefore'> = {},
  ) => {
    const { set, remove = [], ...change } = toChange(transition)
    return table.update(executionKey(id), {
      ...change,
      sendBefore,
      set: { ...set, ...attributes },
      remove: remove.filter((name) => !(name in attributes)),
      condition: toCondition(transition.guard),
    })
  }

  /** These attributes of an execution; null if the organization has no execution with this id. */
  async function read({ organizationId, id }: OwnedId, names: string[]) {
    const attributes = [...new Set([...names, 'organizationId', 'deleted'])]
    const item = await table.get(executionKey(id), { consistent: true, attributes })
    return item?.organizationId === organizationId && !item.deleted ? (item as ExecutionItem) : null
  }

  const store: ExecutionStore = {
    ...learningStore(table),
    ...openExecutions(table),
    ...scoreStore(table),

    async create({ execution, isMarked, countedAt, sendBefore = endOfWrite() }) {
      const { id, parentExecutionId, finishedAt } = execution
      // Written first, so that a deletion of the parent finds whatever is created.
      if (parentExecutionId !== null) await table.put(childKey(parentExecutionId, id))
      const item = await toItem(table, execution)
      const indexed = finishedAt && {
        ...usageKeys({ ...execution, endedAt: countedAt ?? Date.parse(finishedAt) }),
        ...(isMarked && outboxKeys(id, Date.parse(finishedAt))),
      }
      const isCreated = finishedAt
        ? await table.put({ ...item, ...indexed }, NOT_EXISTS, sendBefore)
        : await table.put(item, NOT_EXISTS)
      // Written last, so that they never exist without a record. A process that dies before leaves them to the one that
      // repeats its request, or to the sweeper.
      const { keys } = execution
      if (keys.length > 0 && (isCreated || (await readRecord(table, id))))
        await putSearchItems(table, execution, keys)
      return isCreated
    },

    async get({ organizationId, id }) {
      const item = await readRecord(table, id)
      return item?.organizationId === organizationId ? loadExecution(table, item) : null
    },

    async getLimited({ organizationId, id, maxBytes }) {
      const item = await readRecord(table, id)
      if (item?.organizationId !== organizationId) return null
      const { input, output, inputAdaptations, feedback } = item as ExecutionItem
      const payloads = [input, output, inputAdaptations, feedback]
      const bytes = payloads.reduce((sum, payload) => sum + payloadBytes(payload), 0)
      return bytes > maxBytes ? toSummary(item as ExecutionItem) : loadExecution(table, item)
    },

    async getSummary(id) {
      const item = await read(id, SUMMARY_ATTRIBUTES)
      return item && toSummary(item)
    },

    async getDeleted({ organizationId, id }) {
      const item = await table.get(deletedKey(id), { consistent: true })
      return item?.organizationId === organizationId ? toSummary(item as ExecutionItem) : null
    },

    async isVisible({ agentIds, tenantId, ...id }) {
      const item = await read(id, ['agentId', 'tenantId'])
      if (!item || !(agentIds?.includes(item.agentId) ?? true)) return false
      return tenantId === null || item.tenantId === tenantId
    },

    async getStatus(id) {
      return (await read(id, ['status']))?.status ?? null
    },

    async getState(id) {
      const item = await read(id, ['status', 'suspension'])
      return item && { status: item.status, suspendedAt: item.suspension?.at ?? null }
    },

    async getForCallback({ id }) {
      const item = await table.get(executionKey(id), { consistent: true, attributes: FOUND_ATTRIBUTES })
      return item && !item.deleted ? toSummary(item as ExecutionItem) : null
    },

    ...executionLists(table),
    ...executionReaders(table),

    async claim({ id, lease, now }) {
      const item = await apply(id, transitions.claim(lease, now))
      const current = item ?? (await readRecord(table, id))
      if (current?.status !== 'IN_PROGRESS') return 'closed'
      if (current.suspension) return 'suspended'
      if (current.leaseOwner !== lease.owner) return 'held'
      const execution = await loadExecution(table, current)
      return execution ? { ...execution, lease } : 'closed'
    },

    async renew({ id, ...renewal }) {
      const item = await apply(id, transitions.renew(renewal))
      return item && { watchedUntil: (item as ExecutionItem).watchedUntil ?? null }
    },

    async watch({ organizationId, id, until }) {
      await apply(id, transitions.watch(organizationId, until))
    },

    async isLeasedBy({ id, owner }) {
      const item = await table.get(executionKey(id), { consistent: true, attributes: ['leaseOwner'] })
      return item?.leaseOwner === owner
    },

    async release({ id, owner, ...params }) {
      return (await apply(id, transitions.release(owner, params))) !== null
    },

    async suspend({ execution, owner, ...params }) {
      const keys = openKeys({ ...execution, suspension: params.suspension })
      if (await apply(execution.id, suspend(owner, params), keys)) return true
      // The response to the first write may have been lost.
      const item = await read(execution, ['suspension'])
      return item?.suspension?.at === params.suspension.at
    },

    async getSuspended({ id }) {
      const item = await table.get(executionKey(id), { consistent: true, attributes: SUMMARY_ATTRIBUTES })
      if (!item?.suspension || item.status !== 'IN_PROGRESS') return null
      return toSummary(item as ExecutionItem) as SuspendedExecution
    },

    async wake({ execution, ...params }) {
      const keys = openKeys({ ...execution, suspension: null })
      const item =
        (await apply(execution.id, wake(execution, params), keys)) ?? (await readRecord(table, execution.id))
      if (item?.leaseOwner !== params.lease.owner) return null
      const woken = await loadExecution(table, item)
      return woken && { ...woken, lease: params.lease }
    },

    async finish({ execution, isMarked, sendBefore = endOfWrite(), ...params }) {
      const { outcome, finishedAt, staysListed } = params
      const { id, source, scored } = execution
      const { owner } = execution.lease
      const writtenAt = Date.parse(finishedAt)
      const target = { executionId: id, holder: executionKey(id), writer: `output-${owner}`, writtenAt }
      await putSearchItems(table, execution, (outcome.keys ?? []).slice(execution.keys.length))
      const attributes =
        outcome.status === 'SUCCESS'
          ? { output: await storePayload(table, target, outcome.output) }
          : { statusShard: statusKey(execution, 'ERROR') }
      const transition = transitions.finish(owner, params)
      const { error = null, output } = transition.set
      const written = {
        ...attributes,
        ...usageKeys({ id, endedAt: writtenAt, error, output, source, scored }),
        ...(staysListed && listedKeys(id)),
        ...(isMarked && !staysListed && outboxKeys(id, writtenAt)),
        finishedBy: owner,
      }
      const updated = await apply(id, transition, written, { sendBefore })
      const item = updated ?? (await readRecord(table, id))
      if (item?.finishedBy !== owner) return null
      // Recorded since the claim.
      const { learnedFrom, steps, usage, model, lostSteps, lostUsage, childUsage, openUntil } = toSummary(
        item as ExecutionItem,
      )
      const finished = transitions.applyTransition(execution, transition)
      return { ...finished, learnedFrom, steps, usage, model, lostSteps, lostUsage, childUsage, openUntil }
    },

    async end({
      organizationId,
      id,
      execution,
      unleasedAt,
      listed,
      isMarked,
      sendBefore = endOfWrite(),
      ...ending
    }) {
      const guard = { organizationId, ...(unleasedAt !== undefined && { unleasedAt }), ...listed }
      const { staysListed, finishedAt, error } = ending
      const open = staysListed && listedKeys(id)
      const marks = isMarked && !staysListed && outboxKeys(id, Date.parse(finishedAt))
      const keys = {
        ...open,
        ...marks,
        ...usageKeys({ ...execution, id, endedAt: Date.parse(finishedAt), error }),
        statusShard: statusKey({ organizationId, id }, 'ERROR'),
      }
      const item = await apply(id, transitions.end(guard, ending), keys, { sendBefore })
      return item && loadExecution(table, item)
    },

    async settle({ execution, until, markedAt }) {
      const { id, openUntil } = execution
      if (openUntil === null) return
      const keys = markedAt && until === null ? outboxKeys(id, Date.parse(markedAt)) : {}
      await apply(id, transitions.settle(openUntil, until), keys)
    },

    async clearEvents({ execution, openUntil }) {
      await apply(execution.id, clearEvents(execution, openUntil))
    },

    listOpenChildren: (params) => listOpenChildren(table, params),

    delete: (params) => deleteExecution(table, params, accounting),

    refuse: (params) => refuse(table, params),

    async findExisting({ ids, orRefused }) {
      const items = await table.getMany(ids.map(executionKey), { consistent: true, attributes: ['deleted'] })
      const existing = items.filter(({ deleted }) => orRefused || !deleted)
      return new Set(existing.map(({ pk }) => executionIdOf(String(pk))))
    },

    listCleanups: (params) => listCleanups(table, params),

    cleanUp: ({ cleanup, now }) => cleanUp(table, cleanup, now, accounting),

    async resume({ execution, ...times }) {
      const { id, createdAt } = execution
      // Earlier than any time at which it was due: a reader of the index that has passed it does not meet it again.
      const dueAt = Date.parse(createdAt)
      return (await apply(id, transitions.resume(execution, { dueAt, ...times }))) !== null
    },

    async postpone({ stale, restores, ...times }) {
      const item = await apply(stale.id, transitions.postpone(stale.openUntil, times))
      if (!item) return null
      const summary = toSummary(item as ExecutionItem)
      if (restores && summary.steps === 0) await putSearchItems(table, summary, summary.keys)
      const { attempts, attemptsSinceProgress, sharesWorker, batch } = summary
      return { attempts, attemptsSinceProgress, sharesWorker, ...(batch && { isLine: true }) }
    },
  }
  const accounting: Accounting = { end: store.end, isCounted: usageProgress(table) }
  return store
}

const endOfWrite = () => Date.now() + MAX_ENDING_MS

const FOUND_ATTRIBUTES = [...SUMMARY_ATTRIBUTES, 'deleted']

/** The update of a transition, without its guard and its output (which may be stored in chunks). */
function toChange({ set, add, claimedAt }: transitions.Transition): Change {
  const { lease, error, lastError, judgement, logs, output: _, ...plain } = set
  const values = {
    ...plain,
    ...('error' in set && { error: error && storeError(error) }),
    ...('lastError' in set && { lastError: lastError && storeError(lastError) }),
    ...('judgement' in set && { judgement: judgement && storeJudgement(judgement) }),
    ...('logs' in set && { logs: logs && toStoredText(logs) }),
    ...('lease' in set && {
      leaseOwner: lease?.owner ?? null,
      leaseExpiresAt: set.suspension ? NEVER_EXPIRES : (lease?.expiresAt ?? null),
    }),
  }
  const isWoken = set.suspension === null && !set.status
  const cleared = Object.entries(values).flatMap(([name, value]) => (value === null ? [name] : []))
  return {
    set: withoutNulls(values),
    remove: [
      ...cleared,
      ...(set.openUntil === null ? ['openShard'] : []),
      ...(set.status === 'SUCCESS' ? ['statusShard'] : []),
      ...(set.status || set.suspension ? ['activeShard', 'activeOrder'] : []),
      ...(isWoken ? ['openShard', 'statusShard'] : []),
      // Earlier releases gave a record its expiry when it was created.
      ...(set.suspension ? [TABLE.timeToLive] : []),
    ],
    ...(set.status === 'ERROR' && { copy: { failedShard: 'agentShard' } }),
    ...(claimedAt && { setOnce: { startedAt: claimedAt } }),
    ...(add && { add }),
  }
}

/** The condition of a write that a transition's guard requires. */
function toCondition(guard: transitions.Guard): Condition {
  const { isFinal, organizationId, owner, unleasedAt, openUntil, deadlineAt, suspendedAt } = guard
  const required = {
    [isFinal ? 'finalUnless' : 'status']: 'IN_PROGRESS',
    organizationId,
    leaseOwner: owner,
    leaseExpiresAt: unleasedAt,
    openUntil,
    deadlineAt,
    suspendedAt,
  }
  const terms = Object.entries(required).filter(([, value]) => value !== undefined)
  const expressions = terms.map(([name]) => EXPRESSIONS[name] ?? `#${name} = :is_${name}`)
  return {
    expression: expressions.join(' AND '),
    names: terms.flatMap(([name]) => NAMES[name] ?? [name]),
    values: Object.fromEntries(terms.map(([name, value]) => [`is_${name}`, value])),
  }
}

const NAMES: Record<string, string[]> = { finalUnless: ['status'], suspendedAt: ['suspension', 'at'] }

/** Those of conditions that are not an equality. */
const EXPRESSIONS: Record<string, string> = {
  // A tombstone has no status.
  finalUnless: '(attribute_exists(#status) AND #status <> :is_finalUnless)',
  leaseExpiresAt: '(attribute_not_exists(#leaseExpiresAt) OR #leaseExpiresAt < :is_leaseExpiresAt)',
  suspendedAt: '#suspension.#at = :is_suspendedAt',
}
