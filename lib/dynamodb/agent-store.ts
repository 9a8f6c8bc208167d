import type { Agent, Version, VersionStatus } from '../core/agent.ts'
import type { AgentListParams, AgentStore, VersionId } from '../core/ports/agents.ts'
import type { Page } from '../core/ports/system.ts'
import {
  abortedAttribute,
  agentFromItem,
  EXISTS,
  hasStatus,
  hasTimer,
  IS_ACTIVE,
  IS_NOT_DELETED,
  isAborted,
  isNotCurrent,
  isNotRetired,
  isNotRolledOut,
  isOwnedBy,
  isRollout,
  recordBytes,
  refersTo,
  retiredAttribute,
  shownOf,
  syncTimer,
  toAgentChange,
  versionFromItem,
  versionToItem,
} from './agent-item.ts'
import { MAX_START_MS, watchRollout } from './rollout-store.ts'
import { readChunks, writeChunks } from './table/chunks.ts'
import { allOf } from './table/expressions.ts'
import { agentKey, codeKey, ownedShard, VERSION_PREFIX, versionKey, versionNumbersKey } from './table/keys.ts'
import { fitPage, listRecords } from './table/sharded-list.ts'
import type { Item, Table } from './table/table.ts'

/** Pages without an active agent that one request reads before it returns an empty page with a cursor. */
const MAX_READS = 10

/** Agents with their versions and code. An agent is one partition. */
export function agentStore(table: Table): AgentStore {
  return {
    async publish({ version, code, replaces, isWritten = false, syncAt = null }) {
      const { id, agentId } = version
      const written = isWritten ? await readVersion(table, version) : null
      const item = written ? withoutKey(written) : await writeVersion(table, version, code)
      if (version.status === 'PUBLISHED' && replaces) await markReplaced(table, { agentId, id: replaces })
      const condition = allOf(IS_ACTIVE, replaces === undefined ? null : refersTo(version.status, replaces))
      const change = { ...toAgentChange(version, item, syncAt), condition }
      if (await table.update(agentKey(agentId), change)) return true
      // The SDK may have repeated a write whose response was lost.
      const agent = await table.get(agentKey(agentId), { consistent: true })
      return referenceOf(agent, version.status) === id
    },

    async takeNumber({ agentId }) {
      const item = await table.update(versionNumbersKey(agentId), { add: { last: 1 } })
      return Number(item?.last)
    },

    async promote({ organizationId, agentId, id, draftVersionId, current, promotion, syncAt, message }) {
      const item = await publishDraft(table, { organizationId, agentId, id }, message)
      if (!item) return null
      if (current) await markReplaced(table, current)
      const mustSync = item.schedules !== undefined || current?.schedules !== undefined
      const change = {
        ...(mustSync && { setOnce: syncTimer(agentId, syncAt) }),
        set: { ...shownOf(item), current: withoutKey(item), promotion, updatedAt: promotion.at },
        remove: [
          'rollout',
          ...(item.description === undefined ? ['description'] : []),
          ...(draftVersionId === id ? ['draftVersionId'] : []),
        ],
        condition: allOf(
          EXISTS,
          IS_ACTIVE,
          isNotRetired(id),
          refersTo('DRAFT', draftVersionId),
          refersTo('PUBLISHED', current?.id ?? null),
        ),
      }
      const updated = await table.update(agentKey(agentId), change)
      return updated && agentFromItem(updated)
    },

    async setRollout({ organizationId, agentId, draftVersionId, current, replaces, rollout, now }) {
      const sendBefore = Date.now() + MAX_START_MS
      const { versionId: id } = rollout
      if (!(await publishDraft(table, { organizationId, agentId, id }))) return null
      // Before it begins: a rollout that should be watched always is.
      if (rollout.abort) await watchRollout(table, { organizationId, agentId, now })
      const updated = await table.update(agentKey(agentId), {
        set: { rollout },
        remove: draftVersionId === id ? ['draftVersionId'] : [],
        sendBefore,
        condition: allOf(
          EXISTS,
          IS_ACTIVE,
          isNotRetired(id),
          refersTo('DRAFT', draftVersionId),
          refersTo('PUBLISHED', current.id),
          isRollout(replaces),
        ),
      })
      return updated && agentFromItem(updated)
    },

    async endRollout({ organizationId, agentId, rollout, aborted }) {
      const key = agentKey(agentId)
      const updated = await table.update(key, {
        ...(aborted && { set: { [abortedAttribute(aborted.versionId)]: { ...aborted, isPending: true } } }),
        remove: ['rollout'],
        condition: allOf(isOwnedBy(organizationId), isRollout(rollout)),
      })
      if (!updated) return null
      const agent = agentFromItem(updated)
      if (aborted) await forgetAborted(table, agent)
      return agent
    },

    async setAbortTold({ agentId, aborted }) {
      await table.update(agentKey(agentId), {
        set: { [abortedAttribute(aborted.versionId)]: aborted },
        condition: isAborted(aborted),
      })
    },

    async claimSync({ agentId, syncAt, until }) {
      const change = { set: { openUntil: until }, condition: hasTimer(syncAt) }
      const updated = await table.update(agentKey(agentId), change)
      return updated && agentFromItem(updated)
    },

    async finishSync({ agentId, syncAt, versionId }) {
      const updated = await table.update(agentKey(agentId), {
        remove: ['openShard', 'openUntil'],
        condition: allOf(hasTimer(syncAt), refersTo('PUBLISHED', versionId)),
      })
      return updated !== null
    },

    async deleteVersion({ organizationId, agentId, id, status }) {
      const key = versionKey(agentId, id)
      const isRefused = status === 'DRAFT' && (await refuseDraft(table, { organizationId, agentId, id }))
      const marked = await table.update(key, {
        set: { deleted: true, status },
        condition: allOf(isOwnedBy(organizationId), isRefused ? EXISTS : hasStatus(status)),
      })
      if (!marked) return (await readVersion(table, { organizationId, agentId, id })) ? 'other' : 'missing'
      await table.update(agentKey(agentId), {
        remove: ['draftVersionId'],
        condition: refersTo('DRAFT', id),
      })
      await table.update(agentKey(agentId), { remove: [retiredAttribute(id)], condition: EXISTS })
      // The version last: it says how many chunks there are, should this be interrupted.
      const chunks = Array.from({ length: Number(marked.codeChunks ?? 0) }, (_, chunk) => ({
        delete: codeKey(agentId, id, chunk),
      }))
      await table.writeMany(chunks)
      await table.writeMany([{ delete: key }])
      return 'deleted'
    },

    async setArchived({ organizationId, id, archivedAt }) {
      const updated = await table.update(agentKey(id), {
        ...(archivedAt === null ? { remove: ['archivedAt'] } : { setOnce: { archivedAt } }),
        condition: isOwnedBy(organizationId),
      })
      return updated && agentFromItem(updated)
    },

    async setRetired({ organizationId, agentId, id, retiredAt }) {
      const name = retiredAttribute(id)
      const updated = await table.update(agentKey(agentId), {
        ...(retiredAt === null ? { remove: [name] } : { setOnce: { [name]: retiredAt } }),
        condition: allOf(
          isOwnedBy(organizationId),
          ...(retiredAt === null ? [] : [isNotCurrent(id), isNotRolledOut(id)]),
        ),
      })
      return updated && agentFromItem(updated)
    },

    async get({ organizationId, id }) {
      const item = await table.get(agentKey(id), { consistent: true })
      return item?.organizationId === organizationId ? agentFromItem(item) : null
    },

    async list({ organizationId, agentIds = null, archived = false, ...page }) {
      if (agentIds) return listOf(table, { organizationId, agentIds, archived, ...page })
      const query = {
        index: 'owned-by-organization' as const,
        shard: (shard: number) => ownedShard(organizationId, 'AGENT', shard),
        ...page,
      }
      for (let reads = 1; ; reads++) {
        const { items, next } = await listRecords(table, query, recordBytes)
        const listed = archived ? items : items.filter(isActive)
        if (listed.length > 0 || !next || reads === MAX_READS)
          return { items: listed.map(agentFromItem), next }
        query.after = next
      }
    },

    async getVersion({ organizationId, agentId, id }) {
      const item = await readVersion(table, { organizationId, agentId, id })
      if (!item) return null
      const [version] = await withDrafts(table, [versionFromItem(item)])
      return version ?? null
    },

    async listVersions({ organizationId, agentId, limit, after }) {
      // BETWEEN includes the position, which is not on the page. One more item shows whether there is a next page.
      const { items, lastKey } = await table.query({
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':pk': agentKey(agentId).pk,
          ':first': VERSION_PREFIX,
          ':last': after ? `${VERSION_PREFIX}${after.order}` : `${VERSION_PREFIX}~`,
        },
        ScanIndexForward: false,
        ConsistentRead: true,
        Limit: limit + 2,
      })
      const versions = items
        .filter((item) => item.id !== after?.order && item.organizationId === organizationId && !item.deleted)
        .map(versionFromItem)
      const page = await withDrafts(table, versions.slice(0, limit))
      // DynamoDB returns 1 MB at most, which fits a response: the page needs no other limit in bytes.
      const hasMore = versions.length > limit || lastKey !== null
      const last = page.at(-1)
      return { items: page, next: hasMore && last ? { order: last.id } : null }
    },

    async getCode({ agentId, versionId }) {
      const version = await table.get(versionKey(agentId, versionId), { consistent: true })
      if (!version?.codeChunks) return null
      return readChunks(table, Number(version.codeChunks), (chunk) => codeKey(agentId, versionId, chunk))
    },
  }
}

/** Only the latest are kept. Best effort: the next end of a rollout repeats it. */
async function forgetAborted(table: Table, { id, abortedRollouts }: Agent): Promise<void> {
  const told = Object.values(abortedRollouts).filter(({ isPending }) => !isPending)
  const oldest = told.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(MAX_ABORTED_ROLLOUTS)
  for (const aborted of oldest)
    await table.update(agentKey(id), {
      remove: [abortedAttribute(aborted.versionId)],
      condition: isAborted(aborted),
    })
}

/** A page of the agents with these ids, in the order of the index. */
async function listOf(
  table: Table,
  { organizationId, agentIds, archived, limit, after }: AgentListParams & { agentIds: string[] },
): Promise<Page<Agent>> {
  const found = await table.getMany(agentIds.map(agentKey), { consistent: true })
  const following = found
    .filter((item) => item.organizationId === organizationId && (archived || isActive(item)))
    .filter((item) => !after || orderOf(item) < after.order)
    .sort((a, b) => (orderOf(a) < orderOf(b) ? 1 : -1))
  const page = fitPage(following.slice(0, limit), recordBytes)
  const last = page.length < following.length && page.at(-1)
  return { items: page.map(agentFromItem), next: last ? { order: orderOf(last) } : null }
}

const withoutKey = ({ pk: _, sk: __, ...item }: Item): Item => item

const isActive = ({ archivedAt }: Item): boolean => archivedAt === undefined

/** Null also for a version that is being deleted. */
async function readVersion(table: Table, { organizationId, agentId, id }: VersionId): Promise<Item | null> {
  const item = await table.get(versionKey(agentId, id), { consistent: true })
  return item && item.organizationId === organizationId && !item.deleted ? item : null
}

/** The code first: readers of the version also find its code. */
async function writeVersion(table: Table, version: Version, code: string | null): Promise<Item> {
  const { id, agentId } = version
  const codeChunks =
    code === null ? 0 : await writeChunks(table, code, (chunk) => codeKey(agentId, id, chunk))
  const item = { ...versionToItem(version), codeChunks }
  await table.put({ ...versionKey(agentId, id), ...item })
  return item
}

/**
 * Before another version replaces the current one: whatever happens then, this one was current, and the agent says who
 * has promoted it. One write later, both would be forgotten by a process that dies in between.
 */
async function markReplaced(table: Table, { agentId, id }: Pick<Version, 'agentId' | 'id'>): Promise<void> {
  const attributes = ['current', 'promotion']
  const agent = await table.get(agentKey(agentId), { consistent: true, attributes })
  const isCurrent = (agent?.current as Item | undefined)?.id === id
  await table.update(versionKey(agentId, id), {
    set: { promotion: isCurrent ? agent?.promotion : undefined },
    remove: ['neverReplaced'],
    condition: EXISTS,
  })
}

/**
 * The version, which is not a draft any more. After this write it cannot be deleted, so that the agent can refer to it.
 * A published version, to which an agent is rolled back, is only read.
 */
async function publishDraft(table: Table, version: VersionId, message?: string): Promise<Item | null> {
  const item = await readVersion(table, version)
  if (item?.status !== 'DRAFT') return item
  return table.update(versionKey(version.agentId, version.id), {
    set: { status: 'PUBLISHED', message, neverReplaced: true },
    condition: allOf(EXISTS, IS_NOT_DELETED),
  })
}

/**
 * Versions of one agent as others see them. One that is to be released is a draft until the agent's write succeeds, by
 * which the agent has no draft any more: it remains one if that write is refused, or if the process dies before.
 */
async function withDrafts(table: Table, versions: Version[]): Promise<Version[]> {
  const unsure = versions.find(({ status, neverReplaced }) => status === 'PUBLISHED' && neverReplaced)
  if (!unsure) return versions
  const agent = await table.get(agentKey(unsure.agentId), { consistent: true })
  return versions.map((version) => {
    if (version.id !== agent?.draftVersionId) return version
    const { neverReplaced: _, ...draft } = version
    return { ...draft, status: 'DRAFT' }
  })
}

/** Whether a draft was to be released, and no process can do so any more. Until it is deleted, it stays the draft. */
async function refuseDraft(table: Table, { organizationId, agentId, id }: VersionId): Promise<boolean> {
  const item = await readVersion(table, { organizationId, agentId, id })
  if (item?.status !== 'PUBLISHED') return false
  const refused = await table.update(agentKey(agentId), {
    set: { [retiredAttribute(id)]: new Date().toISOString() },
    condition: allOf(isOwnedBy(organizationId), refersTo('DRAFT', id)),
  })
  return refused !== null
}

const referenceOf = (agent: Item | null, status: VersionStatus): unknown =>
  status === 'DRAFT' ? agent?.draftVersionId : (agent?.current as Item | undefined)?.id

const orderOf = ({ listOrder }: Item): string => String(listOrder)

/** Versions of an agent whose item says why the service has ended their rollout. */
export const MAX_ABORTED_ROLLOUTS = 50
